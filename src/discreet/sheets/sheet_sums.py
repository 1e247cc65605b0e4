"""What adds up what in every dimension of a sheet, and what is said of it; blank cells that leave it open are asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.block_cells import quoted_name
from discreet.sheets.blocks.implied_indents import OF_WHICH
from discreet.sheets.blocks.quotient_lines import SAY_BASES
from discreet.sheets.blocks.sheet_blocks import SheetBlock
from discreet.sheets.sheet_options import SheetOptions
from discreet.sheets.sums.axis_sums import SumTree, find_sums
from discreet.sheets.sums.cell_map import CellMap
from discreet.sheets.sums.further_groups import further_groups, with_nested_groupings
from discreet.sheets.sums.groupings import Groupings, find_groupings
from discreet.sheets.sums.joint_totals import with_joint_totals
from discreet.sheets.sums.share_pairs import Pairs
from discreet.tables import totals

IS_PARTLY = re.compile(rf"\b(?:{OF_WHICH})\b", re.IGNORECASE)

ROOMS = (0.5, 2.5, 5.0)
"""Units per part by which totals that need not add up may be off, to be found by their numbers."""


@dataclass(frozen=True, eq=False)
class SheetSums:
    """Of every dimension what adds up what; ``groupings`` of those whose labels group one total in several ways."""

    trees: list[SumTree]
    further: list[dict[str, tuple[str, ...]]]
    groupings: dict[int, Groupings]
    said: Mapping[str, str | None]
    allowed: float


def sheet_sums(block: SheetBlock, cells: CellMap, pairs: Pairs, options: SheetOptions) -> SheetSums:
    """The sums of a sheet as far as labels and numbers show them; raises where they are in doubt."""
    said = _stated_totals(cells, options)
    named = {} if options.total is None else said
    partly = options.partly or any(IS_PARTLY.search(code) for codes in cells.codes for code in codes)
    whole = not cells.decimals or options.value is not None
    if not whole:
        raise InputError(
            f"{quoted_name(block.grid)} {block.range.address}: some numbers of the table are not whole, so they are "
            "not counts; for percentages and means name their headers (percent=, --percent; leave=, --leave) or those "
            f"of the counts (measure=, --measure); if all are percentages, {SAY_BASES}; if all are means, name the "
            "sheet or the range of the counts alone (sheets=, --sheet; range=, --range); for sums of a magnitude say "
            "what it is (value='turnover', --value turnover)"
        )
    loose = 0.5 if options.value is not None and cells.decimals else options.tolerance
    allowed = max(loose * 10.0**-cells.decimals, options.rounding)
    try:
        trees = _trees(cells, allowed, named, partly, pairs, options, block.grid.sheet)
        trees = with_joint_totals(cells, trees, named, allowed)
    except InputError as error:
        if cells.unclear.any():
            raise blank_error(block, cells) from error
        raise
    further: list[dict[str, tuple[str, ...]]] = [{} for _ in trees]
    groupings = {}
    for axis, (dim, codes) in enumerate(zip(cells.dimensions, cells.codes, strict=True)):
        denied = dim.name in named and named[dim.name] is None
        lines = cells.lines(axis, allowed)
        if options.totals == "check" and not denied:
            trees[axis] = with_nested_groupings(dim.name, codes, lines, trees[axis])
            trees[axis], further[axis] = further_groups(codes, lines, trees[axis])
        own = find_groupings(dim.name, codes, lines, trees[axis], further[axis], partly=partly, said=named)
        groupings.update({axis: own} if own is not None else {})
    return SheetSums(trees, further, groupings, named, allowed)


def _stated_totals(cells: CellMap, options: SheetOptions) -> dict[str, str | None]:
    """What is said of the total of each dimension; a total that is said must be a label of the sheet, or of another."""
    codes = {dim.name: own for dim, own in zip(cells.dimensions, cells.codes, strict=True)}
    total = options.total
    if options.several:
        if isinstance(total, Mapping):
            total = {n: code for n, code in total.items() if n in codes and (code is None or code in codes[n])}
        elif total is not None and not any(total in own for own in codes.values()):
            total = None
    said = totals.stated(total, list(codes), codes)
    for name, code in said.items():
        if code is not None and code not in codes[name]:
            raise InputError(
                f"dimension {name!r} does not have the total {code!r}; its labels are {listed(codes[name], 6)}"
            )
    if isinstance(total, str) and not any(total in own for own in codes.values()):
        raise InputError(
            f"no dimension has the total {total!r} (total=, --total); dimensions are {listed(list(codes))}"
        )
    return said


def _trees(
    cells: CellMap,
    allowed: float,
    said: Mapping[str, str | None],
    partly: bool,
    pairs: Pairs,
    options: SheetOptions,
    title: str,
) -> list[SumTree]:
    """The sums of every dimension; where totals need not add up they are looked for with more and more tolerance."""
    unit = 10.0**-cells.decimals
    wider = () if options.totals == "check" else tuple(allowed + room * unit for room in ROOMS)
    trees = []
    for axis, (dim, codes) in enumerate(zip(cells.dimensions, cells.codes, strict=True)):
        shown = {**dim.parents, **options.parents.get(dim.name, {})}
        parents = {c: p for c, p in shown.items() if c in codes and p in codes}
        sums = partial(
            find_sums,
            dim.name,
            codes,
            parents=parents,
            said=said,
            partly=partly,
            short_total=options.partly,
            pairs=pairs.get(dim.name, ()),
            headed=dim.headed,
            title=title,
        )
        tree = None
        for room in (allowed, *wider):
            try:
                tree = sums(cells.lines(axis, room))
            except InputError:
                if not wider:
                    raise
            if tree is not None and (not wider or _is_whole(tree, partly)):
                break
        if tree is None or (wider and not _is_whole(tree, partly)):
            tree = sums(cells.lines(axis, allowed), trusted=True)
        trees.append(tree)
    return trees


def _is_whole(tree: SumTree, partly: bool) -> bool:
    """Whether a tree has a total, and its parts leave no remainder that nobody spoke of."""
    return tree.total is not None and (partly or not tree.partly)


class BlankCellsError(InputError):
    """Blank cells or dashes of which nobody said what they mean."""


def blank_error(block: SheetBlock, cells: CellMap) -> BlankCellsError:
    """The question about blank cells of a table, with the address of the first."""
    unclear = np.flatnonzero(cells.unclear)
    first = cells.places[int(unclear[0])][0]
    text = block.grid.text(first.row, first.column)
    if text:
        return BlankCellsError(
            f"{block.grid.source!r}: {many(len(unclear), 'cell holds', 'cells hold')} {text!r} or are blank (the first "
            f"is {first.address}), and sums do not show what that means; say zero={text!r} (--zero) if it is a zero, "
            f"suppressed={text!r} (--suppressed) if a number is hidden, blank='zero' (--blank) for blank cells"
        )
    return BlankCellsError(
        f"{block.grid.source!r}: {many(len(unclear), 'cell of the table is', 'cells of the table are')} blank (the "
        f"first is {first.address}), and sums do not show what that means; say blank='zero' (--blank) if nothing is "
        "there, blank='hidden' if a number is not shown, blank='none' if such a cell cannot exist"
    )
