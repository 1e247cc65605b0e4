"""Images of a workbook: dropped unless somebody says to keep them, then as they are drawn and with nothing else."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.drawing.image import Image
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo

from discreet.cli import run
from discreet.sheets.rewrite.plain_images import plain_image

SECRET = "three patients"


def picture(kind: str) -> bytes:
    """A small picture with a text beside what is drawn."""
    image, held = Pillow.new("RGB", (8, 6), (200, 30, 40)), io.BytesIO()
    if kind == "png":
        about = PngInfo()
        about.add_text("Comment", SECRET)
        image.save(held, "png", pnginfo=about)
    else:
        image.save(held, "jpeg", comment=SECRET.encode())
    return held.getvalue()


def workbook(path: Path, *, chart: bool = False) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["Area", "F", "M", "Total"],
        ["N", 123, 3, 126],
        ["S", 233, 40, 273],
        ["E", 25, 60, 85],
        ["W", 2, 44, 46],
    ):
        sheet.append(row)
    sheet.append(["Total", 383, 147, 530])
    for place, kind in (("F2", "png"), ("F9", "jpeg")):
        sheet.add_image(Image(io.BytesIO(picture(kind))), place)
    if chart:
        bars = BarChart()
        bars.add_data(Reference(sheet, min_col=2, min_row=1, max_row=5), titles_from_data=True)
        sheet.add_chart(bars, "H2")
    book.save(path)


def said(capture: Any) -> str:
    err: bytes = capture.readouterr().err
    return err.decode()


def test_images_are_dropped_unless_it_is_said(tmp_path: Path, capfdbinary: Any) -> None:
    workbook(tmp_path / "a.xlsx")
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6"]) == 0
    text = said(capfdbinary)
    assert "left out: charts, pictures and drawings" in text
    assert "verdict on the file" not in text
    assert not [name for name in zipfile.ZipFile(tmp_path / "a.safe.xlsx").namelist() if "media" in name]


@pytest.mark.parametrize("chart", [False, True])
def test_images_that_are_kept_stand_where_they_stood(tmp_path: Path, capfdbinary: Any, chart: bool) -> None:
    """The same pixels in the same cells, nothing stored beside them, no chart; and the file is not called passed."""
    workbook(tmp_path / "a.xlsx", chart=chart)
    assert run(["protect", str(tmp_path / "a.xlsx"), "--hide-under", "6", "--keep-images"]) == 1
    text = said(capfdbinary)
    assert "verdict on the file: unknown, as 2 images in it stay and were not judged" in text
    assert "Not judged: 2 images in the file." in text
    assert "the audit does not judge what they show" in text
    assert ("left out: charts, pictures and drawings" in text) == chart
    back = openpyxl.load_workbook(tmp_path / "a.safe.xlsx").active
    assert {(i.anchor._from.row, i.anchor._from.col) for i in back._images} == {(1, 5), (8, 5)}
    before = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    pixels = [[Pillow.open(i.ref).tobytes() for i in sheet._images] for sheet in (before, back)]
    assert sorted(pixels[0]) == sorted(pixels[1])
    package = zipfile.ZipFile(tmp_path / "a.safe.xlsx")
    assert not any(SECRET.encode() in package.read(name) for name in package.namelist())
    assert not [name for name in package.namelist() if "chart" in name]


@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_nothing_but_the_picture_is_left(kind: str) -> None:
    data = picture(kind)
    assert SECRET.encode() in data
    drawn = plain_image(data)
    assert drawn is not None
    assert drawn[0] == kind
    assert SECRET.encode() not in drawn[1]
    assert Pillow.open(io.BytesIO(drawn[1])).tobytes() == Pillow.open(io.BytesIO(data)).tobytes()
    assert plain_image(data + b"three patients") == drawn
    assert plain_image(data[:30]) is None


def test_other_files_keep_none(tmp_path: Path, capfdbinary: Any) -> None:
    (tmp_path / "a.csv").write_text("area,f,m,total\nN,123,3,126\nS,233,40,273\nTotal,356,43,399\n")
    assert run(["protect", str(tmp_path / "a.csv"), "--hide-under", "6", "--keep-images"]) == 2
    assert "--keep-images: images are kept in workbooks of Excel" in said(capfdbinary)
    assert not (tmp_path / "a.safe.csv").exists()
