"""Files as offices keep them are read by a plain rule, alone and beside each other; certificates that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import discreet as dc
from discreet.audits.verify import NotProvedError, verify
from discreet.audits.verify.certificate_form import MalformedError, load_certificate
from discreet.audits.verify.plain_csv import ends_of
from discreet.cli import run

ROWS = [
    ("Nord", "m", "1.234"),
    ("Nord", "w", "*"),
    ("Nord", "Total", "2.000"),
    ("Süd", "m", ".."),
    ("Süd", "w", "x"),
    ("Süd", "Total", "900"),
    ("Total", "m", "1.500"),
    ("Total", "w", "1.400"),
    ("Total", "Total", "2.900"),
]
OPEN = [("Nord", "m", "c"), *ROWS[1:]]


def written(rows: list[tuple[str, str, str]], separator: str, head: str = "Region;Geschlecht;Anzahl") -> str:
    lines = [head.replace(";", separator), *(separator.join(row) for row in rows)]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_files_made_by_hand(tmp_path: Path, separator: str, encoding: str) -> None:
    """Stars for hidden cells, no status, thousands with a point, Latin letters: audited and checked against itself."""
    path, paper = tmp_path / "von Hand.csv", tmp_path / "c.json"
    for rows, code in ((OPEN, 0), (ROWS, 1)):
        path.write_bytes(written(rows, separator).encode(encoding))
        assert run(["audit", str(path), "--thousands", ".", "--certificate", str(paper)]) == code
        assert run(["verify", str(paper), str(path)]) == code
        content = load_certificate(paper.read_bytes())
        assert verify(content, [path.read_bytes()]) == ("fail" if code else "pass")


def test_ranges_notes_labels_and_names(tmp_path: Path) -> None:
    """<5 in place of a number, notes above, labels beside, other capitals: the same table for the checker."""
    text = "# title: people\n# note: by hand\nregion,region label,age group,count\n"
    for region, label in (("a", "Alba"), ("b", "Bern"), ("Total", "all")):
        both = (("young", ".."), ("old", "..")) if region == "Total" else (("young", "<5"), ("old", "1-4"))
        for age, number in (*both, ("Total", "12" if region == "Total" else "6")):
            text += f"{region},{label},{age},{number}\n"
    path, paper = tmp_path / "r.csv", tmp_path / "c.json"
    path.write_text(text)
    assert run(["audit", str(path), "--certificate", str(paper)]) == 0
    assert run(["verify", str(paper), str(path)]) == 0
    content = json.loads(paper.read_text())
    renamed = text.replace("age group", "AGE_GROUP").replace("region label,", "").replace("count", "COUNT")
    renamed = "".join(line.replace(f",{label}", "") for line in renamed.splitlines(True) for label in [_label(line)])
    assert verify(content, [renamed]) == "pass"
    with pytest.raises(NotProvedError, match="two labels"):
        verify(content, [text.replace("b,Bern,old", "b,Basel,old")])
    with pytest.raises(NotProvedError, match="differs"):
        verify(content, [text.replace("<5", "<6")])


def _label(line: str) -> str:
    return next((label for label in ("Alba", "Bern", "all") if f",{label}," in line), "\0")


def test_numbers_as_people_write_them() -> None:
    """In units of the last decimal; what is not a number is none."""
    assert ends_of("1.234,5", 2, ",", ".") == (123450, 123450)
    assert ends_of("1 234", 0, ".", ",") == (1234, 1234)
    assert ends_of("-7", 1, ".", ",") == (-70, -70)
    assert ends_of("<5", 0, ".", ",") == (None, 4)
    assert ends_of("\u2265 3", 0, ".", ",") == (3, None)
    assert ends_of("1 - 4", 0, ".", ",") == (1, 4)
    assert ends_of(" (c) ", 0, ".", ",") == (None, None)
    for text in ("1,23", "7.5", "1e5", "12x", "3\u00b2", "0x1", "\u0663", "9" * 50):
        with pytest.raises(ValueError, match="not a number"):
            ends_of(text, 0, ".", ",")


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    """A margin that has fewer columns than the other file, before it or behind it."""
    rows = {("1", "m"): "5", ("1", "w"): "", ("2", "m"): "", ("2", "w"): "4"}
    two = "area,sex,count,status\n" + "".join(f"{a},{s},{n},{'' if n else 'c'}\n" for (a, s), n in rows.items())
    two += "1,Total,,c\n2,Total,,c\nTotal,m,11,\nTotal,w,7,\nTotal,Total,18,\n"
    (tmp_path / "as.csv").write_text(two)
    (tmp_path / "a.csv").write_text("area,count,status\n1,,c\n2,,c\nTotal,18,\n")
    for names in (("as.csv", "a.csv"), ("a.csv", "as.csv")):
        files, paper = [str(tmp_path / name) for name in names], str(tmp_path / "c.json")
        code = run(["audit", *files, "--certificate", paper])
        assert code in (0, 1)
        assert run(["verify", paper, *files]) == run(["verify", paper, *files[::-1]]) == code


def test_what_is_no_certificate(tmp_path: Path) -> None:
    """Deep nests, huge and odd numbers, fields that stand twice, other formats: exit 2 with a message."""
    good, paper = tmp_path / "good.csv", tmp_path / "c.json"
    protected = dc.datasets.willenborg_suppressed()
    protected.release().to_csv(good)
    text = dc.audit(protected).certificate().to_json().decode()
    for bad in (
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        text.replace('"decimals":0', '"decimals":NaN'),
        text.replace('"decimals":0', '"decimals":1e400'),
        text.replace('"decimals":0', '"decimals":0.0'),
        text.replace('"decimals":0', '"decimals":true'),
        text.replace('"decimals":0', '"decimals":' + "9" * 5_000),
        text.replace('"decimals":0', '"decimals":0,"decimals":0'),
        text.replace("certificate 2", "certificate 1"),
        "null",
        "[]",
        "3",
        "",
        text[:-20],
    ):
        paper.write_text(bad)
        assert run(["verify", str(paper), str(good)]) == 2
        with pytest.raises(MalformedError):
            verify(load_certificate(bad.encode()), [good.read_bytes()])
    paper.write_bytes(gzip.compress(text.encode())[:-9])
    assert run(["verify", str(paper), str(good)]) == 2
    paper.write_bytes(b"\xff\xfe\x00")
    assert run(["verify", str(paper), str(good)]) == 2
    paper.write_text(text)
    assert run(["verify", str(paper), str(tmp_path)]) == 2
    assert run(["verify", str(paper), str(paper)]) == 2
    assert run(["verify", str(paper), str(good)]) == 0
