"""The picture of the README: the page of the table server. Needs chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

import discreet as dc
from discreet.server import cube

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
POLICY = """
secret = { env = "DISCREET_SECRET" }
[table]
min_population = 100
[[method]]
name = "cell-key"
d = 5
v = 3
"""

folder = Path(tempfile.mkdtemp())
cube.build(dc.datasets.census(), folder / "cube")
(folder / "policy.toml").write_text(POLICY)
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    port = found.getsockname()[1]
start = [sys.executable, "-c", "import discreet.cli; discreet.cli.main()", "serve", "cube", "--policy", "policy.toml"]
environment = {**os.environ, "DISCREET_SECRET": "the secret of a picture"}
server = subprocess.Popen([*start, "--port", str(port)], cwd=folder, env=environment, stderr=subprocess.DEVNULL)
base = f"http://127.0.0.1:{port}"
for _ in range(200):
    try:
        urllib.request.urlopen(f"{base}/health").close()
        break
    except OSError:
        time.sleep(0.2)
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(base)
    for name in ("age", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    page.get_by_text("This table can be made.").wait_for()
    page.screenshot(path=HERE / "server-choose.png")
    page.goto(f"{base}/table?variables=age,activity&where=region=R1&rows=age&columns=activity&view=heat")
    page.locator("body[data-viewer=ready]").wait_for()
    page.screenshot(path=HERE / "server.png")
    browser.close()
server.terminate()
server.wait()
