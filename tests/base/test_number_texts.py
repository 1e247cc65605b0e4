"""Numbers as people write them: read where they are clear, asked about where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet import cli
from discreet.base.number_texts import parse_number
from discreet.data.codebook import Magnitude

whole = st.lists(st.integers(0, 10**9), min_size=1, max_size=6)


def grouped(number: int, sign: str) -> str:
    return f"{number:,}".replace(",", sign)


def read_or_asked(texts: list[str]) -> list[float] | None:
    """The numbers, or None where it is asked what they mean."""
    try:
        return list(parse_number(texts, "x")[0].tolist())
    except dc.InputError as error:
        return None if "--decimal, --thousands" in str(error) else []


@given(whole, st.sampled_from([".", ",", " ", "'", "\u202f"]))
def test_thousands_are_read_or_asked_about(numbers: list[int], sign: str) -> None:
    """With the sign said the numbers come back; unsaid they do too, or it is asked: never another number."""
    texts = [grouped(n, sign) for n in numbers]
    assert parse_number(texts, "x", thousands=sign)[0].tolist() == numbers
    assert read_or_asked(texts) in (numbers, None if sign in ".," else numbers)


@given(whole, st.integers(0, 4), st.sampled_from([".", ","]), st.booleans())
def test_decimals_are_read_or_asked_about(numbers: list[int], decimals: int, sign: str, parted: bool) -> None:
    """The same for decimals, with thousands parted by the other sign or not."""
    other = "," if sign == "." else "."
    texts, expected = [], []
    for n in numbers:
        before, behind = divmod(n, 10**decimals)
        texts.append(
            (grouped(before, other) if parted else str(before)) + (f"{sign}{behind:0{decimals}}" if decimals else "")
        )
        expected.append(float(f"{before}.{behind:0{decimals}}" if decimals else before))
    found, stated = parse_number(texts, "x", decimal=sign)
    assert (found.tolist(), stated) == (expected, decimals)
    assert read_or_asked(texts) in (expected, None)


def test_large_whole_numbers_stay_exact() -> None:
    """Beyond what a float holds, and an error beyond 64 bits."""
    assert parse_number([str(2**62 + 1)], "x")[0].tolist() == [2**62 + 1]
    with pytest.raises(dc.InputError, match="too large"):
        parse_number([str(2**63)], "x")


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "1,2,3", "12.34.567", "nan", "inf", "1..2", "--1"])
def test_what_is_not_a_number(text: str) -> None:
    """It is counted, not shown."""
    with pytest.raises(dc.InputError) as error:
        parse_number([text, "7", "0.5"], "x")
    assert not text or text not in str(error.value).replace("x:", "")


def test_a_german_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """1.234 persons: asked about, then read as said; a file of our own needs no saying."""
    monkeypatch.chdir(tmp_path)
    Path("de.csv").write_text("ort;count\nA;1.234\nB;2.000\n")
    assert cli.run(["tabulate", "de.csv", "--ready", "-o", "out.csv"]) == 2
    assert "--thousands" in capfd.readouterr().err
    assert cli.run(["tabulate", "de.csv", "--ready", "--thousands", ".", "-o", "out.csv"]) == 0
    assert "Total,3234," in Path("out.csv").read_text()
    assert cli.run(["tabulate", "de.csv", "--ready", "--decimal", ".", "-o", "out.csv"]) == 2  # no count
    Path("pay.csv").write_text("ort;pay\nA;1.234,5\nB;2.000,25\n")
    assert cli.run(["tabulate", "pay.csv", "--ready", "--value", "pay", "-o", "own.csv"]) == 0
    assert "Total,3234.75," in Path("own.csv").read_text()
    Path("three.csv").write_text("ort,pay\nA,1.234\nB,2.000\n")
    assert cli.run(["tabulate", "three.csv", "--ready", "--value", "pay", "--decimal", ".", "-o", "own.csv"]) == 0
    assert cli.run(["tabulate", "own.csv", "--ready", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == Path("own.csv").read_bytes()
    assert cli.run(["tabulate", "de.csv", "--by", "ort", "--decimal", "."]) == 2


def test_records_with_a_doubtful_point(tmp_path: Path) -> None:
    """A magnitude of a text file: asked about, clear with other decimals beside it, or by what is stated."""
    path = tmp_path / "firms.csv"

    def total(*numbers: str, decimals: int | None = None) -> float:
        path.write_text("k,v\n" + "".join(f"a,{n}\n" for n in numbers))
        data = dc.Microdata.of(path, dimensions=["k"], magnitudes=[Magnitude("v", decimals=decimals)])
        return float(dc.tabulate(data, by=["k"], value="v").value[0])

    with pytest.raises(dc.InputError, match="may part thousands or decimals"):
        total("1.234", "12.500", "7")
    assert total("1.234", "12.500", "7", decimals=3) == 20.734
    assert total("1.234", "12.5", "7") == 20.734
    assert total("0.234", "12.500") == 12.734
    assert total("1234", "7") == 1241
