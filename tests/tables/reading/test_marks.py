"""What stands in place of a number: understood, or refused with its line and the option that settles it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.cli import run
from discreet.tables.reading.number_cells import NumberSigns, number_cells
from discreet.tables.reading.number_marks import NumberMarks, number_range

ROWS = "Total,Total,20;Total,1,9;Total,2,11;1,Total,8;1,1,{0};1,2,{0};2,Total,12;2,1,{0};2,2,{0}"


def write(folder: Path, mark: str, separator: str = ",") -> Path:
    """A square whose four inner cells hold a mark."""
    path = folder / "marks.csv"
    lines = ["area,sex,count", *ROWS.format(mark).split(";")]
    path.write_text("\n".join(line.replace(",", separator, 2) for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("mark", ["", "c", "C", "[c]", "x", "..", ":", "*", "confidential", "n/a"])
def test_marks_that_everybody_uses_hide_a_number(mark: str, tmp_path: Path) -> None:
    release = dc.Release.read(write(tmp_path, mark))
    assert release.status.tolist() == ["", "", "", "", "c", "c", "", "c", "c"]
    assert sorted(dc.audit(release).lower.tolist()) == [1, 1, 2, 4]


@pytest.mark.parametrize("mark", ["-", "\u2013", "[low]", "[z]", "q", "?"])
def test_other_marks_are_asked_about(mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the line, the column, the mark and the options; each option settles it."""
    path = str(write(tmp_path, mark))
    assert run(["audit", path]) == 2
    text = capsys.readouterr().err
    assert f"'marks.csv': column 'count', line 6: what the mark {mark!r} stands for is not known" in text
    assert all(f"--{option} {mark!r}" in text for option in ("suppressed", "zero", "unavailable"))
    assert run(["audit", path, "--suppressed", mark]) == 0
    assert run(["audit", path, "--suppressed", f"{mark}=1-6"]) == 1  # 2 x 6 = 12
    assert run(["audit", path, "--zero", mark]) == 2  # 0 + 0 is not 8
    assert "contradict" in capsys.readouterr().err
    assert run(["audit", path, "--unavailable", mark]) == 1  # nothing is hidden, so that nothing is judged
    assert run(["audit", path, "--zero", mark, "--suppressed", mark]) == 2


def test_a_word_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What may be somebody's name stands in no message."""
    assert run(["audit", str(write(tmp_path, "Miller"))]) == 2
    text = capsys.readouterr().err
    assert "line 6" in text
    assert "Miller" not in text


def test_flags_behind_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A number with a flag is a number once that is said."""
    path = tmp_path / "flags.csv"
    path.write_text("area,count\nTotal,9p\n1,5 [p]\n2,4*\n")
    assert run(["audit", str(path), "--flag", "p"]) == 2
    assert "line 4: what the flag '*' behind a number means is not known" in capsys.readouterr().err
    release = dc.Release.read(path, marks={"p": "flag", "*": "flag"})
    assert release.values["count"].tolist() == [9, 5, 4]
    assert release.status.tolist() == ["", "", ""]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        *[("<5", 1, 4), ("\u22643", 1, 3), ("1-4", 1, 4), ("1\u20134", 1, 4), ("[0 to 4]", 0, 4), ("<1", 0, 0)],
        *[(">100", 101, np.inf), ("100+", 100, np.inf), ("at least 7", 7, np.inf), ("5 or fewer", 1, 5)],
        *[("under 1,000", 1, 999), ("fewer than 5", 1, 4)],
    ],
)
def test_ranges(text: str, least: float, most: float) -> None:
    """A range begins at one where zeros are shown, at zero where they are not, nowhere where some are negative."""
    assert number_range(text) is not None
    cells = number_cells(["7", text], "count", plain=True, signs=NumberSigns(thousands=","))
    assert cells.ranges is not None
    assert [side[1] for side in cells.ranges] == [least, most]
    zeros = NumberSigns(thousands=",", marks=NumberMarks(zeros_hidden=True))
    open_below = number_cells(["7", text], "count", plain=True, signs=zeros).ranges
    assert open_below is not None
    assert open_below[0][1] == (0 if least == 1 and text[0] != "1" else least)


def test_what_a_range_is_read_as_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(tmp_path, "<9"))
    assert run(["audit", path]) == 0
    assert "'<9' is read as 1 to 8: a zero would have been shown" in capsys.readouterr().err
    assert run(["audit", path, "--zeros-hidden"]) == 0
    assert "is read as" not in capsys.readouterr().err
    assert sorted(dc.audit(dc.Release.read(path)).lower.tolist()) == [1, 3, 4, 4]


@pytest.mark.parametrize("mark", ["<5", "*", "c", "1-4"])
def test_a_column_without_any_number(mark: str, tmp_path: Path) -> None:
    """Marks and ranges alone are a table, if the column is called as numbers are or they cannot be codes."""
    path = tmp_path / "marks.csv"
    path.write_text(f"area,count\nTotal,{mark}\n1,{mark}\n2,{mark}\n")
    assert np.isnan(dc.Release.read(path).values["count"]).all()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_thousands_in_every_separator(separator: str, tmp_path: Path) -> None:
    path = tmp_path / "thousands.csv"
    lines = [["area", "count"], ["Total", '"2,234"'], ['"1, north"', '"1,234"'], ["2", '"1,000"']]
    path.write_text("\n".join(separator.join(line) for line in lines))
    with pytest.raises(dc.InputError, match="thousands"):
        dc.Release.read(path)
    release = dc.Release.read(path, thousands=",")
    assert release.values["count"].tolist() == [2234, 1234, 1000]
    assert release.dimensions[0].codes[1] == "1, north"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_encodings(encoding: str, separator: str, tmp_path: Path) -> None:
    path = tmp_path / "encoded.csv"
    path.write_bytes(f"Stra\u00dfe{separator}count\nK\u00f6ln{separator}1\n".encode(encoding))
    release = dc.Release.read(path)
    assert (release.dimensions[0].name, release.dimensions[0].codes) == ("Stra\u00dfe", ("K\u00f6ln",))


def test_utf_16_without_a_mark_is_refused_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "encoded.csv"
    path.write_bytes("area,count\nN,1\n".encode("utf-16-le"))
    with pytest.raises(dc.InputError, match="save it as UTF-8"):
        dc.Release.read(path)


def test_the_line_counts_blank_lines_and_broken_ones(tmp_path: Path) -> None:
    """The line that an editor shows, also behind blank lines and a code of two lines."""
    path = tmp_path / "lines.csv"
    path.write_text('sep=;\narea;count\n\n"a\nb";1\n\nc;?\n')
    with pytest.raises(dc.InputError, match=r"line 7: what the mark '\?'"):
        dc.Release.read(path)


def test_a_second_column_of_numbers_with_marks_is_asked_about(tmp_path: Path) -> None:
    """It is not taken for a dimension because some of it is hidden."""
    path = tmp_path / "two.csv"
    path.write_text("area,count,share\nTotal,9,100\n1,*,*\n2,*,*\n3,6,67\n")
    with pytest.raises(dc.InputError, match="--measures 2"):
        dc.Release.read(path)
    assert list(dc.Release.read(path, measures=2).values) == ["count", "share"]


def test_records_are_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that repeat codes, or that have a number of their own: told to be counted, and no line is shown."""
    generator = np.random.default_rng(1)
    sexes = generator.choice(["f", "m"], 60)
    areas = generator.choice(list("abcdefgh"), 60)
    ages = generator.integers(20, 60, 60)
    plain, keyed = tmp_path / "plain.csv", tmp_path / "keyed.csv"
    plain.write_text("\n".join(["sex,area,age", *(f"{s},{a},{n}" for s, a, n in zip(sexes, areas, ages, strict=True))]))
    rows = [f"p{k},{s},{a},{n}" for k, (s, a, n) in enumerate(zip(sexes, areas, ages, strict=True))]
    keyed.write_text("\n".join(["person,sex,area,age", *rows]))
    for path in (plain, keyed):
        assert run(["audit", str(path)]) == 2
        assert f"count them first: discreet tabulate {path.name}" in capsys.readouterr().err
    assert run(["audit", str(keyed), "--measures", "1"]) in (0, 1)
    assert run(["show", str(plain)]) == 2


