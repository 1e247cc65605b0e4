"""What somebody has decided about cells beforehand: status, cost and protection levels, by cell."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked, one_of
from discreet.base.texts import csv_rows, read_text
from discreet.errors import InputError, listed
from discreet.release import Status
from discreet.rules import Levels
from discreet.tables.table import Table

LETTERS = {
    "S": Status.PUBLISHED,
    "U": Status.PRIMARY,
    "P": Status.FORCED,
    "Z": Status.FORCED,
    "M": Status.SECONDARY,
    "ML": Status.SECONDARY,
    "X": Status.SECONDARY,
    "W": Status.NEVER,
}


@checked
@dataclass(frozen=True, eq=False)
class ArgusMarks:
    """Per cell of a table: a status in the letters of ``Status`` ('' where nothing is said), and numbers or NaN."""

    status: Array
    cost: Array
    lower: Array
    upper: Array
    least: Array  # what is known beforehand of a cell
    greatest: Array

    @classmethod
    def none(cls, n: int) -> ArgusMarks:
        """Nothing said about any of ``n`` cells."""
        return cls(np.full(n, "", "<U1"), *(np.full(n, np.nan) for _ in range(5)))

    def mask(self, table: Table, kind: str) -> Array:
        """Which cells are "safe", "unsafe", to "publish" or "never", as ``Suppress(marks=...)`` asks.

        What was hidden to protect others is no mark: a new suppression chooses for itself.
        """
        if len(self.status) != len(table):
            raise InputError(f"the marks are for a table of {len(self.status):,} cells, this one has {len(table):,}")
        kinds = {"safe": self.safe, "unsafe": self.unsafe, "publish": self.forced, "never": self.never}
        one_of("kind", kind, kinds)
        return kinds[kind]

    @property
    def levels(self) -> Levels:
        """Protection levels and bounds, as ``Suppress(levels=...)`` takes them."""
        return Levels(below=self.lower, above=self.upper, lower=self.least, upper=self.greatest)

    @property
    def unsafe(self) -> Array:
        """Cells marked as sensitive."""
        return np.asarray(self.status == Status.PRIMARY.value)

    @property
    def secondary(self) -> Array:
        """Cells hidden to protect others."""
        return np.asarray(self.status == Status.SECONDARY.value)

    @property
    def safe(self) -> Array:
        """Cells said to be safe, whatever the rules say; they may still protect others."""
        return np.asarray(self.status == Status.PUBLISHED.value)

    @property
    def forced(self) -> Array:
        """Cells that must be published."""
        return np.asarray(self.status == Status.FORCED.value)

    @property
    def never(self) -> Array:
        """Cells that are not part of any publication."""
        return np.asarray(self.status == Status.NEVER.value)


@checked
def read_apriori(path: str | Path, table: Table, *, separator: str | None = None) -> ArgusMarks:
    r"""An a-priori file (``.hst``) of tau-ARGUS for a table: a code per dimension, then what is said of the cell.

    ``s`` safe, ``u`` unsafe, ``p`` (or ``z``) protected: must be published, ``m``/``ml`` secondary; ``c`` (or ``w``)
    with a cost; ``pl`` with a lower and an upper protection level; ``ab`` with the least and the greatest value known
    beforehand. Later lines win.

    >>> import tempfile
    >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "marks.hst").write_text("1;1;s\n2;1;u\n")
    ...     marks = read_apriori(f"{folder}/marks.hst", table)
    >>> table.count[marks.mask(table, "unsafe")].tolist()
    [1]
    """
    path = Path(path)
    text = read_text(path)
    sign = separator or max(";,\t|", key=text.split("\n", 1)[0].count)
    marks = ArgusMarks.none(len(table))
    find = finder(table)
    n = len(table.dimensions)
    for number, row in enumerate(csv_rows(text, sign, repr(path.name)), start=1):
        words = [word.strip() for word in row]
        if not any(words):
            continue
        place = f"{path.name}, line {number}"
        if len(words) <= n:
            raise InputError(f"{place}: {n} codes and what is said of the cell are needed, separated by {sign!r}")
        cell = find(words[:n], place)
        _say(marks, cell, words[n].upper(), [word for word in words[n + 1 :] if word], place)
    return marks


def _say(marks: ArgusMarks, cell: int, what: str, rest: list[str], place: str) -> None:
    """Write into the marks what a line says."""
    if what in ("C", "PL", "AB") or (what == "W" and rest):
        amounts = [_amount(word, place) for word in rest]
        if len(amounts) != (2 if what in ("PL", "AB") else 1) or (what != "AB" and any(x < 0 for x in amounts)):
            raise InputError(
                f"{place}: 'c' takes a cost and 'pl' two protection levels, none negative; 'ab' takes two bounds"
            )
        if what == "PL":
            marks.lower[cell], marks.upper[cell] = amounts
        elif what == "AB":
            marks.least[cell], marks.greatest[cell] = amounts
        else:
            marks.cost[cell] = amounts[0]
        return
    if what not in LETTERS:
        known = [letter.lower() for letter in (*LETTERS, "C", "PL", "AB")]
        raise InputError(f"{place}: what is said of the cell is none of {listed(known, 12)}")
    marks.status[cell] = LETTERS[what].value


def _amount(word: str, place: str) -> float:
    if not re.fullmatch(r"[+-]?(\d+[.,]?\d*|[.,]\d+)", word, re.ASCII):
        raise InputError(f"{place}: a cost or protection level is not a number")
    return float(word.replace(",", "."))


def finder(table: Table) -> Callable[[list[str], str], int]:
    """From a code of each dimension (nothing stands for the total) to the number of the cell."""
    flat = np.ravel_multi_index(tuple(table.layout.codes.T), table.layout.code_shape)
    cell_at = dict(zip(flat.tolist(), range(len(flat)), strict=True))

    def find(codes: list[str], place: str) -> int:
        position = []
        for d, code in zip(table.dimensions, codes, strict=True):
            try:
                position.append(d.index(code or d.total))
            except InputError:
                raise InputError(f"{place}: the code of {d.name!r} is not one of the table's") from None
        cell: int | None = cell_at.get(int(np.ravel_multi_index(position, table.layout.code_shape)))
        if cell is None:
            raise InputError(f"{place}: these codes are not a cell of the table")
        return cell

    return find
