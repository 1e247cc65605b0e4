"""Labels that are sums of some others wherever these stand: "Non-white" behind the groups it adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import listed
from discreet.sheets.sums.axis_lines import ASK_AT_END, AxisLines
from discreet.sheets.sums.axis_sums import SumTree
from discreet.sheets.sums.sum_runs import runs_to
from discreet.tables.groups import MOST_CODES
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK, option


def further_groups(
    codes: tuple[str, ...], lines: AxisLines, tree: SumTree
) -> tuple[SumTree, dict[str, tuple[str, ...]]]:
    """Leaves of a tree that are the sum of two or more others in every line, far beyond chance, and what they add up.

    Where a label called a total adds up some labels, and all left beside it are such sums, it is the total.
    """
    tree = _with_parts_elsewhere(codes, lines, tree)
    below = {part for parts in tree.children.values() for part in parts}
    beside = [code for code in codes if code not in below and code not in tree.children]
    named = [code for code in tree.children if code not in below and like_a_total(code) == USUAL]
    whole = named[0] if tree.total is None and len(named) == 1 and beside else None
    groups = _subsets(codes, lines, tree, set(beside) if whole else set())
    if whole is None:
        return tree, groups
    others = [code for code in (*beside, *tree.children) if code != whole and code not in below and code not in groups]
    return (tree if others else replace(tree, total=whole)), groups


def _with_parts_elsewhere(codes: tuple[str, ...], lines: AxisLines, tree: SumTree) -> SumTree:
    """The tree in which a part of a sum that adds up labels outside of it stands above these, wherever they are."""
    children = dict(tree.children)
    place = {code: k for k, code in enumerate(codes)}
    for part in [part for parts in tree.children.values() for part in parts if part not in tree.children]:
        below = {own for parts in children.values() for own in parts}
        free = [place[code] for code in codes if code not in below and code not in children]
        if not 1 < len(free) <= MOST_CODES:
            continue
        rows = [place[part], *free]
        full = lines.shown[rows].all(axis=0) & lines.there[rows].all(axis=0)
        wanted, values = lines.values[place[part]][full], lines.values[free][:, full]
        bits = float(np.log2((1 + np.abs(wanted)) / (1 + 6 * lines.allowed)).clip(0).sum())
        if bits < ASK + len(free) or (values < 0).any():
            continue
        chosen = (np.arange(2 ** len(free))[:, None] >> np.arange(len(free))) & 1
        parts = _sums(chosen[chosen.sum(axis=1) >= 2], values, wanted, lines.allowed)
        if len(parts) == 1:
            children[part] = tuple(codes[free[n]] for n in np.flatnonzero(parts[0]))
    if len(children) == len(tree.children):
        return tree
    more = [
        f"{code!r} is the sum of {listed(parts, 4)} in every line"
        for code, parts in children.items()
        if code not in tree.children
    ]
    return replace(tree, children=children, assumed=(*tree.assumed, *more))


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
    groups: dict[int, list[int]] = {}
    before = -1
    while before < len(groups):  # what adds up such a group and others adds up their parts, in one way
        before = len(groups)
        finest = chosen[~(chosen[:, list(groups)] == 1).any(axis=1)]
        found: dict[int, list[int]] = {}
        for k, leaf in enumerate(leaves):
            bits = float(np.log2((1 + values[k]) / (1 + 6 * lines.allowed)).clip(0).sum())  # off by three numbers
            least = ASK_AT_END if codes[leaf] in beside else ASK + len(leaves)
            if k in groups or codes[leaf] in counted or bits < least:
                continue
            parts = _sums(finest[finest[:, k] == 0], values, values[k], lines.allowed)
            if len(parts) == 1:
                found[k] = np.flatnonzero(parts[0]).tolist()
        groups |= {k: parts for k, parts in found.items() if not set(parts) & set(found)}
    return {codes[leaves[k]]: tuple(codes[leaves[n]] for n in parts) for k, parts in groups.items()}


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


def with_nested_groupings(name: str, codes: Sequence[str], lines: AxisLines, tree: SumTree) -> SumTree:
    """The tree in which a grouping of a total whose labels add up those of another one stands above that one.

    So "Within target" and "Over target" stand above the bands of a waiting time, wherever these are on the sheet.
    """
    if tree.total is not None:
        return tree
    place = {code: k for k, code in enumerate(codes)}
    below = {part for parts in tree.children.values() for part in parts}
    top = [place[code] for code in codes if code not in below]
    children = {place[code]: [place[part] for part in parts] for code, parts in tree.children.items()}
    for whole in [k for k in top if k in children and codes[k] not in tree.partly]:
        runs, left = runs_to(lines, whole, [k for k in top if k != whole])
        added = _below_each_other(lines, [children[whole], *runs], children) if runs else None
        if added is None:
            continue
        apart, divided = added
        tree_of = {**children, whole: apart[0], **divided}
        sentences = [
            f"{codes[k]!r} is the sum of {listed([codes[part] for part in parts], 4)}, proved in every line; "
            f"{option(name, None)} if that is chance"
            for k, parts in divided.items()
        ]
        return replace(
            tree,
            children={codes[k]: tuple(codes[part] for part in parts) for k, parts in tree_of.items()},
            total=codes[whole] if len(apart) == 1 and not left else None,
            assumed=(*tree.assumed, *sentences),
        )
    return tree


def _below_each_other(
    lines: AxisLines, groupings: Sequence[list[int]], children: Mapping[int, Sequence[int]]
) -> tuple[list[list[int]], dict[int, list[int]]] | None:
    """The groupings that are not below others, and what labels of others add up; None if none does."""
    apart: list[list[int]] = []
    divided: dict[int, list[int]] = {}
    above: list[list[int]] = []
    for finer in sorted(groupings, key=len):
        for coarser in reversed(above):
            free = len(coarser) < len(finer) and not any(k in children or k in divided for k in coarser)
            if free and (found := _divided(lines, coarser, finer)):
                divided |= found
                break
        else:
            apart.append(finer)
        above.append(finer)
    return (apart, divided) if divided else None


def _divided(lines: AxisLines, wholes: Sequence[int], parts: Sequence[int]) -> dict[int, list[int]]:
    """What each label of a grouping adds up of a finer one, every label of it once; empty if it does not.

    What all but one of them prove is looked at: that the last one adds up follows from the total.
    """
    bits = lines.bits[list(wholes)]
    proof = float(bits.sum() - bits.max()) - ASK_AT_END
    if proof >= 2 * np.log2(len(parts)) and (found := _in_runs(lines, wholes, parts)):
        return found
    full = lines.shown[[*wholes, *parts]].all(axis=0) & lines.there[[*wholes, *parts]].all(axis=0)
    values = lines.values[:, full]
    if len(parts) > MOST_CODES or proof < len(parts) or not full.any() or (values < 0).any():
        return {}
    chosen = (np.arange(1, 2 ** len(parts))[:, None] >> np.arange(len(parts))) & 1
    fits = [_sums(chosen, values[list(parts)], values[whole], lines.allowed) for whole in wholes]
    if any(len(fit) != 1 for fit in fits) or (sum(fit[0] for fit in fits) > 1).any():
        return {}
    found = {k: [parts[n] for n in np.flatnonzero(fit[0]).tolist()] for k, fit in zip(wholes, fits, strict=True)}
    over = [k for k in parts if not any(k in own for own in found.values())]
    found[wholes[-1]] += over
    return (
        found if not lines.values[over].any() and not any(lines.evidence(k, own)[0] for k, own in found.items()) else {}
    )


def _in_runs(lines: AxisLines, wholes: Sequence[int], parts: Sequence[int]) -> dict[int, list[int]]:
    """The parts in runs, one for each whole in their order, that leave none over but zeros; empty if there are none."""
    found: dict[int, list[int]] = {}
    at = 0
    for whole in wholes:
        for end in range(at + 1, len(parts) + 1):
            denied, confirmed, _, short = lines.evidence(whole, parts[at:end])
            if (confirmed and not denied) or (denied and not short):
                break
        else:
            return {}
        if denied:
            return {}
        found[whole] = [*parts[at:end]]
        at = end
    over = list(parts[at:])
    found[wholes[-1]] += over
    return found if lines.shown[over].all() and not lines.values[over].any() else {}
