"""Numbers with a word behind them that says what is counted: "14 pupils"."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.cli import run
from discreet.errors import InputError
from discreet.sheets.reading_sheets import read_table

UNITS = (("pupils", "pupil"), ("Personen", "Person"), ("cases", "case"))


def written(folder: Path, rows: list[list[str]]) -> Path:
    """A CSV with these rows."""
    path = folder / "t.csv"
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(("many", "one"), UNITS)
def test_a_word_behind_all_numbers_says_what_is_counted(many: str, one: str, tmp_path: Path) -> None:
    """It stays behind the numbers that stay, and the mark stands alone."""
    rows = [["School", "Girls", "Boys", "All"]]
    counts = {"Oak": (12, 1), "Elm": (9, 30), "Ash": (8, 10), "Total": (29, 41)}
    for name, own in counts.items():
        rows.append([name, *(f"{n} {one if n == 1 else many}" for n in (*own, sum(own)))])
    path = written(tmp_path, rows)
    read = read_table(path)
    assert read.table.n == 70
    assert any("behind numbers says what is counted" in text for text in read.assumed)
    target = tmp_path / "safe.csv"
    assert run(["protect", str(path), "--hide-under", "6", "-o", str(target)]) == 0
    after = [line.split(",") for line in target.read_text(encoding="utf-8").splitlines()][1:5]
    assert after[0][2] == "*"
    before = [cell for row in rows[1:] for cell in row]
    assert all(now in ("*", then) for now, then in zip((cell for row in after for cell in row), before, strict=True))
    assert run(["audit", str(target), "--suppressed", "*", "--hidden-under", "6"]) == 0


def test_several_words_and_words_in_labels_are_not_taken_so(tmp_path: Path) -> None:
    """Other words are other numbers; sizes of households are labels."""
    with pytest.raises(InputError, match="units in the headers"):
        read_table(written(tmp_path, [["a", "b", "c"], ["N", "12 pupils", "3 staff"], ["S", "8 pupils", "4 staff"]]))
    sizes = [["Household size", "Area"], ["1 person", "12"], ["2 persons", "3"], ["3 persons", "9"]]
    assert list(read_table(written(tmp_path, sizes)).dimensions[0].codes) == ["1 person", "2 persons", "3 persons"]
