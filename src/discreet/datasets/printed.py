"""The printed tables of the papers, small enough to check by eye.

PSD14 is Antal, Shlomo and Elliot (2014), ODF03 is Oganian and Domingo-Ferrer (2003), LL21 is Lupp and Langsrud (2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.methods.by_hand import Hide
from discreet.methods.contract import protect
from discreet.release import Protected
from discreet.tables.table import Table

Counts = NDArray[np.int64]


def _frozen(rows: list[list[int]]) -> Counts:
    array = np.array(rows, dtype=np.int64)
    array.flags.writeable = False
    return array


TRAVEL = _frozen(
    [
        [8, 11, 7, 1, 44, 5, 3, 3, 47, 0, 126],
        [5, 4, 2, 0, 50, 2, 0, 7, 15, 1, 70],
        [3, 1, 8, 0, 18, 5, 0, 8, 26, 0, 122],
        [7, 1, 10, 0, 18, 4, 0, 5, 24, 0, 135],
        [3, 2, 4, 0, 17, 6, 0, 2, 26, 0, 107],
        [8, 2, 7, 1, 97, 9, 0, 8, 28, 1, 54],
        [5, 0, 8, 0, 29, 2, 1, 3, 14, 0, 88],
        [14, 1, 22, 1, 30, 4, 0, 4, 30, 0, 93],
        [10, 0, 8, 1, 23, 2, 0, 0, 17, 2, 78],
        [17, 9, 5, 1, 96, 3, 1, 2, 17, 4, 52],
    ]
)
SEX = _frozen(
    [
        [161, 141],
        [105, 94],
        [142, 116],
        [158, 154],
        [139, 90],
        [129, 90],
        [107, 107],
        [133, 147],
        [98, 115],
        [136, 87],
    ]
)
RELIGION = _frozen(
    [
        [181, 0, 0, 1, 17, 1, 1, 83, 18],
        [138, 2, 4, 2, 0, 0, 1, 36, 16],
        [130, 0, 0, 0, 22, 4, 1, 61, 40],
        [173, 0, 0, 1, 14, 4, 1, 97, 22],
        [142, 2, 5, 0, 15, 6, 1, 37, 21],
        [129, 0, 0, 0, 0, 0, 1, 69, 20],
        [118, 2, 0, 2, 24, 9, 1, 38, 20],
        [130, 0, 0, 0, 34, 1, 1, 82, 32],
        [148, 3, 0, 0, 0, 2, 1, 38, 21],
        [136, 1, 2, 0, 13, 0, 0, 55, 16],
    ]
)
# printed: rows 2,3 / 4 / 7 and, for rows 5 and 6, what WILLENBORG_HIDDEN and Table 2 say; the rest is ours (see below)
WILLENBORG = _frozen(
    [
        [80, 253, 54, 0, 0],
        [641, 3694, 2062, 746, 0],
        [400, 200, 700, 1337, 2000],
        [249, 206, 575, 1045, 1467],
        [78, 0, 890, 1719, 1743],
    ]
)
WILLENBORG_HIDDEN = (("5", "5"), ("5", "7"), ("6", "5"), ("6", "7"))  # (activity, size class): x1, x2, x3, x4
WILLENBORG_REDESIGNED = _frozen(
    [
        [80, 253, 54, 0, 0],
        [641, 3694, 2062, 746, 0],
        [649, 406, 1275, 2382, 3467],
        [78, 0, 890, 1719, 1743],
    ]
)
INJURIES = _frozen([[0, 0, 17, 0], [0, 3, 8, 0], [1, 0, 12, 0], [0, 1, 0, 14], [3, 2, 2, 0]])
INJURY_GROUPS = (
    "Oslo Car Driver",
    "Oslo Car Passenger",
    "Bergen Car Driver",
    "Bergen Car Passenger",
    "Trondheim Bicycle Driver",
)
INJURY = ("None", "Light", "Serious", "Unknown")


@checked
def psd14_travel() -> Table:
    """Output area by mode of travel to work, ages 16-74: PSD14 Table 3 (appendix), 10 x 11 cells."""
    return _output_areas(TRAVEL, "travel", "mode of travel", "PSD14 Table 3")


@checked
def psd14_sex() -> Table:
    """Output area by sex: PSD14 Table 4 (appendix), 10 x 2 cells, 2,449 persons."""
    return _output_areas(SEX, "sex", "sex", "PSD14 Table 4")


@checked
def psd14_religion() -> Table:
    """Output area by religion: PSD14 Table 5 (appendix), 10 x 9 cells, 2,449 persons."""
    return _output_areas(RELIGION, "religion", "religion", "PSD14 Table 5")


@checked
def willenborg() -> Table:
    """Economic activity by size class: ODF03 Table 1 (section 4.1), before its four cells were suppressed.

    Printed, or following from the print: the rows 2,3 and 4 and 7; that rows 5 and 6 add up to the combined row of
    Table 2; that the cells x1 to x4 of rows 5 and 6 in the size classes 5 and 7 are hidden, with x1 + x2 = 1537 and
    x3 + x4 = 1251.

    Ours: the values of x1 to x4 (200, 1337, 206, 1045) and how the size classes 4, 6 and 8 split between rows 5 and 6.
    The intervals an intruder can work out (0-406, 1131-1537, 0-406, 845-1251) do not depend on them.
    """
    source = "ODF03 Table 1, rows 5 and 6 reconstructed"
    return _activity_by_size(WILLENBORG, ("2,3", "4", "5", "6", "7"), source)


@checked
def willenborg_suppressed() -> Protected:
    """ODF03 Table 1 as printed: four cells of ``willenborg`` hidden, all totals published."""
    table = willenborg()
    return protect(table, Hide([{"activity": activity, "size": size} for activity, size in WILLENBORG_HIDDEN]))


@checked
def willenborg_redesigned() -> Table:
    """The same with the activities 5 and 6 combined: ODF03 Table 2 (section 4.3).

    The print gives 1148 as the first column's total; its cells and the grand total say 1448.
    """
    return _activity_by_size(WILLENBORG_REDESIGNED, ("2,3", "4", "5,6", "7"), "ODF03 Table 2")


@checked
def injuries() -> Table:
    """Persons in traffic accidents by group and injury: LL21 Table 1.

    The paper's groups are combinations of region, vehicle and traffic group; they are kept as one dimension because
    only these five are published.
    """
    return _injuries((0, 1, 2, 3, 4), "LL21 Table 1")


@checked
def injuries_figure() -> Table:
    """The car drivers of Oslo and Bergen only: the first table of LL21 Figure 1."""
    return _injuries((0, 2), "LL21 Figure 1")


def _output_areas(counts: Counts, variable: str, words: str, source: str) -> Table:
    areas, categories = (range(1, length + 1) for length in counts.shape)
    return Table.of(
        counts,
        dimensions=[Dimension.flat("area", areas), Dimension.flat(variable, categories)],
        title=f"Persons by output area and {words}",
        source=source,
    )


def _activity_by_size(counts: Counts, activities: tuple[str, ...], source: str) -> Table:
    return Table.of(
        counts,
        dimensions=[Dimension.flat("activity", activities), Dimension.flat("size", range(4, 9))],
        title="Economic activity by size class",
        source=source,
    )


def _injuries(rows: tuple[int, ...], source: str) -> Table:
    groups = [INJURY_GROUPS[row] for row in rows]
    return Table.of(
        INJURIES[list(rows)],
        dimensions=[Dimension.flat("group", groups), Dimension.flat("injury", INJURY)],
        title="Persons in traffic accidents by group and injury",
        source=source,
    )
