"""Which code of a ready table is the total: one that adds up all others in every line of the table.

A total taken for a category doubles all sums, and whoever knows what "All" means works out hidden cells by taking away.
So a code with a usual name that is the sum is taken as the total, and said to be; what remains in doubt is asked.
"""

from __future__ import annotations

import math
import re
import shlex
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import DiscreetWarning, InputError, listed, many, nearest
from discreet.tables.total_names import PERHAPS, USUAL, like_a_total

Totals = str | Mapping[str, str | None] | None
"""``total=``: None to find them, a code for all dimensions, or a code per dimension (None: it has no total)."""

TOTAL = "Total"
ASK = 10.0
"""Bits of coincidence from which a code with a name of its own is asked about: one chance in a thousand."""
ASK_ARRAY = 20.0
"""The same for the entries of an array, which has no codes and should hold no totals."""
ASK_EQUAL = 24.0
"""The same where there are only two codes, so that the sum is the other one: equal numbers come by design too."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of a table: each one's code position in every dimension, and its numbers in whole units.

    ``shown`` is False where a number is hidden. A combination without a row is zero if ``absent_is_zero``, else
    unknown. ``loose``: how far the numbers of a measure may have been rounded, each by itself, in whole units: half a
    unit, or half of a base.
    """

    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    position: tuple[Array, ...]
    numbers: tuple[Array, ...]
    shown: Array
    loose: tuple[float, ...]
    absent_is_zero: bool = True

    def lines(self, axis: int, numbers: Array, kept: Sequence[int]) -> tuple[Array, Array]:
        """Numbers and whether they are shown, a row for each of the kept codes, a column for each line."""
        shape = [len(c) for c in self.codes]
        cell = np.ravel_multi_index(self.position, shape)
        values, shown = np.zeros(math.prod(shape)), np.zeros(math.prod(shape), bool)
        values[cell], shown[cell] = np.where(self.shown, numbers, 0), self.shown
        return tuple(  # type: ignore[return-value]
            np.moveaxis(a.reshape(shape), axis, 0)[list(kept)].reshape(len(kept), -1) for a in (values, shown)
        )


@dataclass(frozen=True)
class SumEvidence:
    """Whether a code is the sum of the others: lines that deny it, lines that show it, bits of coincidence."""

    denied: int = 0
    confirmed: int = 0
    open: int = 0
    bits: float = 0.0

    def __add__(self, other: SumEvidence) -> SumEvidence:
        return SumEvidence(
            self.denied + other.denied,
            self.confirmed + other.confirmed,
            self.open + other.open,
            self.bits + other.bits,
        )


def sum_evidence(values: Array, shown: Array, *, absent_is_zero: bool, allowed: float) -> list[SumEvidence]:
    """For each row of ``values`` whether it is the sum of the other rows, column by column.

    A column that holds nothing else is a total whose parts are not given. One with hidden parts cannot show that a row
    is the sum, but denies it where the parts shown exceed it already.

    >>> cells = np.array([[3.0, 4], [2, 0], [5, 4]])
    >>> [(e.denied, e.confirmed) for e in sum_evidence(cells, cells >= 0, absent_is_zero=True, allowed=0)]
    [(1, 1), (2, 0), (0, 2)]
    """
    known = np.ones(values.shape[1], bool) if absent_is_zero else shown.all(axis=0)
    signed = bool((values < 0).any())
    whole, many, held = values.sum(axis=0), shown.sum(axis=0), (values != 0).sum(axis=0)
    weighed = []
    for row, there in zip(values, shown, strict=True):
        rest = whole - row
        full, part = known & there & (many > 1), ~known & there & (many > 1)
        wrong = full & (np.abs(row - rest) > allowed)
        if not signed:
            wrong |= part & (rest > row + allowed)
        sure = full & ~wrong & (row != 0)
        several = sure & (held - 1 >= 2 if len(values) > 2 else held > 0)
        sums = row[several] if len(values) > 2 else np.unique(row[several])  # equal pairs come in patterns
        bits = np.log2((1 + np.abs(sums)) / (1 + 2 * allowed)).clip(0).sum()
        if not signed:  # that one of n numbers exceeds the sum of the others
            bits += np.log2(many[part & ~wrong & (row > 0)]).sum()
        weighed.append(SumEvidence(int(wrong.sum()), int(sure.sum()), int((~known).sum()), float(bits)))
    return weighed


