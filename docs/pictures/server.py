"""The pictures of the README and of the server's page: the demonstration in a browser. Needs chromium."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]

folder = Path(tempfile.mkdtemp())
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    port = found.getsockname()[1]
start = [sys.executable, "-c", "import discreet.cli; discreet.cli.main()", "demo", "--port", str(port)]
server = subprocess.Popen(start, cwd=folder, stderr=subprocess.DEVNULL)
base = f"http://127.0.0.1:{port}"
for _ in range(600):
    try:
        urllib.request.urlopen(f"{base}/health").close()
        break
    except OSError:
        time.sleep(0.5)
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(f"{base}/census/")
    for name in ("age", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    page.get_by_text("This table can be made.").wait_for(timeout=120_000)
    page.screenshot(path=HERE / "server-choose.png")
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(f"{base}/earnings/table?variables=county,sex&measure=pay&statistic=mean&view=map", timeout=120_000)
    page.locator(".chart-frame[data-drawn=map]").wait_for(timeout=120_000)
    page.wait_for_timeout(1000)
    page.screenshot(path=HERE / "server.png")
    browser.close()
server.terminate()
server.wait()
