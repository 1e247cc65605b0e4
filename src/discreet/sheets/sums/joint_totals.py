"""Totals that a sheet gives only together: a last column "Total" above which the inner header is blank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.errors import InputError, many
from discreet.sheets.sums.axis_lines import ASK_AT_END, SURE, AxisLines
from discreet.sheets.sums.axis_sums import SumTree
from discreet.sheets.sums.cell_map import CellMap
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import option


def with_joint_totals(
    cells: CellMap, trees: Sequence[SumTree], said: Mapping[str, str | None], allowed: float
) -> list[SumTree]:
    """The trees with totals of several dimensions at once; a name of a total of which nothing shows is asked about."""
    _refuse_denied_blanks(cells, said)
    names = _unproved(cells, trees, said)
    alone = _alone(cells, trees, said)
    names |= alone
    if len(names) < 2:
        _refuse(cells, names)
        return list(trees)
    tops, plain = _topmost(cells, trees, names), {axis: _others(cells, axis, names) for axis in names}
    denied, confirmed, bits = _joint_evidence(cells, names, tops, allowed)
    if denied and any(trees[axis].in_doubt for axis in names):  # parts that numbers alone show, which may be chance
        again = _joint_evidence(cells, names, plain, allowed)
        if again[1] and not again[0]:
            (denied, confirmed, bits), tops = again, plain
    if alone:
        _ask_about_alone(cells, alone, denied, bits, said)
    elif denied or not (confirmed or cells.hidden.any()):
        _refuse(cells, names)
    joint = list(trees)
    for axis, top in tops.items():
        codes = cells.codes[axis]
        total = codes[names[axis]]
        parts = tuple(codes[k] for k in top)
        if tops is plain:
            joint[axis] = SumTree({total: parts}, total)
        else:
            joint[axis] = replace(trees[axis], children={**trees[axis].children, total: parts}, total=total)
    return joint


def _others(cells: CellMap, axis: int, names: Mapping[int, int]) -> list[int]:
    """All labels of a dimension but its total."""
    return [k for k in range(len(cells.codes[axis])) if k != names[axis]]


def _topmost(cells: CellMap, trees: Sequence[SumTree], names: Mapping[int, int]) -> dict[int, list[int]]:
    """By dimension the labels that are parts of no other but its total."""
    tops = {}
    for axis in names:
        held = {code: own for code, own in trees[axis].children.items() if code != _code(cells, axis, names)}
        below = {part for own in held.values() for part in own}
        tops[axis] = [k for k in _others(cells, axis, names) if cells.codes[axis][k] not in below]
    return tops


def _joint_evidence(
    cells: CellMap, names: Mapping[int, int], tops: Mapping[int, list[int]], allowed: float
) -> tuple[int, int, float]:
    """Lines that deny that the total of several dimensions at once is the sum of these labels, that show it, bits."""
    where = np.full(int(np.prod(cells.shape)), -1)
    where[cells.flat] = np.arange(len(cells.values))
    where = where.reshape(cells.shape)
    parts, whole = where, where
    for axis, top in sorted(tops.items()):
        parts = np.take(parts, top, axis=axis)
        whole = np.take(whole, [names[axis]], axis=axis)
    others = [axis for axis in range(len(cells.shape)) if axis not in names]
    order = (*names, *others)
    size = int(np.prod([cells.shape[axis] for axis in others]))
    along = np.concatenate([part.transpose(order).reshape(-1, size) for part in (whole, parts)])
    there = along >= 0
    values = np.where(there, np.nan_to_num(cells.values)[along], 0.0)
    lines = AxisLines(values, ~(there & cells.hidden[along]), there, allowed)
    denied, confirmed, bits, _ = lines.evidence(0, range(1, len(along)))
    return denied, confirmed, bits


def _code(cells: CellMap, axis: int, names: Mapping[int, int]) -> str:
    return cells.codes[axis][names[axis]]


def _refuse_denied_blanks(cells: CellMap, said: Mapping[str, str | None]) -> None:
    """Refuse to take items without a label for a category: nothing on the sheet calls them so."""
    for dim in cells.dimensions:
        if dim.blank is not None and dim.name in said and said[dim.name] is None:
            raise InputError(
                f"dimension {dim.name!r}: some rows or columns have no label of it, and {option(dim.name, None)} says "
                "that they are not its total; give them a label, or leave them aside by their header (leave=, --leave)"
            )


def _unproved(cells: CellMap, trees: Sequence[SumTree], said: Mapping[str, str | None]) -> dict[int, int]:
    """Labels with the name of a total in dimensions without one, by dimension."""
    names = {}
    for axis, (dim, codes, tree) in enumerate(zip(cells.dimensions, cells.codes, trees, strict=True)):
        below = {part for own in tree.children.values() for part in own}
        usual = [k for k, code in enumerate(codes) if like_a_total(code) == USUAL and code not in below]
        usual = [k for k in usual if codes[k] not in tree.children and codes[k] not in (tree.overlapping or {})]
        if tree.total is None and dim.name not in said and len(usual) == 1 and len(codes) > 1:
            names[axis] = usual[0]
    return names


def _alone(cells: CellMap, trees: Sequence[SumTree], said: Mapping[str, str | None]) -> dict[int, int]:
    """A label that stands only where that of another dimension is blank, and that blank, by dimension.

    "All persons" behind sexes by age, above no age: it is no category of the ages, and can only be the total of both.
    """
    for axis, dim in enumerate(cells.dimensions):
        if dim.blank is None:
            continue
        blank = cells.codes[axis].index(dim.blank)
        is_blank = cells.position[:, axis] == blank
        for other, tree in enumerate(trees):
            here = {*cells.position[is_blank, other].tolist()}
            elsewhere = {*cells.position[~is_blank, other].tolist()}
            name = cells.dimensions[other].name
            if other != axis and len(here) == 1 and not here & elsewhere and len(elsewhere) > 1:
                (only,) = here
                if tree.total in (None, cells.codes[other][only]) and said.get(name) is None:
                    return {other: only, axis: blank}
    return {}


def _ask_about_alone(
    cells: CellMap, alone: Mapping[int, int], denied: int, bits: float, said: Mapping[str, str | None]
) -> None:
    """Refuse a label above blank ones that is not shown to be the total of both dimensions."""
    outer, inner = alone
    name, code, below = cells.dimensions[outer].name, _code(cells, outer, alone), cells.dimensions[inner].name
    usual = like_a_total(code)
    enough = 0.0 if usual == USUAL else ASK_AT_END if usual else SURE
    if not denied and bits >= enough and bits > 0 and name not in said:
        return
    shown = (
        f"is not the sum of the others in {many(denied, 'line')}" if denied else "too little shows that it is the total"
    )
    raise InputError(
        f"dimension {name!r}: {code!r} has no labels of {below!r}, as a total of both has, but {shown}; if it is the "
        f"total say {option(name, code)}, if it is a category leave it aside by its header (leave={code!r}, --leave), "
        "as its parts are not on the sheet"
    )


def _refuse(cells: CellMap, names: Mapping[int, int]) -> None:
    for axis, k in names.items():
        name, code = cells.dimensions[axis].name, cells.codes[axis][k]
        raise InputError(
            f"dimension {name!r}: {code!r} is called like a total, and no sum on the sheet shows that it is one; if it "
            f"is the total say {option(name, code)}, if it is a category {option(name, None)}"
        )
