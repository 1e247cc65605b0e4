"""Rules on what a whole line of a table says about the people in it: group, direct and k-disclosure [LL21]_.

A *line* is a cell and the cells that one variable divides it into. If nearly all of its people stand in one of them,
whoever is known to be in the line is known to be there too, however large the counts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.arguments import whole as check_whole
from discreet.base.kinds import is_whole
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.rules.base import Rule, Sums
from discreet.rules.notation import percent, rule_text
from discreet.tables.layout import Layout
from discreet.tables.table import Table

Values = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Pairs:
    """Parts and wholes: cells of the extended layout that differ in one dimension, part inside whole."""

    layout: Layout
    count: Array
    published: Array  # number of each extended cell in the table, −1 for one that only a union makes
    part: Array
    whole: Array
    axis: Array

    def differences(self, at: Array, allowed: Array, k: int) -> Sums:
        """The sums of inner cells in the whole but not in the part, for some pairs, each once.

        Each must be able to exceed what is ``allowed`` to be known of it.
        """
        from scipy.sparse import csc_array

        columns = self.layout.matrix.tocsc()
        difference = csc_array(columns[:, self.whole[at]] - columns[:, self.part[at]])
        difference.eliminate_zeros()
        difference.sort_indices()
        keys = [
            difference.indices[difference.indptr[j] : difference.indptr[j + 1]].tobytes()
            for j in range(difference.shape[1])
        ]
        first = sorted({key: j for j, key in reversed(list(enumerate(keys))) if key}.values())
        above = allowed + 1 - (self.count[self.whole[at]] - self.count[self.part[at]])
        return Sums(csc_array(difference[:, first]), np.maximum(above[first], 1).astype(float), k)


def pairs(table: Table, sensitive: Sequence[str] | None, unions: Values | None) -> Pairs:
    """All pairs of part and whole along the sensitive dimensions (all by default), user-given unions included."""
    layout, names = _extended(table, unions or {}), [d.name for d in table.dimensions]
    for name in sensitive or ():
        table.layout.axis(name)
    flat = layout.flat
    order = np.argsort(flat)
    strides = [int(np.prod(layout.code_shape[k + 1 :])) for k in range(len(names))]
    part, whole, axis = [], [], []
    for k, dimension in enumerate(layout.dimensions):
        if sensitive is not None and dimension.name not in sensitive:
            continue
        for a, b in _containments(dimension):
            cells = np.flatnonzero(layout.codes[:, k] == a)
            wanted = flat[cells] + (b - a) * strides[k]
            at = np.minimum(np.searchsorted(flat, wanted, sorter=order), len(flat) - 1)
            present = flat[order[at]] == wanted
            part.append(cells[present])
            whole.append(order[at[present]])
            axis.append(np.full(int(present.sum()), k))
    joined = [np.concatenate(x) if x else np.empty(0, np.int64) for x in (part, whole, axis)]
    return Pairs(layout, layout.aggregate(table.statistic("count").inner), _published(table, layout), *joined)


def _extended(table: Table, unions: Values) -> Layout:
    """The layout with one more group for every union of values, wherever its values are published."""
    dimensions, blocks = list(table.dimensions), [list(b) for b in table.layout.blocks]
    for name, value_sets in unions.items():
        k = table.layout.axis(name)
        old = dimensions[k]
        dimension = old
        for values in value_sets:
            codes = [str(v) for v in ([values] if isinstance(values, str) else values)]
            if len(codes) < 2:
                raise InputError(f"a union of values of {name!r} joins at least two codes, not {codes}")
            dimension = dimension.with_group(" + ".join(codes), [old.codes[old.index(c)] for c in codes])
        new = [c for c in dimension.codes if c not in old.position]
        for block in blocks:
            block[k] = np.array([dimension.position[old.codes[c]] for c in block[k]], np.int64)
            shown_codes = {dimension.codes[c] for c in block[k]}
            extra = [dimension.position[c] for c in new if shown_codes & set(c.split(" + "))]
            block[k] = np.concatenate([block[k], np.array(extra, np.int64)])
        dimensions[k] = dimension
    if not unions:
        return table.layout
    return Layout(tuple(dimensions), tuple(tuple(b) for b in blocks), table.layout.possible)


def _containments(dimension: Dimension) -> Iterator[tuple[int, int]]:
    """Code positions (part, whole) where the leaves of one lie within those of the other, none taken away."""
    held = {c: dimension.leaves_of(c) for c in dimension.codes}
    plain = {c: frozenset(v) for c, v in held.items() if min(v.values()) > 0}
    for b, whole in plain.items():
        for a, part in plain.items():
            if part < whole:
                yield dimension.position[a], dimension.position[b]


def _published(table: Table, layout: Layout) -> Array:
    """For each cell of the extended layout its number in the table, −1 if it is not there."""
    if layout is table.layout:
        return np.arange(len(table))
    number = np.full(len(layout), -1)
    renamed = [
        np.array([old.position.get(code, -1) for code in new.codes])
        for old, new in zip(table.dimensions, layout.dimensions, strict=True)
    ]
    codes = np.stack([names[layout.codes[:, k]] for k, names in enumerate(renamed)], axis=1)
    at = np.flatnonzero((codes >= 0).all(axis=1))
    flat = np.ravel_multi_index(tuple(codes[at].T), table.layout.code_shape)
    order = np.argsort(table.layout.flat)
    place = np.minimum(np.searchsorted(table.layout.flat, flat, sorter=order), len(table) - 1)
    present = table.layout.flat[order[place]] == flat
    number[at[present]] = order[place[present]]
    return number


def _frozen(values: Any) -> Any:
    return {str(k): tuple(v) if not isinstance(v, str) else (v,) for k, v in values.items()} if values else None


class _OfLines(Rule):
    """Disclosure within lines: the sensitive cells are the parts, what must stay open is the rest of the whole."""

    sensitive: Sequence[str] | None
    unions: Values | None

    def _sensitive_pairs(self, table: Table) -> tuple[Pairs, Array]:
        """All pairs, and which of them disclose."""
        raise NotImplementedError

    def __call__(self, table: Table) -> Array:
        pairs, at = self._sensitive_pairs(table)
        flagged = np.zeros(len(table), bool)
        number = pairs.published[pairs.part[at]]
        flagged[number[number >= 0]] = True
        return flagged

    def virtual(self, table: Table) -> Sums | None:
        """Whole minus part of every disclosive pair: if it were known to be small, the group would be disclosed.

        >>> table = Table.of([[20, 1, 0], [10, 12, 8]], ["area", "sex"])
        >>> KDisclosure(1).virtual(table).above.tolist()
        [1.0, 1.0, 1.0]
        """
        pairs, at = self._sensitive_pairs(table)
        if not at.any():
            return None
        pair = np.flatnonzero(at)
        whole, part = pairs.count[pairs.whole[pair]], pairs.count[pairs.part[pair]]
        return pairs.differences(pair, self._allowed(whole, part), int(getattr(self, "k", 0)))

    def _allowed(self, whole: Array, part: Array) -> Array:
        """The largest number of others in a line that would still disclose the rest.

        Those who work together are in the line: if one more than the others there are could be, they cannot be sure.
        """
        return whole - part

    def evidence(self, table: Table) -> dict[str, Array]:
        """The counts, and of a disclosive cell how many others are in its line (confidential).

        >>> table = Table.of([[20, 1, 0], [10, 12, 8]], ["area", "sex"])
        >>> KDisclosure(1).evidence(table)["others in the line"].tolist()
        [nan, nan, nan, nan, nan, 1.0, nan, nan, nan, nan, 1.0, 0.0]
        """
        pairs, at = self._sensitive_pairs(table)
        left = np.full(len(table), np.nan)
        number = pairs.published[pairs.part[at]]
        rest = (pairs.count[pairs.whole[at]] - pairs.count[pairs.part[at]]).astype(float)
        for n, r in zip(number[number >= 0], rest[number >= 0], strict=True):
            left[n] = r if np.isnan(left[n]) else min(left[n], r)
        return {"count": table.count, "others in the line": left}

    __repr__ = rule_text


@checked
@dataclass(frozen=True, repr=False)
class DirectDisclosure(_OfLines):
    r"""Directly disclosive cells with respect to k [LL21]_ section 2.2: freq(whole) − k ≤ freq(part).

    Somebody who knows k of the people in a line can place all others in one value of a sensitive variable. Only single
    values count, unless ``unions`` names joined ones: ``unions={"injury": [["Light", "Serious"]]}``. ``unknown`` names
    values from which nothing is learnt and by which nobody is recognised (section 2.3). ``unknown_share``: lines of
    which more than this percentage is unknown are safe. ``every=False`` marks only the largest cell of a line.

    >>> from discreet.datasets import printed
    >>> table = printed.injuries()
    >>> [int(DirectDisclosure(k, sensitive=["injury"])(table).sum()) for k in (0, 3)]
    [1, 4]
    """

    k: int = 1
    sensitive: Sequence[str] | None = None
    unknown: Values | None = None
    unions: Values | None = None
    unknown_share: float | None = None
    every: bool = True
    name: ClassVar[str] = "direct-disclosure"

    def __post_init__(self) -> None:
        _check_k(self.k)
        object.__setattr__(self, "sensitive", None if self.sensitive is None else tuple(self.sensitive))
        object.__setattr__(self, "unknown", _frozen(self.unknown))
        object.__setattr__(self, "unions", _frozen(self.unions))
        if self.unknown_share is not None:
            percent(self.unknown_share, "unknown_share", most=100)

    def _sensitive_pairs(self, table: Table) -> tuple[Pairs, Array]:
        lines = pairs(table, self.sensitive, self.unions)
        part, whole = lines.count[lines.part], lines.count[lines.whole]
        at = (part > 0) & (whole - self.k <= part) & _single(lines, self.unions)
        if self.unknown:
            at &= ~_excused(lines, self.unknown, self.unknown_share)
        if not self.every:
            top = np.zeros(len(lines.layout), lines.count.dtype)
            for axis in np.unique(lines.axis):  # the largest part of each whole, direction by direction
                here = lines.axis == axis
                top[:] = 0
                np.maximum.at(top, lines.whole[here], np.where(at[here], part[here], 0))
                at[here] &= part[here] == top[lines.whole[here]]
        return lines, at

    __repr__ = rule_text


@checked
@dataclass(frozen=True, repr=False)
class GroupDisclosure(_OfLines):
    """All (or at least ``share`` percent) of a line in one value of a sensitive variable: nobody need be known inside.

    >>> from discreet.datasets import printed
    >>> table = printed.injuries()
    >>> table.count[GroupDisclosure(sensitive=["injury"])(table)].tolist()
    [17]
    """

    share: float = 100
    sensitive: Sequence[str] | None = None
    unknown: Values | None = None
    unions: Values | None = None
    name: ClassVar[str] = "group-disclosure"

    def __post_init__(self) -> None:
        percent(self.share, "share", most=100)
        object.__setattr__(self, "sensitive", None if self.sensitive is None else tuple(self.sensitive))
        object.__setattr__(self, "unknown", _frozen(self.unknown))
        object.__setattr__(self, "unions", _frozen(self.unions))

    def _sensitive_pairs(self, table: Table) -> tuple[Pairs, Array]:
        lines = pairs(table, self.sensitive, self.unions)
        part, whole = lines.count[lines.part], lines.count[lines.whole]
        at = (part > 0) & (100 * part >= self.share * whole) & _single(lines, self.unions)
        if self.unknown:
            at &= ~_excused(lines, self.unknown, None)
        return lines, at

    def _allowed(self, whole: Array, part: Array) -> Array:
        return np.floor((100 - self.share) / 100 * whole + 1e-9).astype(np.int64)

    __repr__ = rule_text


@checked
@dataclass(frozen=True, repr=False)
class KDisclosure(_OfLines):
    """k-disclosure: no difference of a published cell and one inside it may be known to be k or less.

    Not the cells are sensitive but these differences, so the rule marks no cell and asks the method to keep the sums
    unknown (``virtual``). Groups and ``unions`` count like single values. ``most`` looks only at lines up to that size.

    >>> from discreet.datasets import printed
    >>> table = printed.injuries()
    >>> rule = KDisclosure(1, sensitive=["injury"])
    >>> int(rule(table).sum()), rule.virtual(table).matrix.shape[1]
    (0, 3)
    """

    k: int = 1
    sensitive: Sequence[str] | None = None
    unions: Values | None = None
    most: int | None = None
    name: ClassVar[str] = "k-disclosure"

    def __post_init__(self) -> None:
        _check_k(self.k)
        if self.most is not None:
            check_whole("most", self.most, 0, 1 << 53)
        object.__setattr__(self, "sensitive", None if self.sensitive is None else tuple(self.sensitive))
        object.__setattr__(self, "unions", _frozen(self.unions))

    def _sensitive_pairs(self, table: Table) -> tuple[Pairs, Array]:
        lines = pairs(table, self.sensitive, self.unions)
        part, whole = lines.count[lines.part], lines.count[lines.whole]
        at = (part > 0) & (whole - part <= self.k)
        if self.most is not None:
            at &= whole <= self.most
        return lines, at

    def __call__(self, table: Table) -> Array:
        return np.zeros(len(table), bool)

    __repr__ = rule_text


def _check_k(k: int) -> None:
    if not is_whole(k) or not 0 <= k < 1 << 53:
        raise InputError(f"k is how many people an intruder knows of, a whole number from 0, not {k}")


def _single(pairs: Pairs, unions: Values | None) -> Array:
    """Pairs whose part is a single value of its variable, or a union that the user named."""
    fine = np.zeros(len(pairs.part), bool)
    for k, dimension in enumerate(pairs.layout.dimensions):
        named = {
            " + ".join(str(v) for v in u) for u in (unions or {}).get(dimension.name, ()) if not isinstance(u, str)
        }
        allowed = np.array([c in dimension.leaf_position or c in named for c in dimension.codes])
        here = pairs.axis == k
        fine[here] = allowed[pairs.layout.codes[pairs.part[here], k]]
    return fine


def _excused(pairs: Pairs, unknown: Values, share: float | None) -> Array:
    """Pairs that disclose nothing: the part is unknown, the line lies within an unknown, or is mostly unknown."""
    layout = pairs.layout
    is_unknown = []
    for k, dimension in enumerate(layout.dimensions):
        codes = {dimension.codes[dimension.index(c)] for c in unknown.get(dimension.name, ())}
        is_unknown.append(np.array([c in codes for c in dimension.codes])[layout.codes[:, k]])
    inside = np.logical_or.reduce([mask[pairs.part] for mask in is_unknown])
    if share is None:
        return np.asarray(inside)
    missing = np.zeros(len(layout), np.int64)
    for k, mask in enumerate(is_unknown):
        here = (pairs.axis == k) & mask[pairs.part]
        np.add.at(missing, pairs.whole[here], pairs.count[pairs.part[here]])
        line = pairs.axis == k
        safe = 100 * missing[pairs.whole[line]] > share * pairs.count[pairs.whole[line]]
        inside[line] |= safe
        missing[:] = 0
    return np.asarray(inside)
