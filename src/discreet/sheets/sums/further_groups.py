"""Labels that are sums of some others wherever these stand: "Non-white" behind the groups it adds up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.sheets.sums.axis_lines import ASK_AT_END, AxisLines
from discreet.sheets.sums.axis_sums import SumTree
from discreet.tables.groups import MOST_CODES
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK


def further_groups(
    codes: tuple[str, ...], lines: AxisLines, tree: SumTree
) -> tuple[SumTree, dict[str, tuple[str, ...]]]:
    """Leaves of a tree that are the sum of two or more others in every line, far beyond chance, and what they add up.

    Where a label called a total adds up some labels, and all left beside it are such sums, it is the total.
    """
    below = {part for parts in tree.children.values() for part in parts}
    beside = [code for code in codes if code not in below and code not in tree.children]
    named = [code for code in tree.children if code not in below and like_a_total(code) == USUAL]
    whole = named[0] if tree.total is None and len(named) == 1 and beside else None
    groups = _subsets(codes, lines, tree, set(beside) if whole else set())
    if whole is None:
        return tree, groups
    others = [code for code in (*beside, *tree.children) if code != whole and code not in below and code not in groups]
    return (tree if others else replace(tree, total=whole)), groups


def _subsets(codes: tuple[str, ...], lines: AxisLines, tree: SumTree, beside: set[str]) -> dict[str, tuple[str, ...]]:
    """Leaves that are sums of other leaves; those ``beside`` a total are expected to be, and less evidence will do."""
    leaves = [k for k, code in enumerate(codes) if code not in tree.children]
    full = lines.shown[leaves].all(axis=0) & lines.there[leaves].all(axis=0)
    values = lines.values[leaves][:, full]
    if not 2 < len(leaves) <= MOST_CODES or not values.shape[1] or (values < 0).any():
        return {}
    chosen = (np.arange(2 ** len(leaves))[:, None] >> np.arange(len(leaves))) & 1
    chosen = chosen[chosen.sum(axis=1) >= 2]
    counted = {part for parts in tree.children.values() for part in parts}  # once, in a sum that holds
    groups = {}
    for k, leaf in enumerate(leaves):
        bits = float(np.log2((1 + values[k]) / (1 + 6 * lines.allowed)).clip(0).sum())  # off by three numbers, at least
        if codes[leaf] in counted or bits < (ASK_AT_END if codes[leaf] in beside else ASK + len(leaves)):
            continue
        parts = _sums(chosen[chosen[:, k] == 0], values, values[k], lines.allowed)
        if len(parts) == 1:
            groups[codes[leaf]] = tuple(codes[leaves[n]] for n in np.flatnonzero(parts[0]))
    return {code: parts for code, parts in groups.items() if not set(parts) & set(groups)}


def _sums(chosen: Array, values: Array, wanted: Array, allowed: float) -> Array:
    """The sets of rows, none of them of nothing but zeros, whose sum is wanted in every column."""
    left = chosen
    for column, number in zip(values.T, wanted, strict=True):
        room = allowed * (left.sum(axis=1) + 1)
        left = left[np.abs(left @ column - number) <= room]
        if not len(left):
            break
    empty = ~values.any(axis=1)
    return np.asarray(left[~(left[:, empty] == 1).any(axis=1)])
