"""A published table under its name, and what each of its numbers says of the true one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.data.code_groups import Group
from discreet.data.dimension import Dimension
from discreet.errors import InputError, Unjudged
from discreet.release import CONFIDENTIAL, Protected, Release
from discreet.tables.quotients import narrowed_by_quotients

NEAREST = re.compile(r"rounded to the nearest multiple of ([\d.]+)")
MIDPOINT = re.compile(r"rounded to the midpoint of ([\d.]+)")
RANDOM = re.compile(r"random(?:ly)? round(?:ed|ing) to base ([\d.]+)")


@dataclass(frozen=True)
class Rounding:
    """Values are multiples of ``base``: the nearest one (halves upwards), or either neighbour if ``nearest`` is False.

    ``midpoint``: counts are shown as the midpoint of the base numbers that they are among, 1 to 6 as 3, zero as zero.
    ``even``: halves go to the even multiple, as R, Python and pandas round (5 and 15 to base 10 show 0 and 20).

    >>> Rounding(5).room(0), Rounding(3, nearest=False).room(0), Rounding(6, midpoint=True).room(0)
    ((2.0, 2.0), (2.0, 2.0), (2.0, 3.0))
    """

    base: float
    nearest: bool = True
    midpoint: bool = False
    even: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.base < float("inf"):
            raise InputError(f"a rounding base is a number above 0, not {self.base}")
        if self.even and (self.midpoint or not self.nearest):
            raise InputError(
                "halves go to the even multiple where numbers are rounded to the nearest one, and not else"
            )
        if self.midpoint and (self.base != round(self.base) or not self.nearest):
            raise InputError(f"midpoints are of a whole number of counts, not of {self.base}, and not random")

    def room(self, decimals: int) -> tuple[float, float]:
        """How far below and above a shown value the true one may be, in units of the last decimal."""
        units = round(self.base * 10**decimals)
        if self.midpoint:  # of numbers that are not zero, which is shown as it is
            return float(units - units // 2 - 1), float(units // 2)
        if not self.nearest:
            return float(units - 1), float(units - 1)
        return float(units // 2), float(units // 2 if self.even else (units - 1) // 2)

    def behind(self, shown: Array, decimals: int) -> tuple[Array, Array]:
        """The least and greatest true value of shown ones, all in units of the last decimal.

        >>> Rounding(6, midpoint=True).behind(np.array([0.0, 3.0, 9.0]), 0)
        (array([0., 1., 7.]), array([ 0.,  6., 12.]))
        >>> Rounding(10, even=True).behind(np.array([20.0, 30.0]), 0)
        (array([15., 26.]), array([25., 34.]))
        """
        below, above = self.room(decimals)
        exact = self.midpoint & (shown == 0)
        units = round(self.base * 10**decimals)
        if self.even and units % 2 == 0:  # no half lies beside an odd multiple
            odd = np.nan_to_num(np.rint(shown / units)) % 2
            return shown - below + odd, shown + above - odd
        return np.where(exact, shown, shown - below), np.where(exact, shown, shown + above)

    def possible(self, shown: Array) -> Array:
        """Which values can be shown so."""
        steps = np.nan_to_num((shown + (self.base // 2 if self.midpoint else 0)) / self.base)
        return np.asarray((np.abs(steps - np.rint(steps)) <= 1e-6) | (self.midpoint & (shown == 0)) | np.isnan(shown))

    @property
    def allowance(self) -> float:
        """How far a sum of rounded numbers may be off for each of them: half of the base, of random rounding all of it.

        >>> Rounding(5).allowance, Rounding(3, nearest=False).allowance
        (2.5, 3.0)
        """
        return self.base / 2 if self.nearest else float(self.base)

    @classmethod
    def of_words(cls, method: str) -> Rounding | None:
        """The rounding that the sentence on the method names, as discreet writes it.

        >>> Rounding.of_words("randomly rounded to base 3")
        Rounding(base=3.0, nearest=False, midpoint=False, even=False)
        """
        if match := MIDPOINT.search(method):
            return cls(float(match[1]), midpoint=True)
        if match := NEAREST.search(method):
            return cls(float(match[1]))
        match = RANDOM.search(method)
        return cls(float(match[1]), nearest=False) if match else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Publication:
    """A table that is out. ``fixed``: the code of each dimension that the whole table is about, such as sex m."""

    name: str
    release: Release
    rounding: Rounding | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    """Per measure the least and greatest true value that each published one allows, where its method says so."""

    @classmethod
    def of(cls, name: str, released: Release | Protected, rounding: Rounding | None = None) -> Publication:
        """A release, or what the world sees of a Protected."""
        if isinstance(released, Release):
            words = Rounding.of_words(released.method)
            return cls(name=name, release=_without_idle(released), rounding=rounding or words)
        room, table = released.room, released.table
        stated = {}
        if room.lower is not None and room.upper is not None:
            kept = released.status != "w"
            stated = {table.measure: (np.asarray(room.lower, float)[kept], np.asarray(room.upper, float)[kept])}
        return cls(name=name, release=_without_idle(released.release()), rounding=rounding, stated=stated)

    def bounds(self, measure: str, decimals: int, *, from_one: bool = True) -> tuple[Array, Array]:
        """Per row the least and greatest true value that fits what is shown, in units of the last decimal.

        ``from_one``: counts that a file does not show are 1 at least, where the release has it so.

        Unjudged if values were changed and nothing says by how much.
        """
        release, scale = self.release, 10.0**decimals
        shown = np.asarray(release.values[measure], float)
        open_ = np.isnan(shown)
        low, high = np.where(open_, -np.inf, shown * scale), np.where(open_, np.inf, shown * scale)
        if measure in release.ranges:
            least, most = release.ranges[measure]
            low, high = np.where(open_, least * scale, low), np.where(open_, most * scale, high)
        if from_one:
            low = np.maximum(low, release.least_hidden(measure) * scale)
        if measure in self.stated:
            least, most = self.stated[measure]
            low, high = np.where(open_, low, least * scale), np.where(open_, high, most * scale)
        elif self.rounding is not None:
            self._check_rounded(measure)
            least, most = self.rounding.behind(shown * scale, decimals)
            low, high = np.where(open_, low, least), np.where(open_, high, most)
        elif release.truthful is False and (~open_).any():
            raise Unjudged(
                f"{self.name!r}: its values were changed ({release.method}) and nothing says by how much; give the "
                "Protected, or say the rounding base"
            )
        elif release.decimals[measure] < decimals:  # shown at fewer decimals than in another table
            half = 0.5 * 10.0 ** (decimals - release.decimals[measure])
            low, high = np.where(open_, low, low - half), np.where(open_, high, high + half)
        low = np.where(np.isfinite(low), np.rint(low), low)
        high = np.where(np.isfinite(high), np.rint(high), high)
        if measure not in release.quotients:
            return low, high
        room = (0.0, 0.0) if self.rounding is None else self.rounding.room(decimals)
        return narrowed_by_quotients(low, high, open_, release.quotients[measure], repr(self.name), room)

    def with_hidden_zeros(self) -> Publication:
        """The same where a count that is not shown may be zero."""
        return replace(self, release=replace(self.release, from_one=False))

    def _check_rounded(self, measure: str) -> None:
        """Refuse a base that what is shown contradicts: all of it must be multiples."""
        release, rounding = self.release, self.rounding or Rounding(1.0)
        off = np.flatnonzero(~rounding.possible(np.asarray(release.values[measure], float)))
        if len(off):
            codes = zip(release.dimensions, release.codes[off[0]].tolist(), strict=True)
            cell = ", ".join(f"{d.name} {d.codes[c]}" for d, c in codes)
            many = f"{len(off):,} of its numbers are" if len(off) > 1 else "one of its numbers is"
            what = "to midpoints of" if rounding.midpoint else "to base"
            which = "no such midpoint" if rounding.midpoint else "no multiple of it"
            raise InputError(
                f"{self.name!r} is not rounded {what} {rounding.base:g}: {many} {which}, the first in cell {cell}; "
                f"say the base that was used, or none, of {measure!r} (--rounded, rounding in the mapping), or name "
                "the measure that is rounded (--measure)"
            )

    @property
    def left(self) -> dict[str, Array]:
        """Per measure the rows that are marked as confidential and hold a value all the same."""
        return self.release.left

    def renamed(self, dimensions: Mapping[str, str], codes: Mapping[str, Mapping[str, str]]) -> Publication:
        """The same with other names of dimensions, and of codes by the new name of their dimension."""
        dims = []
        for d in self.release.dimensions:
            name = dimensions.get(d.name, d.name)
            new = codes.get(name, {})
            dims.append(_renamed(replace(d, name=name), new) if new or name != d.name else d)
        names = [d.name for d in dims]
        if len(set(names)) < len(names):
            raise InputError(f"{self.name!r}: two of its dimensions would have the same name; look at the mapping")
        return replace(self, release=replace(self.release, dimensions=tuple(dims)))

    def marked(self) -> Array:
        """Rows whose value is not shown."""
        return np.asarray(self.release.status == CONFIDENTIAL)


def _without_idle(release: Release) -> Release:
    """The release with dimensions that stand at their total in every row reduced to it: a margin of a larger table."""
    dims, codes = list(release.dimensions), np.array(release.codes)
    for k, d in enumerate(dims):
        if d.total is not None and len(codes) and (codes[:, k] == d.position[d.total]).all():
            dims[k] = Dimension.flat(d.name, [d.total], total=None)
            codes[:, k] = 0
    return replace(release, dimensions=tuple(dims), codes=codes)


def _renamed(dimension: Dimension, new: Mapping[str, str]) -> Dimension:
    """A dimension with other codes for some of its own, in the same order."""

    def to(code: str) -> str:
        return new.get(code, code)

    groups = tuple(Group(to(g.code), tuple((to(p), s) for p, s in g.parts), g.tree) for g in dimension.groups)
    labels = {to(code): label for code, label in dimension.labels.items()}
    total = None if dimension.total is None else to(dimension.total)
    return replace(dimension, leaves=tuple(map(to, dimension.leaves)), groups=groups, total=total, labels=labels)
