"""Every layout of the gallery opens in LibreOffice after protection and looks like its source: pictures compared."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.sheets.rewrite.number_look import first_number
from discreet.sheets.same_layout import write_same
from discreet.sheets.sources.by_kind import grids_of
from tests.sheets.gallery.draft import LAYOUTS, Layout, written
from tests.sheets.rewrite.office import Word, converted, differences_outside, pixels, words

for _theme in sorted((Path(__file__).parent.parent / "gallery").glob("*.py")):
    importlib.import_module(f"tests.sheets.gallery.{_theme.stem}")

pytestmark = pytest.mark.xdist_group("libreoffice")  # slow to start: by one worker

MARK, NOTE = "[c]", "[c] hidden to protect persons"
EVERY = 4  # of the numbers is hidden
OPENED = ("xlsx", "ods", "html", "csv")  # kinds of file that LibreOffice opens as sheets, the likeliest first
SAVED = [one for one in LAYOUTS if "xlsx" in one.formats]  # again as LibreOffice saves them: .ods


@dataclass(frozen=True)
class Pair:
    """A layout as it was and as it was written back, and how many numbers became marks."""

    before: Path
    after: Path
    hidden: int


def drawn(layout: Layout, folder: Path) -> Path:
    """A layout in the first format that it has."""
    kind = next(kind for kind in OPENED if kind in layout.formats)
    (folder / layout.name).mkdir()
    return written(layout.draw(), folder / layout.name, kind).rename(folder / f"{layout.name}.{kind}")


def pair(before: Path) -> Pair:
    """A quarter of the numbers of a file hidden."""
    after = before.with_name(f"{before.stem}-out{before.suffix}")
    cells = {grid.place(*at): cell for grid in grids_of(before) for at, cell in grid.cells.items()}
    unseen = {(grid.sheet, row) for grid in grids_of(before) for row in grid.hidden_rows}
    numbers = sorted(
        place
        for place, cell in cells.items()
        if (first_number(cell.value) if isinstance(cell.value, str) else cell.value) is not None
        and (place.sheet, place.row) not in unseen
    )
    hidden = dict.fromkeys(numbers[::EVERY], MARK)
    write_same(before, after, hidden, shown=cells, note=NOTE)
    return Pair(before, after, len(hidden))


def apart(gone: set[Word], new: set[Word]) -> tuple[set[Word], set[Word]]:
    """Words that a number was glued to, because it reached up to them: they stay, and only the number is gone."""
    for tail in list(new):
        for word in list(gone):
            same_end = (word.page, word.right, word.bottom) == (tail.page, tail.right, tail.bottom)
            if same_end and tail.text not in (MARK, *NOTE.split()) and word.text.endswith(tail.text):
                gone = (gone - {word}) | {word._replace(text=word.text.removesuffix(tail.text), right=tail.left - 3)}
                new = new - {tail}
    return gone, new


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    """All layouts before and after as PDF, by one run of LibreOffice."""
    folder = tmp_path_factory.mktemp("gallery")
    (folder / "saved").mkdir()
    files = [drawn(layout, folder) for layout in LAYOUTS]
    saved = converted([folder / f"{layout.name}.xlsx" for layout in SAVED], "ods", folder / "saved")
    files += [one.rename(folder / f"{one.stem}-saved.ods") for one in saved]
    pairs = {file.stem: pair(file) for file in files}
    converted([file for one in pairs.values() for file in (one.before, one.after)], "pdf", folder)
    return {
        name: Pair(one.before.with_suffix(".pdf"), one.after.with_suffix(".pdf"), one.hidden)
        for name, one in pairs.items()
    }


@pytest.mark.parametrize("name", [*(one.name for one in LAYOUTS), *(f"{one.name}-saved" for one in SAVED)])
def test_a_layout_looks_like_its_source(pages: dict[str, Pair], name: str) -> None:
    """Numbers became marks and a note was added; every other word and pixel stands where it stood."""
    one = pages[name]
    before, after = words(one.before), words(one.after)
    gone, new = apart(set(before) - set(after), set(after) - set(before))
    added = Counter(word.text for word in new)
    titles = {one.before.stem, one.after.stem}  # LibreOffice calls the sheet of a CSV file by the name of the file
    assert added[MARK] >= one.hidden
    assert set(added) - titles <= set(NOTE.split())
    assert all(any(letter.isdigit() for letter in word.text) for word in gone if word.text not in titles)
    pictures = (pixels(one.before, one.before.parent), pixels(one.after, one.after.parent))
    assert differences_outside(*pictures, gone | new) == 0


def test_every_layout_is_compared() -> None:
    """All of the gallery, and all workbooks as .ods, too."""
    assert len(LAYOUTS) > 50
    assert len(SAVED) > 50


def test_the_comparison_sees_a_change(pages: dict[str, Pair]) -> None:
    """Without the boxes of what changed there is a difference in every layout."""
    name, one = next(iter(pages.items()))
    pictures = (pixels(one.before, one.before.parent), pixels(one.after, one.after.parent))
    assert differences_outside(*pictures, []) > 0, name
