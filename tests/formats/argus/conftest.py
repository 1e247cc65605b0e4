"""The files in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.argus.texts import AREA_CDL, AREA_HRC, FIXED, FREE, RECORDS, TAB, TAB_RDA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "firms.rda": FIXED,
        "firms.asc": RECORDS,
        "area.hrc": AREA_HRC,
        "area.cdl": AREA_CDL,
        "free.RDA": FREE,
        "free.csv": '"f",1.5\n"m",2\n',
        "t.rda": TAB_RDA,
        "t.tab": TAB,
    }.items():
        (tmp_path / name).write_bytes(text.encode("cp1252"))
    return tmp_path
