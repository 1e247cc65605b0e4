"""Tables on sheets as people publish them, as releases: numbers, marks, and what percentages beside them say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.joined.publication import Rounding
from discreet.audits.joined.published_copy import read_copy
from discreet.audits.joined.unjudged_cells import unjudged_figures, unjudged_places
from discreet.base.annotations import Array
from discreet.base.naming import unused
from discreet.errors import InputError, listed, many
from discreet.release import Release
from discreet.sheets.blocks.cell_reading import NUMERIC, read_cell
from discreet.sheets.reading_sheets import read_tables
from discreet.sheets.rewrite.number_look import without_share
from discreet.sheets.sheet_grid import CellPlace, SheetGrid
from discreet.sheets.sheet_layout import CHANGE, DIFFERENCE, MEAN, DerivedNumber
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sheet_table import SheetTable
from discreet.sheets.sums.axis_sums import WRONG_TOTALS
from discreet.sheets.sums.remainders import REST, SMALL
from discreet.sheets.sums.sum_questions import AND_ROUNDED, IF_ROUNDED, TAKE_SUMS
from discreet.tables.means import Means
from discreet.tables.quotients import Quotient
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns, number_cells
from discreet.tables.reading.number_marks import FLAG, UNAVAILABLE, ZERO, number_range, plain_mark
from discreet.tables.reading.raw_table import NOT_AVAILABLE
from discreet.tables.totals import Totals

if TYPE_CHECKING:
    from discreet.tables.published import Published


PUBLISHED = {
    IF_ROUNDED: "if numbers were rounded say the base (--rounded)",
    AND_ROUNDED: "the base (--rounded) if numbers were rounded",
    TAKE_SUMS: "",
    WRONG_TOTALS: "or leave the total out",
}
"""What is said of sums that are off, of a table that is judged as it was published."""


SMALL_RESTS = (
    f"what listed parts leave of a total is taken for a number that was to be hidden if it is smaller than {SMALL}; if "
    "only smaller ones were to be, say from which count on one may be known: --hidden-under N"
)


def sheet_releases(
    path: Path,
    total: Totals = None,
    signs: NumberSigns = PLAIN_SIGNS,
    options: Mapping[str, Any] | None = None,
    *,
    rounding: Rounding | None = None,
) -> dict[str, Release]:
    """Every table of a file in a layout of its own, by file and sheet; ``options`` are those of ``read_tables``.

    ``original`` among them: the file of which this one is a published copy, read as that one is.
    """
    stated = signs.marks.stated
    said: dict[str, Any] = {
        **dict(options or {}),
        "decimal": signs.decimal,
        "thousands": signs.thousands,
        "zero": [mark for mark, meaning in stated.items() if meaning == ZERO],
        "suppressed": [mark for mark, meaning in stated.items() if meaning not in (ZERO, FLAG)],
        "flag": [mark for mark, meaning in stated.items() if meaning == FLAG],
    }
    if total is not None:
        said["total"] = total
    said["rounding"] = 0.0 if rounding is None else rounding.allowance
    original = said.pop("original", None)
    try:
        tables = read_tables(path, **said) if original is None else read_copy(path, original, **said)
    except InputError as error:
        words = str(error)
        for text, instead in PUBLISHED.items():
            words = words.replace(text, instead)
        raise InputError(words) from error
    names = [path.name if len(tables) == 1 else f"{path.name} {table.grid.sheet}".strip() for table in tables]
    releases: dict[str, Release] = {}
    for name, table in zip(names, tables, strict=True):
        own = name if names.count(name) == 1 else f"{name} {table.layout.range.address}"
        if own in releases:  # variables that have their total in common may stand between the same corners
            own = unused(f"{own} {table.dimensions[0].name}", releases)
        releases[own] = of_sheet(table, signs, unjudged_places(table, tables), rounded=rounding is not None)
        if said.get("hidden_under") is None and any(_is_rest(code) for d in table.dimensions for code in d.codes):
            releases[own] = replace(releases[own], assumed=(*releases[own].assumed, SMALL_RESTS))
    return releases


def _is_rest(code: str) -> bool:
    return code.endswith(f": {REST}")


def of_sheet(
    table: SheetTable,
    signs: NumberSigns = PLAIN_SIGNS,
    unjudged: Sequence[CellPlace] = (),
    *,
    rounded: bool = False,
) -> Release:
    """What the world sees of one table on a sheet; ``unjudged``: cells beside it with figures that nobody judges."""
    published = _with_marks(table, signs)
    something_open = rounded or bool(np.isnan(published.values[table.measure]).any())
    row_of = {place: row for row, codes in enumerate(_codes(published)) for place in table.places.get(codes, ())}
    quotients, unknown, ambiguous = [], 0, 0
    means, no_means = sheet_means(table, row_of, len(published.codes), rounded=rounded)
    unknown += no_means
    elsewhere = [(other.grid, derived) for other in table.share_tables for derived in other.percentages]
    for grid, derived in [*((table.grid, derived) for derived in table.percentages), *elsewhere]:
        if derived.kind == MEAN and derived.denominator is not None:
            continue
        shown = _number(grid, derived)
        if shown is None:
            unknown += _holds_figures(grid, derived)
            continue
        if derived.ambiguous:  # an interval by the wrong one of two shares might not hold the truth
            ambiguous += 1
            continue
        top, base = derived.numerator, derived.denominator
        if top is None or base is None or top not in row_of or base not in row_of:
            unknown += 1
            continue
        if derived.kind == DIFFERENCE:
            values = published.values[table.measure]
            unknown += rounded or bool(np.isnan(values[[row_of[top], row_of[base]]]).any())
            continue
        shown += 100.0 if derived.kind == CHANGE else 0.0  # by 5 % more is 105 %
        quotients.append(
            Quotient(row_of[top], row_of[base], shown, derived.decimals, derived.scale, derived.place.address)
        )
    doubts = list(published.doubts)
    if unknown and something_open:
        doubts.append(
            f"what {many(unknown, 'percentage')} or means beside the numbers are of could not be confirmed, so that "
            "more may be known than this audit sees: name the column of counts, or take them out"
        )
    if ambiguous and something_open:
        doubts.append(
            f"{many(ambiguous, 'percentage beside the numbers', 'percentages beside the numbers')} may be shares of "
            "different numbers, all of which fit what is shown, so that more may be known than this audit sees: take "
            "them out, or show what they are shares of"
        )
    if unjudged and something_open:
        doubts.append(unjudged_figures(unjudged))
    release = Release.of_file(replace(published, doubts=tuple(doubts)))
    told = [*release.assumed, *table.assumed]
    if quotients and np.isnan(published.values[table.measure]).any():
        first = quotients[0].place
        told.append(f"percentages beside the numbers say more of those that are hidden (the first: {first})")
    if means and something_open:
        names = listed([one.name for one in means], 3)
        told.append(f"{names}: taken as the mean of those who are counted beside it, so that sums behind it add up")
    return replace(
        release,
        assumed=tuple(told),
        quotients={table.measure: tuple(quotients)} if quotients else {},
        means={table.measure: means} if means else {},
    )


def sheet_means(
    table: SheetTable, row_of: Mapping[CellPlace, int], size: int, *, rounded: bool
) -> tuple[tuple[Means, ...], int]:
    """Lines of means on a sheet as means of its rows, and how many numbers of them cannot be taken so.

    Lines that are of different counts are taken together, as means of one thing: what then follows at most.
    """
    lines: dict[str, dict[int, float]] = {}
    decimals: dict[str, int] = {}
    unknown = 0
    for derived in table.percentages:
        if derived.kind != MEAN or derived.denominator is None:
            continue
        shown = _number(table.grid, derived)
        row = row_of.get(derived.denominator)
        if row is None or (shown is None and _holds_figures(table.grid, derived)) or (rounded and shown is not None):
            unknown += 1
            continue
        line = f"{derived.line}\n{derived.place.column if derived.upright else derived.place.row}"
        lines.setdefault(line, {})[row] = np.nan if shown is None else shown
        decimals[line] = derived.decimals
    merged: list[tuple[str, dict[int, float], int]] = []
    for line, values in lines.items():
        for k, (name, held, places) in enumerate(merged):
            if not held.keys() & values.keys() and places == decimals[line]:
                merged[k] = (name, {**held, **values}, places)
                break
        else:
            merged.append((line.partition("\n")[0], values, decimals[line]))
    return tuple(Means(name, _laid(values, size), places) for name, values, places in merged), unknown


def _laid(values: Mapping[int, float], size: int) -> Array:
    """Numbers of rows as an array over all rows, NaN where there is none."""
    laid = np.full(size, np.nan)
    laid[list(values)] = list(values.values())
    return laid


def _codes(published: Published) -> list[tuple[str, ...]]:
    dims = published.dimensions
    return [tuple(d.codes[c] for d, c in zip(dims, row, strict=True)) for row in published.codes.tolist()]


def _with_marks(table: SheetTable, signs: NumberSigns) -> Published:
    """The rows with what a caller says of marks, and with ranges from one on unless zeros are hidden."""
    published, marks, measure = table.published, signs.marks, table.measure
    status = np.array(published.status, object)
    size = len(status)
    least, most = published.ranges.get(measure, (np.full(size, -np.inf), np.full(size, np.inf)))
    least, most, assumed = least.copy(), most.copy(), []
    values = published.values[measure]
    for row, codes in enumerate(_codes(published)):
        places = table.places.get(codes, ())
        text = table.grid.text(places[0].row, places[0].column) if places and np.isnan(values[row]) else ""
        meaning = marks.meaning(text) if text else None
        if meaning == UNAVAILABLE:
            status[row] = NOT_AVAILABLE
        elif meaning is not None and number_range(meaning) is not None:
            decimals = published.decimals[measure]
            shown = ["0." + "0" * decimals] if decimals else []
            read = number_cells([meaning, *shown], table.name, plain=False, signs=replace(signs, decimal="."))
            if read.ranges is not None:
                least[row], most[row] = read.ranges[0][0], read.ranges[1][0]
                assumed += [f"{plain_mark(text)!r}: {words}" for words in read.assumed if words not in assumed]
    known = np.isfinite(least) | np.isfinite(most)
    ranges = {**published.ranges, measure: (least, most)} if known.any() else published.ranges
    unique = tuple(dict.fromkeys(words.partition(": ")[2] for words in assumed))
    return replace(
        published,
        status=status.astype(str),
        ranges=ranges,
        assumed=(*published.assumed, *unique),
        zeros_hidden=marks.zero_or_less,
    )


def _holds_figures(grid: SheetGrid, derived: DerivedNumber) -> bool:
    """Whether a cell that is called a percentage holds figures that were not read as a number."""
    text = grid.text(derived.place.row, derived.place.column)
    text = text.replace(without_share(text), "", 1) if derived.inside else text
    return any(sign.isdecimal() for sign in text)


def _number(grid: SheetGrid, derived: DerivedNumber) -> float | None:
    """The percentage that stands in a place, None where none is shown."""
    cell = read_cell(grid.cells.get((derived.place.row, derived.place.column)), SheetOptions())
    if derived.inside:
        text = "" if cell.share is None else cell.share.rstrip("% ")
    elif cell.kind != NUMERIC:
        return None
    elif cell.number is not None:
        return cell.number
    else:
        text = cell.digits
    try:
        return float(text.replace(" ", "").replace(",", "."))
    except ValueError:
        return None