@pytest.mark.parametrize(("mark", "expected"), [("p", "p"), ("c", "c"), ("C", "c")])
@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".sdmx.csv"])
def test_a_status_beside_a_number(suffix: str, mark: str, expected: str, tmp_path: Path) -> None:
    """Of every format: confidential, or unknown until it is stated; the standard codes of SDMX are known."""
    table = dc.Table.of([[4, 5], [6, 7]], ["area", "sex"])
    path = dc.write(dc.protect(table, dc.Publish()).release(), tmp_path / f"status{suffix}")
    put_status(path, mark)
    measures = 1 if suffix == ".csv" else None
    release = dc.Release.read(path, measures=measures)
    known = "" if suffix == ".sdmx.csv" and mark == "p" else expected
    assert set(release.status.tolist()) == {"", known}
    verdict = {"": "unknown", "p": "unknown", "c": "fail"}[known]
    assert dc.audit(release).verdict == verdict
    assert any("--flag 'p'" in text for text in dc.audit(release).unjudged) == (known == "p")
    assert set(dc.Release.read(path, measures=measures, marks={"p": "flag"}).status.tolist()) <= {"", "c"}


def put_status(path: Path, mark: str) -> None:
    """Write a mark beside the first number of a file."""
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix == ".json":
        content = json.loads(path.read_text())
        path.write_text(json.dumps({**content, "status": {"0": mark}}))
    elif path.suffix == ".parquet":
        frame = pq.read_table(path)
        column = pa.array([mark, *frame.column("status").to_pylist()[1:]])
        place = frame.column_names.index("status")
        pq.write_table(frame.set_column(place, frame.schema.field("status"), column), path)
    elif path.name.endswith(".sdmx.csv"):
        head, first, *rest = path.read_text().splitlines()
        names = head.split(",")
        fields = first.split(",")
        fields[names.index("CONF_STATUS" if mark.upper() == "C" else "OBS_STATUS")] = mark.upper()
        path.write_text("\n".join([head, ",".join(fields), *rest]))
    else:
        head, first, *rest = path.read_text().splitlines()
        path.write_text("\n".join([head, first.rstrip(",") + f",{mark}", *rest]))


@pytest.mark.parametrize(
    "marks", [{"-": "nothing"}, {"-": "5-"}, {"7": "suppressed"}, {"A": "zero", "a": "suppressed"}]
)
def test_what_a_mark_cannot_stand_for(marks: dict[str, str]) -> None:
    with pytest.raises(dc.InputError, match=r"mark|number"):
        NumberMarks(marks)
