"""LibreOffice without a screen: files turned into pages, and the words and pixels of a page."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

RESOLUTION = 72  # pixels an inch: one for each point of the page


class Word(NamedTuple):
    """A word on a page and the box it stands in, in points."""

    text: str
    page: int
    left: float
    top: float
    right: float
    bottom: float


def converted(files: Iterable[Path], kind: str, folder: Path) -> list[Path]:
    """The files in another format, by one run of LibreOffice with settings of its own."""
    program = shutil.which("soffice")
    assert program, "these tests need LibreOffice: apt-get install libreoffice-calc-nogui"
    files = list(files)
    command = [program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to", kind]
    subprocess.run([*command, "--outdir", str(folder), *map(str, files)], check=True, capture_output=True, timeout=300)
    made = [folder / f"{file.stem}.{kind}" for file in files]
    assert [path for path in made if not path.exists()] == []
    return made


def words(pdf: Path) -> list[Word]:
    """Every word of a document."""
    assert shutil.which("pdftotext"), "these tests need poppler: apt-get install poppler-utils"
    text = subprocess.run(["pdftotext", "-bbox", str(pdf), "-"], check=True, capture_output=True, text=True).stdout
    found = []
    page = 0
    for line in text.splitlines():
        page += "<page " in line
        if match := re.search(r'<word xMin="(\S+)" yMin="(\S+)" xMax="(\S+)" yMax="(\S+)">(.*)</word>', line):
            found.append(Word(unescape(match[5]), page, *(round(float(match[k]), 1) for k in range(1, 5))))
    return found


def pixels(pdf: Path, folder: Path) -> list[np.ndarray]:
    """The pages of a document as pictures, dark and light."""
    start = folder / f"{pdf.stem}.page"
    subprocess.run(["pdftoppm", "-r", str(RESOLUTION), "-png", str(pdf), str(start)], check=True, capture_output=True)
    pictures = sorted(folder.glob(f"{start.name}-*.png"))
    return [np.asarray(Image.open(picture).convert("RGB")).astype(int) for picture in pictures]


def differences_outside(one: list[np.ndarray], other: list[np.ndarray], boxes: Iterable[Word]) -> int:
    """How many pixels of two documents differ, words in boxes apart."""
    assert [page.shape for page in one] == [page.shape for page in other]
    different = [np.abs(a - b).max(axis=2) > 40 for a, b in zip(one, other, strict=True)]
    for box in boxes:
        page = different[box.page - 1]
        page[max(int(box.top) - 2, 0) : int(box.bottom) + 3, max(int(box.left) - 2, 0) : int(box.right) + 3] = False
    return int(sum(page.sum() for page in different))