def find_totals(cells: Cells, total: Totals = None, *, declared: Collection[str] = ()) -> dict[str, str | None]:
    """The total code of every dimension that has one or of which it is said, with a warning for those found.

    A dimension that is not in the answer has no total among its codes; of those ``declared`` all is known already.
    """
    said = stated(total, cells.names, dict(zip(cells.names, cells.codes, strict=True)))
    total_of: dict[str, str | None] = {}
    for axis, name in enumerate(cells.names):
        if name not in said and name not in declared and (code := _of_dimension(cells, axis)) is not None:
            total_of[name] = code
    for code in dict.fromkeys(total_of.values()):
        held = [name for name, total_code in total_of.items() if total_code == code]
        warnings.warn(
            f"{code!r} is taken as the total of {listed(held)}: it is called so, and no line denies it; total={code!r} "
            f"(--total {code}) says the same, {_not_so(cells, held[0])} that it is a category",
            DiscreetWarning,
            stacklevel=7,
        )
    return said | total_of


def stated(total: Totals, names: Sequence[str], codes: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
    """What ``total=`` says of each dimension; where it says nothing, a code "Total" is the total."""
    usual: dict[str, str | None] = {name: TOTAL for name in names if TOTAL in codes[name]}
    if total is None:
        return usual
    if isinstance(total, str):
        if not total:
            raise InputError(f"total= is a code, not empty text; write {TOTAL} where the field of a total is empty")
        if not any(total in codes[name] for name in names):
            _misspelt(total, [c for name in names for c in codes[name]], "no dimension has")
        return usual | {name: total for name in names if total in codes[name]}
    for name, code in total.items():
        if name not in names:
            raise InputError(f"total= names the unknown dimension {name!r}; {nearest(str(name), names)}")
        if code is None:
            continue
        if not code:
            raise InputError(
                f"the total of dimension {name!r} is a code, or None if it has none; not empty text: write {TOTAL} "
                "where the field of a total is empty"
            )
        if code not in codes[name]:
            _misspelt(code, codes[name], f"dimension {name!r} does not have")
    return usual | {name: total[name] for name in names if name in total}


def named(total: Totals, name: str) -> str | None:
    """What the computed total of a dimension is called when its codes hold none."""
    if isinstance(total, Mapping):
        return total.get(name, TOTAL)
    return total or TOTAL


def refuse_margins(array: Array) -> None:
    """Refuse an array whose first or last entries add up the others along its axes: inner cells only are wanted."""
    sized = [axis for axis, size in enumerate(array.shape) if size > 2]
    for end, word in ((-1, "last"), (0, "first")):
        evidence_of = {}
        for axis in sized:
            values = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1).astype(float)
            evidence_of[axis] = sum_evidence(values, np.ones(values.shape, bool), absent_is_zero=True, allowed=0.0)[end]
        sums = [axis for axis, e in evidence_of.items() if not e.denied]
        alone = [axis for axis in sums if evidence_of[axis].bits >= ASK_ARRAY]
        if (sums == sized and sum(e.bits for e in evidence_of.values()) >= ASK_ARRAY) or alone:
            axes = ", ".join(str(axis + 1) for axis in (sums if sums == sized else alone))
            cut = ", ".join((":-1" if end else "1:") if axis in sums else ":" for axis in range(array.ndim))
            raise InputError(
                f"the {word} entries along axis {axes} of the array are the sums of the others, and an array holds "
                f"inner cells only; leave the totals out (array[{cut}]), or say total='Total' if they are categories"
            )


def _misspelt(code: str, known: Sequence[str], what: str) -> None:
    """Refuse a total that only looks like a code; one unlike all of them names the sums to be computed."""
    if (tail := nearest(code, known)).startswith("did you mean"):
        raise InputError(f"{what} the total {code!r}; {tail}")


