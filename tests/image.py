"""The steps of the Containerfile in a clean root: `python -m tests.image ROOT BUNDLE CUBE`, as root, on Linux.

ROOT is a fresh Debian with Python in place of the base image (debootstrap --variant=minbase
--include=python3,python3-venv bookworm ROOT), BUNDLE what `make bundle` wrote, CUBE a folder made by `discreet cube`.
Steps run without a network. Then the server runs as the user of the image with the root file system read-only, is asked
by its own health check, gives a table and ends calmly.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

POLICY = """
secret = { file = "/run/discreet/secret.key" }
[query]
max_dimensions = 3
[[method]]
name = "cell-key"
d = 3
v = 1.5
"""
TABLE = "http://127.0.0.1:8000/api/table.csv?variables=sex"


def steps(path: Path) -> list[tuple[str, str]]:
    """Instructions and what follows them; lines that go on are one."""
    text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.M).replace("\\\n", " ")
    return [
        (word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())
    ]


def within(root: Path, *words: str, user: str = "0:0", **environment: str) -> list[str]:
    """A command in the root."""
    given = [f"{name}={value}" for name, value in environment.items()]
    return ["chroot", f"--userspec={user}", "--groups=", str(root), "env", "-i", *given, *words]


def build(root: Path, bundle: Path, instructions: list[tuple[str, str]]) -> dict[str, str]:
    """RUN and COPY of both stages, one after the other; gives the environment."""
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
    for word, rest in instructions:
        if word == "RUN":
            subprocess.run(["unshare", "--net", *within(root, "sh", "-ec", rest, **environment)], check=True)
        elif word == "COPY" and not rest.startswith("--from"):
            source, target = rest.split()
            shutil.copytree(bundle / source.removeprefix("bundle/"), root / target.lstrip("/"))
        elif word == "ENV":
            for name, value in re.findall(r"(\w+)=(\S+)", rest):
                environment[name] = value.replace("$PATH", environment["PATH"])
    return environment


def serve(root: Path, cube: Path, instructions: list[tuple[str, str]], environment: dict[str, str]) -> None:
    """CMD as USER, read-only; HEALTHCHECK; a table; SIGTERM. This process is in a network and mounts of its own."""
    told = dict(instructions)
    uid = int(told["USER"].split(":")[0])
    folders = {"/run/discreet": None, "/srv/cube": None, "/srv/store": None, "/tmp": None, "/etc/discreet": None}
    for folder in folders:
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    place = str(root)
    run = (
        ["ip", "link", "set", "lo", "up"],
        ["mount", "--bind", place, place],
        ["mount", "-o", "remount,bind,ro", place],
    )
    for words in (*run, *(["mount", "-t", "tmpfs", "tmpfs", str(root / folder.lstrip("/"))] for folder in folders)):
        subprocess.run(words, check=True)
    (root / "tmp").chmod(0o1777)
    shutil.copytree(cube, root / "srv/cube", dirs_exist_ok=True)
    (root / "run/discreet/secret.key").write_text("a secret that only this check knows\n")
    (root / "etc/discreet/policy.toml").write_text(POLICY)
    for path in (*(root / "srv").rglob("*"), root / "run/discreet/secret.key"):
        shutil.chown(path, uid, uid)
        path.chmod(0o700 if path.is_dir() else 0o400)
    began = time.monotonic()
    words = [*json.loads(told["ENTRYPOINT"]), *json.loads(told["CMD"])]
    server = subprocess.Popen(within(root, *words, user=told["USER"], **environment))
    health = json.loads(told["HEALTHCHECK"].partition("CMD ")[2])
    while subprocess.run(within(root, *health, user=told["USER"], **environment), capture_output=True).returncode:
        assert server.poll() is None, "the server ended"
        assert time.monotonic() - began < 120, "the server is not healthy after 120 s"
        time.sleep(0.5)
    sys.stdout.write(f"healthy after {time.monotonic() - began:.1f} s\n")
    code = f"import urllib.request; print(urllib.request.urlopen({TABLE!r}).read().decode().splitlines()[0])"
    said = subprocess.run(
        within(root, "python3", "-c", code, **environment), capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "sex,count,status", said.stdout
    write = subprocess.run(within(root, "touch", "/opt/x", **environment), capture_output=True, text=True)
    assert "Read-only" in write.stderr
    server.terminate()
    assert server.wait(30) == 0
    sys.stdout.write("served a table, read-only and without a privilege, and ended calmly\n")


def main() -> None:
    root, bundle, cube = (Path(given).resolve() for given in sys.argv[1:4])
    instructions = steps(Path(__file__).parents[1] / "Containerfile")
    if "--serve" in sys.argv:
        serve(root, cube, instructions, json.loads(sys.argv[5]))
        return
    environment = build(root, bundle, instructions)
    again = [sys.executable, "-m", "tests.image", str(root), str(bundle), str(cube), "--serve", json.dumps(environment)]
    subprocess.run(["unshare", "--net", "--mount", *again], check=True, cwd=Path(__file__).parents[1])


if __name__ == "__main__":
    main()
