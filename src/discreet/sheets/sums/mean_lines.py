"""Columns and rows of means beside counts: whose mean each is, as weighted means of parts confirm."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.shares_in_words import PLAIN_MEAN
from discreet.sheets.sheet_layout import MEAN, DerivedNumber
from discreet.sheets.sums.axis_sums import SumTree
from discreet.sheets.sums.cell_map import CellMap

OTHER_STATISTIC = re.compile(
    r"\bmedian\w*|\bmédianes?\b|\bsd\b|\bstandard\b|\bse\b|\bvariance\b|\bratios?\b|\bchange\b|\bdifference\b"
    r"|\bgeometric\b|\bharmonic\b|\brank(ing)?\b|\bper\b|\brates?\b|\bci\b|\bpercentile\b|\bquartile\b",
    re.IGNORECASE,
)
"""Names that say of something called a mean that it is not the plain mean of those who are counted."""


def is_mean_name(name: str) -> bool:
    """Whether a header says that a column holds plain means.

    >>> is_mean_name("Mean age"), is_mean_name("Median age"), is_mean_name("Average change")
    (True, False, False)
    """
    words = name.replace("_", " ")
    return bool(PLAIN_MEAN.search(words)) and not OTHER_STATISTIC.search(words)


def mean_line(
    block: SheetBlock,
    cells: CellMap,
    trees: Sequence[SumTree],
    own: Sequence[tuple[int, int]],
    counts: Sequence[Sequence[int]],
    numbers: Sequence[float | None],
    decimals: int,
    names: Sequence[str],
) -> list[DerivedNumber]:
    """A line of means with the count that each is the mean of; none where that is not clear.

    ``counts``: per line of counts the cell beside each mean, −1 where there is none; ``names``: of the means, then of
    each line. A line is theirs if what is shown does not contradict it and it is the only one, or it alone passes a
    test in which a sum and all of its parts are shown, or its name stands in theirs ("Men", "Mean age of men").
    """
    if not is_mean_name(names[0]):
        return []
    tests = [_tested(cells, trees, line, numbers, decimals) for line in counts]
    possible = [k for k, (failed, _) in enumerate(tests) if not failed]
    fits = possible if len(counts) == 1 else [k for k in possible if tests[k][1]]
    if len(fits) != 1:
        fits = [k for k in _named(names) if k in possible]
    if len(fits) != 1:
        return []
    name = names[0]
    places = [cells.places[cell][0] if cell >= 0 else None for cell in counts[fits[0]]]
    if any(place is None and number is not None for place, number in zip(places, numbers, strict=True)):
        return []
    upright = len({column for _, column in own}) == 1
    return [
        DerivedNumber(block.grid.place(*place), MEAN, None, count, 1.0, decimals, line=name, upright=upright)
        for place, count in zip(own, places, strict=True)
        if count is not None
    ]


def _named(names: Sequence[str]) -> list[int]:
    """Lines of counts whose own words, those that not all of them have, stand in the name of the means.

    >>> _named(["Mean age of women", "Men n", "Women n"])
    [1]
    """
    mean, *lines = [set(re.findall(r"\w+", name.casefold())) for name in names]
    common = set.intersection(*lines)
    return [k for k, words in enumerate(lines) if words - common and words - common <= mean]


def _tested(
    cells: CellMap, trees: Sequence[SumTree], line: Sequence[int], numbers: Sequence[float | None], decimals: int
) -> tuple[int, int]:
    """Of how many sums, all numbers of which are shown, the mean is not and is the weighted mean of its parts."""
    mean_of = {cell: n for cell, n in zip(line, numbers, strict=True) if cell >= 0 and n is not None}
    failed = passed = 0
    for axis, tree in enumerate(trees):
        along = cells.cells_along(axis)
        place = {code: k for k, code in enumerate(cells.codes[axis])}
        for code, parts in _complete(tree).items():
            for column in along.T.tolist():
                whole, below = column[place[code]], [column[place[part]] for part in parts]
                if whole < 0 or whole not in mean_of:
                    continue
                fits = _is_weighted(cells, mean_of, whole, below, 0.5000001 * 10.0**-decimals)
                failed += fits is False
                passed += fits is True
    return failed, passed


def _complete(tree: SumTree) -> Mapping[str, Sequence[str]]:
    return {code: parts for code, parts in tree.children.items() if code not in tree.partly and len(parts) > 1}


def _is_weighted(
    cells: CellMap, mean_of: Mapping[int, float], whole: int, parts: Sequence[int], half: float
) -> bool | None:
    """Whether a mean is the weighted mean of its parts' to what rounding leaves; None where one is not shown."""
    there = [part for part in parts if part >= 0]
    if any(cells.hidden[cell] for cell in (whole, *there)):
        return None
    counted = [part for part in there if cells.values[part]]
    if len(counted) < 2 or any(part not in mean_of for part in counted):
        return None
    total = float(cells.values[whole])
    sums = sum(float(cells.values[part]) * mean_of[part] for part in counted)
    room = half * (total + sum(float(cells.values[part]) for part in counted))
    return abs(total * mean_of[whole] - sums) <= room
