"""The .jj format."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.cli import run
from discreet.errors import InputError
from discreet.formats.jj import parse_jj, read_jj

# two rows and two columns with totals; the upper left cell is primary, its row and column neighbours secondary
TEXT = """0
9
0 20 20 s 0 40 0 0 0
1 11 11 s 0 22 0 0 0
2 9 9 s 0 18 0 0 0
3 10 10 s 0 20 0 0 0
4 5 5 u 0 20 2 2 0
5 5 5 x 0 20 0 0 0
6 10 10 s 0 20 0 0 0
7 6 6 x 0 20 0 0 0
8 4 4 x 0 20 0 0 0
6
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 3 (-1) 4 (1) 5 (1)
0 3 : 6 (-1) 7 (1) 8 (1)
0 3 : 0 (-1) 3 (1) 6 (1)
0 3 : 1 (-1) 4 (1) 7 (1)
0 3 : 2 (-1) 5 (1) 8 (1)
"""


def test_an_instance_is_audited() -> None:
    """With its secondaries the primary is protected, without them it is exactly known."""
    instance = parse_jj(TEXT)
    whole, bare = instance.audit(), instance.audit(instance.primary)
    assert whole.ok
    assert whole.lower[0] == 1
    assert whole.upper[0] == 10
    assert bare.verdict.tolist() == ["exact"]


def test_protection_levels_make_narrow() -> None:
    """An interval that does not reach the protection level is exposed though not exact."""
    instance = parse_jj(TEXT.replace("4 5 5 u 0 20 2 2 0", "4 5 5 u 4 6 2 2 0"))
    assert instance.audit().verdict[0] == "narrow"


def test_decimals_of_the_file() -> None:
    """Values with decimals are counted at their precision."""
    text = "0 3 0 1.5 1 s 0 9 0 0 0 1 1.0 1 u 0 9 0 0 0 2 0.5 1 x 0 9 0 0 0 1 0 3 : 0 (-1) 1 (1) 2 (1)"
    assert parse_jj(text).audit().m.tolist() == [16.0, 16.0]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """discreet audit instance.jj."""
    path = tmp_path / "small.jj"
    path.write_text(TEXT)
    assert len(read_jj(path)) == 9
    assert run(["audit", str(path)]) == 0
    assert "0 exact, 0 narrow, 4 open" in capsys.readouterr().err
    assert run(["audit", str(path), "--primary-only"]) == 0
    assert "1 exact" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "0 2 0 1 1 s 0 1 0 0 0", TEXT.replace("\n4 5 5 u", "\n7 5 5 u"), TEXT.replace(" u ", " q "),
        TEXT.replace("11 11 s", "eleven 11 s"), TEXT.replace("\n6\n", "\n7\n"), TEXT.replace("0 3 : 2", "0 4 : 2"),
        TEXT.replace("8 (1)", "9 (1)"),
    ],
)  # fmt: skip
def test_bad_files_are_named(text: str) -> None:
    with pytest.raises(InputError, match="instance"):
        parse_jj(text)
