"""Percentages, proportions, rates and means beside counts: what each is a share of, as arithmetic confirms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from discreet.sheets.blocks.body_numbers import BodyParts
from discreet.sheets.blocks.cell_reading import NUMERIC, shown_decimals
from discreet.sheets.blocks.derived_names import is_quotient_or_change
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_grid import CellPlace
from discreet.sheets.sheet_layout import CHANGE, DIFFERENCE, DerivedNumber, derived_value
from discreet.sheets.sums.axis_sums import SumTree
from discreet.sheets.sums.cell_map import CellMap
from discreet.sheets.sums.mean_lines import mean_line

SCALES = (100.0, 1.0, 1_000.0, 10_000.0, 100_000.0)
LEAST_SHOWN = 3
"""Numbers of a column or row from which a way to read all of them as quotients is hardly chance."""
MOST_COMPARED = 40
"""Of so many columns every two are tried for differences."""


def derived_numbers(
    block: SheetBlock, parts: BodyParts, cells: CellMap, trees: Sequence[SumTree]
) -> tuple[DerivedNumber, ...]:
    """Every number of the sheet that is derived from counts, with what it is a share of where that is confirmed."""
    if not (parts.derived_columns or parts.derived_rows or any(cell.share for cell in block.cells.values())):
        return ()
    derived: list[DerivedNumber] = []
    count_at = {(p.row, p.column): k for k, places in enumerate(cells.places) for p in places}
    wholes = _wholes(cells, trees)
    bare = {row for row in parts.derived_rows if not any((row, column) in block.cells for column in parts.columns)}
    for column, kind in parts.derived_columns.items():
        own = [(row, column) for row in block.body if (row, column) in block.cells and row not in bare]
        nearest = sorted(parts.columns, key=lambda c: (c > column, abs(c - column)))
        before = [[(row, c) for row, _ in own] for c in nearest]
        names = [parts.headings.get(c, "") for c in (column, *nearest)]
        derived += _confirmed(block, cells, count_at, wholes, own, before, kind, trees, names)
    for row, kind in parts.derived_rows.items():
        own = [(row, column) for column in block.values if (row, column) in block.cells]
        nearest = sorted(parts.rows, key=lambda r: (r > row, abs(r - row)))[:40]
        before = [[(r, c) for _, c in own] for r in nearest]
        names = [" ".join(t for c in block.stub if (t := block.grid.text(r, c))) for r in (row, *nearest)]
        derived += _confirmed(block, cells, count_at, wholes, own, before, kind, trees, names)
    derived += _inside(block, cells, count_at, wholes)
    return tuple(derived)


def _wholes(cells: CellMap, trees: Sequence[SumTree]) -> list[list[int]]:
    """For every cell the cells it is a part of, dimension by dimension: its parent, its total, and all totals."""
    at = {flat: k for k, flat in enumerate(cells.flat.tolist())}
    shape = cells.shape
    options: list[list[int]] = [[] for _ in cells.values]
    tops = []
    for axis, (codes, tree) in enumerate(zip(cells.codes, trees, strict=True)):
        place = {code: k for k, code in enumerate(codes)}
        parent = {place[part]: place[code] for code, parts in tree.children.items() for part in parts}
        top = place[tree.total] if tree.total is not None else None
        tops.append(top)
        for k, position in enumerate(cells.position.tolist()):
            for whole in (top, parent.get(position[axis])):  # two of every cell: ways are the same for all
                if whole is not None:
                    moved = [*position[:axis], whole, *position[axis + 1 :]]
                    cell = at.get(int(np.ravel_multi_index(moved, shape)))
                    options[k].append(-1 if cell is None else cell)
                else:
                    options[k].append(-1)
    if sum(top is not None for top in tops) > 1:
        for own, position in zip(options, cells.position.tolist(), strict=True):
            moved = [place if top is None else top for top, place in zip(tops, position, strict=True)]
            own.append(at.get(int(np.ravel_multi_index(moved, shape)), -1))
    return options


def _confirmed(
    block: SheetBlock,
    cells: CellMap,
    count_at: dict[tuple[int, int], int],
    wholes: list[list[int]],
    own: Sequence[tuple[int, int]],
    counts: Sequence[Sequence[tuple[int, int]]],
    kind: str,
    trees: Sequence[SumTree],
    names: Sequence[str],
) -> list[DerivedNumber]:
    """The numbers of one column or row, as quotients of counts in the same way throughout, or as means; else
    unconfirmed.

    Where several ways fit all that is shown, the first is taken and each number is called ambiguous.
    """
    numbers = [derived_number(block, place) for place in own]
    plain = [n for n in numbers if n is not None]
    decimals = shown_decimals(block.cell(*place) for place in own)
    formats = [block.cell(*place) for place in own]
    whole = 1.0 if all(cell.percent and cell.number is not None for cell in formats if cell.kind == NUMERIC) else 100.0
    ways_that_fit: list[tuple[list[int], list[int], float]] = []
    by_name = not names or is_quotient_or_change(names[0]) or len(plain) >= LEAST_SHOWN
    for numerators in counts if by_name else ():
        tops = [count_at.get(place, -1) for place in numerators]
        ways = max((len(wholes[k]) for k in tops if k >= 0), default=0)
        bottoms = [[wholes[k][way] if k >= 0 and way < len(wholes[k]) else -1 for k in tops] for way in range(ways)]
        bottoms += [[count_at.get(place, -1) for place in other] for other in counts if other is not numerators]
        for bottom in bottoms:
            for scale in SCALES:
                if kind != "share" and all(number in (0.0, scale) for number in plain):
                    continue  # a greatest number of 100 is not 100 % of itself
                if scale != whole and all(top == base for top, base in zip(tops, bottom, strict=True)):
                    continue  # 1 is not a number over itself, unless it is written as 100 %
                if kind == "share" and scale == 1.0 != whole and not decimals:
                    continue  # shares without decimals are percentages
                if _fits(cells, numbers, tops, bottom, scale, decimals):
                    ways_that_fit.append((tops, bottom, scale))
        if ways_that_fit and not cells.hidden.any() and len(plain) >= LEAST_SHOWN:
            break  # nothing follows from another way, and this one is hardly chance
    if not ways_that_fit:
        if (
            by_name
            and len(counts) <= MOST_COMPARED
            and (changes := _changes(block, cells, count_at, own, counts, numbers, decimals))
        ):
            return changes
        lines = [[count_at.get(place, -1) for place in line] for line in counts]
        if means := mean_line(block, cells, trees, own, lines, numbers, decimals, names):
            return means
        return [DerivedNumber(block.grid.place(*place), kind, decimals=decimals) for place in own]
    several = _told_apart(cells, numbers, ways_that_fit)
    shares = _shares(block, cells, own, ways_that_fit[0], decimals, inside=False, several=several)
    return [replace(share, besides=_besides(cells, ways_that_fit, k)) for k, share in enumerate(shares)]


def _besides(cells: CellMap, ways: Sequence[tuple[list[int], list[int], float]], number: int) -> tuple[CellPlace, ...]:
    """Counts that a number is made of in other ways than the first."""
    first = {ways[0][0][number], ways[0][1][number]}
    others = {cell for tops, bottoms, _ in ways[1:] for cell in (tops[number], bottoms[number])} - first
    return tuple(cells.places[cell][0] for cell in sorted(others) if cell >= 0)


def _shares(
    block: SheetBlock,
    cells: CellMap,
    places: Sequence[tuple[int, int]],
    way: tuple[list[int], list[int], float],
    decimals: int,
    *,
    inside: bool,
    several: bool,
) -> list[DerivedNumber]:
    """Numbers as the shares that one way of reading them says; ``several``: others fit as well."""
    tops, bottoms, scale = way
    return [
        DerivedNumber(
            block.grid.place(*place),
            "share",
            _place(cells, top),
            _place(cells, bottom),
            scale,
            decimals,
            inside=inside,
            ambiguous=several,
        )
        for place, top, bottom in zip(places, tops, bottoms, strict=True)
    ]


def _told_apart(
    cells: CellMap, numbers: Sequence[float | None], ways: Sequence[tuple[list[int], list[int], float]]
) -> bool:
    """Whether ways to read numbers as shares say different things of counts that are not shown."""
    said = set()
    for tops, bottoms, scale in ways:
        pairs = [
            (top, bottom, scale)
            for number, top, bottom in zip(numbers, tops, bottoms, strict=True)
            if number is not None and (cells.hidden[top] or cells.hidden[bottom])
        ]
        said.add(tuple(pairs))
    return len(said) > 1


def _changes(
    block: SheetBlock,
    cells: CellMap,
    count_at: dict[tuple[int, int], int],
    own: Sequence[tuple[int, int]],
    counts: Sequence[Sequence[tuple[int, int]]],
    numbers: Sequence[float | None],
    decimals: int,
) -> list[DerivedNumber]:
    """Numbers of a column or row as differences of two others, or as changes in percent; none if they are not."""
    lines = [[count_at.get(place, -1) for place in line] for line in counts]
    ways = [
        (after, before, kind, scale)
        for after, before in permutations(lines, 2)
        for kind, scale in ((DIFFERENCE, 1.0), (CHANGE, 100.0))
        if _fits(cells, numbers, after, before, scale, decimals, kind)
    ]
    if not ways:
        return []
    after, before, kind, scale = ways[0]
    pairs = [(tops, bottoms, 1.0) for tops, bottoms, _, _ in ways]
    return [
        DerivedNumber(
            block.grid.place(*place),
            kind,
            _place(cells, top),
            _place(cells, base),
            scale,
            decimals,
            besides=_besides(cells, pairs, k),
        )
        for k, (place, top, base) in enumerate(zip(own, after, before, strict=True))
    ]


def _fits(
    cells: CellMap,
    numbers: Sequence[float | None],
    tops: Sequence[int],
    bottoms: Sequence[int],
    scale: float,
    decimals: int,
    kind: str = "share",
) -> bool:
    """Whether every number that can be tried is what two counts come to, give or take half of its last digit."""
    tried = 0
    for number, top, bottom in zip(numbers, tops, bottoms, strict=True):
        if number is None:
            continue
        if top < 0 or bottom < 0:
            return False
        if top == bottom and abs(number - scale) > 0.5000001 * 10.0**-decimals:
            return False
        if cells.hidden[top] or cells.hidden[bottom]:
            half = 0.5000001 * 10.0**-decimals / scale
            if kind == "share" and not _possible(cells, number / scale, top, bottom, half):
                return False
            continue
        above, below = float(cells.values[top]), float(cells.values[bottom])
        result = derived_value(kind, above, below, scale)
        if result is None:
            if number:
                return False
            continue
        if abs(result - number) > 0.5000001 * 10.0**-decimals:
            return False
        tried += number not in (0.0, scale) or top == bottom
    return tried > 0


def _possible(cells: CellMap, quotient: float, top: int, bottom: int, half: float) -> bool:
    """Whether some whole number in place of the one that is not shown gives a quotient, to half of its last digit."""
    least, most = max(quotient - half, 0.0), quotient + half
    if not cells.hidden[bottom]:
        whole = float(cells.values[bottom])
        return math.ceil(least * whole - 1e-9) <= math.floor(most * whole + 1e-9)
    if not cells.hidden[top]:
        part = float(cells.values[top])
        return not part or not least or math.ceil(part / most - 1e-9) <= math.floor(part / least + 1e-9)
    return True


def derived_number(block: SheetBlock, place: tuple[int, int]) -> float | None:
    cell = block.cell(*place)
    if cell.kind != NUMERIC:
        return None
    if cell.number is not None:
        return cell.number
    try:
        return float(cell.digits.replace(" ", "").replace(",", "."))
    except ValueError:
        return None


def _place(cells: CellMap, cell: int) -> CellPlace | None:
    return cells.places[cell][0] if cell >= 0 else None


def _inside(
    block: SheetBlock, cells: CellMap, count_at: dict[tuple[int, int], int], wholes: list[list[int]]
) -> list[DerivedNumber]:
    """Percentages in brackets behind counts: a share of the same total throughout, or unconfirmed."""
    places = [place for place in count_at if block.cell(*place).share is not None]
    if not places:
        return []
    texts = [str(block.cell(*place).share).rstrip("% ") for place in places]
    numbers: list[float | None] = []
    for text in texts:
        try:
            numbers.append(float(text.replace(",", ".")))
        except ValueError:
            numbers.append(None)
    tops = [count_at[place] for place in places]
    decimals = max((len(text.replace(",", ".").partition(".")[2]) for text in texts), default=0)
    ways = max((len(wholes[k]) for k in tops), default=0)
    ways_that_fit = []
    for way in range(ways):
        bottoms = [wholes[k][way] if way < len(wholes[k]) else -1 for k in tops]
        if _fits(cells, numbers, tops, bottoms, 100.0, decimals):
            ways_that_fit.append((tops, bottoms, 100.0))
    if not ways_that_fit:
        return [DerivedNumber(block.grid.place(*place), "unknown", decimals=decimals, inside=True) for place in places]
    several = _told_apart(cells, numbers, ways_that_fit)
    return _shares(block, cells, places, ways_that_fit[0], decimals, inside=True, several=several)
