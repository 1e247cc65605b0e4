"""Totals that a sheet gives only together: a last column "Total" above which the inner header is blank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.errors import InputError
from discreet.sheets.sums.axis_sums import AxisLines, SumTree
from discreet.sheets.sums.cell_map import CellMap
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import option


def with_joint_totals(
    cells: CellMap, trees: Sequence[SumTree], said: Mapping[str, str | None], allowed: float
) -> list[SumTree]:
    """The trees with totals of several dimensions at once; a name of a total of which nothing shows is asked about."""
    names = _unproved(cells, trees, said)
    if len(names) < 2:
        _refuse(cells, names)
        return list(trees)
    where = np.full(int(np.prod(cells.shape)), -1)
    where[cells.flat] = np.arange(len(cells.values))
    where = where.reshape(cells.shape)
    parts, whole = where, where
    tops = {}
    for axis in range(len(cells.shape)):
        if axis not in names:
            continue
        below = {part for own in trees[axis].children.values() for part in own}
        top = [k for k, code in enumerate(cells.codes[axis]) if code not in below and k != names[axis]]
        tops[axis] = top
        parts = np.take(parts, top, axis=axis)
        whole = np.take(whole, [names[axis]], axis=axis)
    others = [axis for axis in range(len(cells.shape)) if axis not in names]
    order = (*names, *others)
    size = int(np.prod([cells.shape[axis] for axis in others]))
    along = np.concatenate([part.transpose(order).reshape(-1, size) for part in (whole, parts)])
    there = along >= 0
    values = np.where(there, np.nan_to_num(cells.values)[along], 0.0)
    lines = AxisLines(values, ~(there & cells.hidden[along]), there, allowed)
    denied, confirmed, _, _ = lines.evidence(0, range(1, len(along)))
    if denied or not (confirmed or cells.hidden.any()):
        _refuse(cells, names)
    joint = list(trees)
    for axis, top in tops.items():
        codes = cells.codes[axis]
        total = codes[names[axis]]
        children = {**trees[axis].children, total: tuple(codes[k] for k in top)}
        joint[axis] = replace(trees[axis], children=children, total=total)
    return joint


def _unproved(cells: CellMap, trees: Sequence[SumTree], said: Mapping[str, str | None]) -> dict[int, int]:
    """Labels with the name of a total in dimensions without one, by dimension."""
    names = {}
    for axis, (dim, codes, tree) in enumerate(zip(cells.dimensions, cells.codes, trees, strict=True)):
        below = {part for own in tree.children.values() for part in own}
        usual = [k for k, code in enumerate(codes) if like_a_total(code) == USUAL and code not in below]
        usual = [k for k in usual if codes[k] not in tree.children]
        if tree.total is None and dim.name not in said and len(usual) == 1 and len(codes) > 1:
            names[axis] = usual[0]
    return names


def _refuse(cells: CellMap, names: Mapping[int, int]) -> None:
    for axis, k in names.items():
        name, code = cells.dimensions[axis].name, cells.codes[axis][k]
        raise InputError(
            f"dimension {name!r}: {code!r} is called like a total, and no sum on the sheet shows that it is one; if it "
            f"is the total say {option(name, code)}, if it is a category {option(name, None)}"
        )
