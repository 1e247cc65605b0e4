"""What is written is read back, whatever the format; foreign CSVs; what is no table is refused."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from tests.strategies import tables

WORDS = (".xlsx", ".json", ".px", ".parquet", ".html", ".notes.csv")
SUFFIXES = (".csv", *WORDS, ".sdmx.csv")
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6)


def rows(release: dc.Release) -> dict[tuple[str, ...], Any]:
    """Every cell by its codes: values and status."""
    codes = [tuple(d.codes[c] for d, c in zip(release.dimensions, row, strict=True)) for row in release.codes]
    values = np.array([release.values[m] for m in release.values]).T
    return {c: (*map(repr, v.tolist()), str(s)) for c, v, s in zip(codes, values, release.status, strict=True)}


def read_back(release: dc.Release, suffix: str, codebook: dc.Codebook | None) -> dc.Release:
    """A release written and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = dc.write(release, Path(folder) / f"table{suffix}")
        measures = len(release.values) if suffix in (".csv", ".notes.csv") else None
        return dc.Release.read(path, codebook=codebook, measures=measures)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=12)
@given(data=st.data())
def test_what_is_written_is_read_back(suffix: str, data: st.DataObject) -> None:
    """With the codebook all of it: dimensions with labels and hierarchies, values, decimals, marks, words."""
    table = data.draw(tables())
    some = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=4, unique=True))
    words = data.draw(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS))
    release = dc.protect(table, dc.Hide(some)).release(title=words[0], source=words[1], notes=words[2:])
    dims = tuple(replace(d, labels={c: f"label of {c}" for c in d.codes[:2]}) for d in release.dimensions)
    release = replace(release, dimensions=dims)
    again = read_back(release, suffix, dc.Codebook(dimensions=dims))
    assert again.dimensions == release.dimensions
    assert rows(again) == rows(release)
    assert again.decimals == release.decimals
    if suffix in WORDS and suffix != ".px":
        assert (again.title, again.source, again.notes) == (release.title, release.source, release.notes)
    if suffix != ".csv":
        assert again.method == release.method


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_without_a_codebook(suffix: str) -> None:
    """Totals, labels and, in JSON-stat, the hierarchy; gaps stay gaps, decimals stay decimals."""
    area = dc.Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"}, labels={"N": "North"})
    sex = dc.Dimension.flat("sex", ["f", "m"], labels={"f": "women"})
    table = dc.Table.of(
        {"area": ["N1", "N2", "S1"], "sex": ["f", "f", "m"], "n": [1, 2, 30], "pay": [0.25, -2, 3.5]},
        [area, sex],
        count="n",
        value="pay",
        margins=[["area"], ["sex"]],
    )
    release = dc.protect(table, dc.Hide([{"area": "S1"}], measures=("count", "pay"))).release()
    if suffix == ".json":
        again = read_back(release, suffix, None)
        assert again.dimensions == release.dimensions
        assert rows(again) == rows(release)
        return
    plain = dc.protect(dc.Table.of([[1, 2], [3, 40]], ["year", sex]), dc.Hide([4])).release(title="T")
    again = read_back(plain, suffix, None)
    assert [d.total for d in again.dimensions] == ["Total", "Total"]
    assert rows(again) == rows(plain)
    if suffix not in (".csv", ".notes.csv", ".sdmx.csv"):
        assert again.dimensions[1].labels == {"f": "women"}


FOREIGN = """area;sex;persons
All;All;1.234,5
All;m;1.000,5
All;w;234,0
N;All;1.000,5
N;m;800,5
N;w;200,0
S;All;234,0
S;m;<250
S;w;..
"""


def test_foreign_csv(tmp_path: Path) -> None:
    """Semicolons, decimal commas, other totals, no status, a mark, a range."""
    path = tmp_path / "foreign.csv"
    path.write_text(FOREIGN)
    with pytest.warns(dc.DiscreetWarning, match="'All' is taken as the total"):
        release = dc.Release.read(path)
    assert release.decimals == {"persons": 1}
    assert release.values["persons"][0] == 1234.5
    assert release.status.tolist()[-2:] == ["c", "c"]
    least, most = release.ranges["persons"]
    assert (least[-2], most[-2], most[-1]) == (0.1, 249.9, np.inf)
    report = dc.audit(release)
    assert report.verdict == "fail"
    assert report.lower.tolist() == [200.0, 34.0]


@pytest.mark.filterwarnings("ignore::discreet.DiscreetWarning")
def test_a_range_is_what_everybody_knows(tmp_path: Path) -> None:
    """Less than five is not between zero and nine."""
    path = tmp_path / "ranges.csv"
    cells = [
        "Total,Total,30",
        "Total,a,15",
        "Total,b,15",
        "1,Total,9",
        "1,a,<5",
        "1,b,>4",
        "2,Total,21",
        "2,a,c",
        "2,b,c",
    ]
    path.write_text("\n".join(["area,job,count", *cells]))
    report = dc.audit(dc.Release.read(path))
    assert report.cells.sort_index()["upper"].tolist()[:2] == [4, 8]
    assert report.cells.sort_index()["lower"].tolist()[:2] == [1, 5]
    assert dc.audit([path]).cells["upper"].max() == report.cells["upper"].max()


def test_frames(tmp_path: Path) -> None:
    """A frame of cells is read as a file of them is."""
    release = dc.protect(dc.Table.of([[1, 2], [3, 40]], ["year", "sex"]), dc.Hide([4])).release()
    assert rows(dc.Release.of_frame(release.cells)) == rows(release)
    assert dc.audit([release.cells]).verdict == dc.audit(release).verdict
    with pytest.raises(dc.InputError, match="not a published table"):
        dc.Release.of_frame(pd.DataFrame({"a": [1.5], "b": [2.5]}))


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".docx"])
@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"{}", b"a,b\nx,y\n", b"<html></html>", "äö;".encode("cp1252")])
def test_what_is_no_table_is_refused(suffix: str, content: bytes, tmp_path: Path) -> None:
    """One line, and no word of the content."""
    path = tmp_path / f"none{suffix}"
    path.write_bytes(content)
    with pytest.raises(dc.InputError) as error:
        dc.Release.read(path)
    assert "\n" not in str(error.value)


@pytest.mark.filterwarnings("ignore::discreet.DiscreetWarning")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_read_or_refused(suffix: str, tmp_path: Path) -> None:
    """Bytes changed, taken out and put in: a table, or one line that says what is wrong."""
    table = dc.Table.of(np.arange(12).reshape(2, 3, 2), ["area", "job", "sex"])
    path = dc.write(dc.protect(table, dc.Hide([4, 5])).release(title="T"), tmp_path / f"whole{suffix}")
    whole = path.read_bytes()
    generator = np.random.default_rng(2)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(int(generator.integers(1, 4))):
            at, kind = int(generator.integers(len(data))), int(generator.integers(3))
            if kind == 0:
                data[at] = int(generator.integers(256))
            elif kind == 1:
                del data[at : at + int(generator.integers(1, 30))]
            else:
                data[at:at] = bytes(generator.choice(list(b'",;=<>{}[]09a'), 3).tolist())
            data = data or bytearray(b"x")
        path.write_bytes(data)
        assert damage(path) in ("read", "refused")


def damage(path: Path) -> str:
    """Whether a file is read, or refused in one line."""
    try:
        release = dc.Release.read(path)
    except dc.InputError as error:
        return "refused" if "\n" not in str(error) else "refused in many words"
    return "read" if len(release.codes) == len(release.status) else "read in part"