def _of_dimension(cells: Cells, axis: int) -> str | None:
    name, codes = cells.names[axis], cells.codes[axis]
    if len(codes) < 2 or not len(cells.shown):
        return None
    weighed = _weighed(cells, axis, range(len(codes)))
    usual = {code: like_a_total(code) for code in codes}
    taken = [
        code
        for code, e in zip(codes, weighed, strict=True)
        if (usual[code] == USUAL or (usual[code] == PERHAPS and e.bits >= ASK)) and not e.denied
    ]
    if len(taken) > 1:
        raise InputError(
            f"dimension {name!r}: {listed(taken)} may each be the total; say which: {option(name, taken[0])}, "
            "and leave out the rows of the other"
        )
    for code, e in zip(codes, weighed, strict=True):
        if code not in taken:
            _doubtful(cells, axis, code, e, usual[code], bool(taken))
    rest = [k for k, code in enumerate(codes) if code not in taken]
    if taken and len(rest) > 2:
        for k, e in zip(rest, _weighed(cells, axis, rest), strict=True):
            _unusual(cells, axis, codes[k], e, len(rest))
    if not taken:
        for code, e in zip(codes, weighed, strict=True):
            _unusual(cells, axis, code, e, len(codes))
        return None
    return taken[0]


def _weighed(cells: Cells, axis: int, kept: Sequence[int]) -> list[SumEvidence]:
    """Evidence for each of the kept codes, over all numbers of the table."""
    weighed = [SumEvidence()] * len(kept)
    for numbers, loose in zip(cells.numbers, cells.loose, strict=True):
        allowed = loose * len(kept)
        values, shown = cells.lines(axis, numbers, kept)
        more = sum_evidence(values, shown, absent_is_zero=cells.absent_is_zero, allowed=allowed)
        weighed = [a + b for a, b in zip(weighed, more, strict=True)]
    return weighed


def _doubtful(cells: Cells, axis: int, code: str, e: SumEvidence, usual: int, has_total: bool) -> None:
    """Ask about a code that is called like a total and either is not the sum, or cannot be seen to be."""
    name = cells.names[axis]
    if usual == USUAL and e.denied:
        raise InputError(
            f"dimension {name!r}: {code!r} is called like a total but is not the sum of the other codes in "
            f"{many(e.denied, 'line')}; if some codes are groups of others, give a codebook; "
            f"{_choice(cells, axis, code)}"
        )
    if usual == PERHAPS and not e.denied and (e.confirmed or e.open) and not has_total:
        raise InputError(
            f"dimension {name!r}: {code!r} may be a total, and too little is shown to tell; "
            f"{_choice(cells, axis, code)}"
        )


def _unusual(cells: Cells, axis: int, code: str, e: SumEvidence, many: int) -> None:
    """Ask about a code with a name of its own that adds up the others more often than chance would have it."""
    if e.denied or e.bits < (ASK if many > 2 else ASK_EQUAL):
        return
    lines = f"all {e.confirmed:,} lines" if e.confirmed else "every line, as far as is shown"
    raise InputError(
        f"dimension {cells.names[axis]!r}: {code!r} is the sum of the other codes in {lines}; "
        f"{_choice(cells, axis, code)}"
    )


def _choice(cells: Cells, axis: int, code: str) -> str:
    name = cells.names[axis]
    if not code.strip():  # nothing can be said of a code without a name
        return f"if it is the total, write {TOTAL} in its empty fields; if it is a category, a name of its own"
    return f"if it is the total, say {option(name, code)}; if it is a category, {_not_so(cells, name)}"


def _not_so(cells: Cells, name: str) -> str:
    """How to say that no code of a dimension is a total: where totals are computed, what theirs is called."""
    return option(name, TOTAL if cells.absent_is_zero else None)


def option(name: str, code: str | None) -> str:
    """How to say what the total of a dimension is, in Python and on the command line."""
    value = f"{name}={code or ''}"
    return f"total={{{name!r}: {code!r}}} (--total {_quoted(value)})"


def _quoted(value: str) -> str:
    """A text as a shell takes it, in quotation marks where it needs them."""
    if re.fullmatch(r"[\w.,:/=@%+\-]*", value):
        return value
    return shlex.quote(value) if re.search(r'["$`!\\]', value) else f'"{value}"'
