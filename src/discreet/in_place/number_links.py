"""Links between tables of one file that numbers show, whatever the labels are: the same line under other names, a code
that another table divides, a single number that a label names.

Every link holds in truth, so that one too many costs at most some more hidden cells; one too few may give a cell away.
None of them is ``sure``: what follows from it alone is not taken as known to all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from discreet.base.annotations import Array
from discreet.data.plain_labels import plain_label
from discreet.in_place.margin_links import Margin, MarginLink
from discreet.in_place.table_margins import TableMargins

ENOUGH = 5.0
"""Bits of coincidence from which equal sums are taken as a link."""
ENOUGH_IN_BLOCK = -5.0
"""The same for groupings of one total on one sheet, which count the same people: there a sum is hardly chance."""
MOST_SUBSETS = 12
"""Codes of which every set is tried; of more, those that stand together or whose labels begin alike."""
MOST_LINES = 60
"""Lines of a table up to which sums of two are looked for."""
_WORD = re.compile(r"\w+")


def lines_in_common(numbers: Sequence[int], tables: Sequence[TableMargins]) -> Iterator[MarginLink]:
    """Lines of finest codes that stand twice, number by number in any order, under whatever labels."""
    held: dict[tuple[float, ...], list[tuple[int, int, Array, Array]]] = {}
    many: dict[int, int] = {}
    for number in numbers:
        table = tables[number]
        for axis in range(len(table.shape)):
            leaves = _leaves(table, axis)
            if len(leaves) < 2:
                continue
            lines = np.moveaxis(table.values, axis, -1)[..., leaves]
            order = np.argsort(lines, axis=-1, kind="stable")
            for rest in np.ndindex(*lines.shape[:-1]):
                own = order[rest]
                key = tuple(lines[rest][own].tolist())
                if key[-1] > 0:
                    held.setdefault(key, []).append((number, axis, np.array(rest, np.int64), leaves[own]))
                    many[len(key)] = many.get(len(key), 0) + 1
    for key, places in held.items():
        bits = float(np.log2(1 + np.abs(key if len({*key}) > 1 else key[:1])).sum())
        if len(places) < 2 or bits - 2 * np.log2(many[len(key)]) < ENOUGH:
            continue
        first = places[0]
        for other in places[1:]:
            yield from _same_line(tables, first, other)


def _same_line(
    tables: Sequence[TableMargins], one: tuple[int, int, Array, Array], two: tuple[int, int, Array, Array]
) -> Iterator[MarginLink]:
    """A link for every number of a line that stands in two tables, and one for its sum."""
    margins = []
    for number, axis, rest, leaves in (one, two):
        codes = np.insert(np.tile(rest, (len(leaves) + 1, 1)), axis, [*leaves, tables[number].wholes[axis]], axis=1)
        margins.append([(number, tuple(row)) for row in codes.tolist()])
    for here, there in zip(*margins, strict=True):
        yield MarginLink(here, (there,), sure=False)


def _leaves(table: TableMargins, axis: int) -> Array:
    """Positions of the finest codes of a dimension."""
    dimension = table.dimensions[axis]
    return np.array([k for k, code in enumerate(dimension.codes) if code in dimension.leaf_position], np.int64)


def divided_codes(
    i: int,
    j: int,
    axes: tuple[int, int],
    lines: tuple[Array, Array],
    tables: Sequence[TableMargins],
    enough: float = ENOUGH,
) -> Iterator[MarginLink]:
    """Codes of a dimension of table i that are sums of codes of one of table j in every line that both have.

    ``lines`` are combinations of codes of other dimensions that both have, a row each, all others at their total.
    ``enough`` is how many bits of coincidence make a sum.
    """
    (one, two), (a, b) = (tables[i], tables[j]), axes
    depth = (lines[0] != np.array(one.wholes)).sum(axis=1)
    coded = [k for k in range(one.shape[a]) if k != one.wholes[a]]
    leaves = _leaves(two, b).tolist()
    wholes, parts = _vectors(one, a, coded, lines[0]), _vectors(two, b, leaves, lines[1])
    names = [_label(one, a, k) for k in coded], [_label(two, b, k) for k in leaves]
    for whole, some in _sums(wholes, parts, depth == depth.max(), names, enough):
        for left, right in zip(lines[0].tolist(), lines[1].tolist(), strict=True):
            sums = tuple((j, _with(right, b, leaves[k])) for k in some)
            yield MarginLink((i, _with(left, a, coded[whole])), sums, sure=False)


def _with(codes: list[int], axis: int, code: int) -> tuple[int, ...]:
    return (*codes[:axis], code, *codes[axis + 1 :])


def _label(table: TableMargins, axis: int, code: int) -> str:
    dimension = table.dimensions[axis]
    own = dimension.codes[code]
    return plain_label(dimension.labels.get(own, own))


def _vectors(table: TableMargins, axis: int, codes: Sequence[int], lines: Array) -> Array:
    """The numbers of codes of a dimension, a row each, in every line."""
    rows = np.repeat(lines[None], len(codes), axis=0)
    rows[:, :, axis] = np.array(codes, np.int64)[:, None]
    return np.asarray(table.values[tuple(np.moveaxis(rows, -1, 0))])


def _sums(
    wholes: Array, parts: Array, finest: Array, names: tuple[list[str], list[str]], enough: float
) -> Iterator[tuple[int, list[int]]]:
    """Which rows are the sums of which others; two or more, far beyond chance."""
    bits = np.log2(1 + np.abs(wholes[:, finest])).sum(axis=1)
    runs = _partition(wholes, parts)
    if runs and bits.sum() - bits.max() - len(parts) >= enough:
        yield from enumerate(runs)
        return
    for whole, row in enumerate(wholes):
        if not row.any():
            continue
        for some, tried in _candidates(row, parts, names[0][whole], names[1]):
            if len(some) > 1 and bits[whole] - tried >= enough and (parts[some].sum(axis=0) == row).all():
                yield whole, some


def _partition(wholes: Array, parts: Array) -> list[list[int]]:
    """The parts in runs, one for each whole in its order, that leave none over; else an empty list."""
    runs, at = [], 0
    for row in wholes:
        end, left = at, row.copy()
        while end < len(parts) and left.any():
            left = left - parts[end]
            if (left < 0).any():
                return []
            end += 1
        if left.any() or end == at:
            return []
        runs.append([*range(at, end)])
        at = end
    while at < len(parts) and runs and not parts[at].any():
        runs[-1].append(at)
        at += 1
    return runs if at == len(parts) and len(runs) < len(parts) else []


def _candidates(row: Array, parts: Array, name: str, names: Sequence[str]) -> Iterator[tuple[list[int], float]]:
    """Sets of parts that may add up to a row, and the bits that so many tries take away."""
    fits = np.flatnonzero((parts <= row).all(axis=1) & parts.any(axis=1)).tolist()
    alike = [k for k, label in enumerate(names) if label != name and label.startswith(name)]
    if alike:
        yield alike, 0.0
    if len(fits) <= MOST_SUBSETS:
        for size in range(2, len(fits) + 1):
            yield from ((list(some), float(len(fits))) for some in combinations(fits, size))
        return
    tried = 2 * float(np.log2(len(parts)))
    guide = parts.sum(axis=1)
    ends = np.concatenate([[0], guide.cumsum()])
    wanted = row.sum()
    for start in range(len(parts)):
        for stop in range(*np.searchsorted(ends, [ends[start] + wanted, ends[start] + wanted + 1])):
            yield [*range(start, stop)], tried


def added_lines(
    i: int, j: int, axes: tuple[int, int], lines: tuple[Array, Array], tables: Sequence[TableMargins]
) -> Iterator[MarginLink]:
    """Lines of table i that are one of its others and one of table j together, as a year to date and that before it.

    ``axes`` is a dimension that both have, ``lines`` are the positions of its codes that both have.
    """
    own, other = _all_lines(tables[i], axes[0], lines[0]), _all_lines(tables[j], axes[1], lines[1])
    if len(own) > MOST_LINES or len(other) > MOST_LINES:
        return
    held = {tuple(line.tolist()): rest for rest, line in other if line.any()}
    tried = float(np.log2(1 + len(own) ** 2 * len(other)))
    for (rest, line), (less, minus) in permutations(own, 2):
        gap = line - minus
        if (gap < 0).any() or not minus.any() or np.log2(1 + np.abs(line)).sum() - tried < ENOUGH:
            continue
        there = held.get(tuple(gap.tolist()))
        if there is not None:
            for here, code in zip(lines[0].tolist(), lines[1].tolist(), strict=True):
                parts = ((i, _at(less, axes[0], here)), (j, _at(there, axes[1], code)))
                yield MarginLink((i, _at(rest, axes[0], here)), parts, sure=False)


def _all_lines(table: TableMargins, axis: int, codes: Array) -> list[tuple[tuple[int, ...], Array]]:
    """Every line of a table along some codes of a dimension, by the codes of its other dimensions."""
    along = np.moveaxis(table.values, axis, -1)[..., codes]
    return [(rest, along[rest]) for rest in np.ndindex(*along.shape[:-1])]


def _at(rest: tuple[int, ...], axis: int, code: int) -> tuple[int, ...]:
    return (*rest[:axis], code, *rest[axis:])


def cells_by_label(i: int, j: int, tables: Sequence[TableMargins]) -> Iterator[MarginLink]:
    """Numbers of table i that stand in table j under labels with all words of their own, as "Women in Beacon"."""
    held: dict[tuple[float, str], list[tuple[Margin, frozenset[str]]]] = {}
    for margin, value, words in _worded(i, tables[i]):
        if words:
            held.setdefault((value, min(words)), []).append((margin, words))
    for margin, value, words in _worded(j, tables[j]):
        for word in sorted(words):
            for other, needed in held.get((value, word), ()):
                if needed <= words:
                    yield MarginLink(other, (margin,), sure=False)


def _worded(number: int, table: TableMargins) -> Iterator[tuple[Margin, float, frozenset[str]]]:
    """The cells that stand on the sheet and are not zero, with the words of their labels but of totals."""
    words = [
        [frozenset(() if k == whole else _WORD.findall(_label(table, axis, k))) for k in range(len(d.codes))]
        for axis, (d, whole) in enumerate(zip(table.dimensions, table.wholes, strict=True))
    ]
    for codes in np.argwhere((table.cells >= 0) & (table.values != 0)).tolist():
        own = frozenset().union(*(words[axis][code] for axis, code in enumerate(codes)))
        yield (number, tuple(codes)), float(table.values[tuple(codes)]), own
