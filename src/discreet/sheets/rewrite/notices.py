"""What was left out or blanked while a file was written, in sentences."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from discreet.sheets.rewrite.edits import Place
from discreet.sheets.sheet_grid import column_letters

UNJUDGED = "numbers outside the tables that were understood are blanked"
IN_HIDDEN = "cells in hidden rows or columns are blanked (show them before to keep them)"
UNDER_MERGE = "cells under a merged one are blanked"
BY_FORMAT = "cells whose number format shows nothing of them are blanked"
FROM_FORMULA = "texts with numbers that a formula puts together are blanked"
REPEATED = (
    "texts that state a share, a number which is hidden now, or a count that is not shown, are blanked (--keep-text "
    "keeps them)"
)
BESIDE = "texts beside the numbers of a table, neither labels nor headers, are blanked (--keep-text keeps them)"
LOOKS = (
    "colours and fonts of number cells, or of labels of rows, that may follow the numbers (they are in one plain look)"
)
NO_BASE = (
    "percentages, means or rates whose base is not confirmed are left out (percentages of whole numbers stay beside a "
    "column or row 'N' of those whom they are of)"
)
KEPT = "stays as said, and the audit does not judge it"
IMAGES = "images stay as said, and the audit does not judge what they show, so that the file as a whole is not passed"
NO_VALUE = "formulas that were saved without their result are blanked (open and save the file in a spreadsheet program)"
INVISIBLE = "texts in the colour of the paper are blanked"
FEW = 5


class Notices:
    """Collects what happens, cell by cell and as a whole."""

    def __init__(self) -> None:
        self._places: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._things: dict[str, None] = {}

    def add(self, thing: str) -> None:
        """Something that is left out as a whole."""
        self._things[thing] = None

    def at(self, reason: str, place: Place) -> None:
        """Something that happened to one cell."""
        self._places[reason][place[0]].append(f"{column_letters(place[2])}{place[1]}")

    def sentences(self) -> tuple[str, ...]:
        """One line for each kind, with places; never with what stood there."""
        lines = list(self._things)
        for reason, sheets in self._places.items():
            for sheet, cells in sheets.items():
                more = f" and {len(cells) - FEW:,} more" if len(cells) > FEW else ""
                lines.append(f"{reason}: {repr(sheet) + ' ' if sheet else ''}{', '.join(cells[:FEW])}{more}")
        return tuple(lines)


@dataclass(frozen=True)
class Rewritten:
    """A file that was written, and what of its source is not in it, a sentence for each."""

    path: Path
    left_out: tuple[str, ...]
