"""Targeted record swapping: pairs of similar units exchange where they live. [JOS15]_ section 3.1, [Ant16]_ 2.4.1.1."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked, share
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError
from discreet.methods.contract import Contract, seldom
from discreet.methods.keys import mix
from discreet.methods.records.record_columns import (
    check_microdata,
    codes,
    column_of,
    columns,
    leaf_codes,
    record_uniforms,
    with_columns,
)
from discreet.methods.touching import group_numbers, lies_within

_PASSES = 3  # over the candidates of a profile, before it is loosened


@dataclass(frozen=True, eq=False)
class Swapped:
    """For every record the one whose place it takes (itself if it stays), and how many units found no partner."""

    source: Array
    units: int
    swapped: int
    unpaired: int


@checked
@dataclass(frozen=True)
class Swap:
    """Targeted record swapping of a geography between similar units. [JOS15]_ section 3.1, [Ant16]_ section 2.4.1.1.

    ``rate`` of the units are picked and paired with others elsewhere, so that twice as many move: 0.05 swaps 10 %.
    Partners agree in ``strata`` (dimensions, or a level of the geography within which all swaps stay) and if possible
    in ``profile``, whose last variables are given up first. With ``risk`` (dimensions that identify) units in small
    cells are likelier to be picked, those in cells below ``k`` always are, and they leave the coarsest area in which
    they are so rare. ``household`` names the column of units that move together; partners then have the same size and
    make-up. Columns in ``also`` move along. Numbers of records by area and by everything else are kept; only how they
    go together changes.

    >>> import discreet as dc
    >>> people = dc.datasets.census(1000)
    >>> swapped = Swap("region", rate=0.05, strata=["sex"], seed=1)(people)
    >>> kept = [dc.tabulate(data, ["region", "sex"]).count for data in (people, swapped)]
    >>> bool((kept[0] == kept[1]).all())
    True
    """

    geography: str
    _: KW_ONLY
    rate: float = 0.05
    strata: Sequence[str] | str = ()
    profile: Sequence[str] | str = ()
    risk: Sequence[str] | str = ()
    k: int = 0
    household: str | None = None
    also: Sequence[str] | str = ()
    seed: int | None = None

    contract: ClassVar[Contract] = Contract(
        acts_on="records",
        truthful=False,
        cellwise=False,
        transition=False,
        step="places",
        words="records swapped before counting",
    )

    def __post_init__(self) -> None:
        share("rate", self.rate)
        if self.rate > 0.5:
            raise InputError(f"rate={self.rate}: more than half cannot be picked and paired with others")
        for name in ("strata", "profile", "risk", "also"):
            names = getattr(self, name)
            object.__setattr__(self, name, (names,) if isinstance(names, str) else tuple(names))
        if self.k and not self.risk:
            raise InputError("k is the smallest safe number of alike units: say alike in what (risk=)")

    def __call__(self, data: Microdata) -> Microdata:
        plan = self.plan(data)
        names = [column_of(data, n) for n in (self.geography, *self.also)]
        moved = columns(data, names)
        return with_columns(data, {n: moved[n].take(plan.source) for n in names})

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it names and that must be dimensions."""
        return (self.geography, *self.risk)

    @property
    def even(self) -> bool:
        """Whether every record moves from area to area with the same chances, whatever else it is."""
        return not (self.strata or self.profile or self.risk or self.household or self.also)

    def idle(self, *, counts: bool) -> str:
        """Records that stay in their area, or of which next to none moves, are not protected.

        >>> Swap("region", strata=["region"], seed=1).idle(counts=True)
        'keeps every record in its own region (strata)'
        """
        if self.geography in self.strata:
            return f"keeps every record in its own {self.geography} (strata)"
        return "" if self.k > 1 else seldom(2 * self.rate, "where a record lies")

    def untouched(self, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> str:
        """The joint numbers of what moves and of the strata are kept, and so are those of all that stays.

        >>> Swap("region", strata=["sex"], seed=1).untouched({"age": "age", "sex": "sex"}, {})
        "ask for one with 'region' and a variable that stays where it is and that is not among sex"
        """
        moved, kept = {self.geography, *self.also}, set(self.strata)
        if self.geography in asked:
            here = dimensions[self.geography]
            shown = group_numbers(here, asked[self.geography])
            inside = [name for name in self.strata if name in here.levels and name not in asked]
            if any(lies_within(group_numbers(here, name), shown) for name in inside):
                moved, kept = moved - {self.geography}, kept | {self.geography}
        if set(asked) & moved and set(asked) - moved - kept:
            return ""
        but = f" and that is not among {', '.join(self.strata)}" if self.strata else ""
        return f"ask for one with {self.geography!r} and a variable that stays where it is{but}"

    def plan(self, data: Microdata) -> Swapped:
        """Who takes whose place (confidential).

        >>> import discreet as dc
        >>> plan = Swap("region", rate=0.05, seed=1).plan(dc.datasets.census(1000))
        >>> plan.units, plan.swapped
        (1000, 100)
        """
        check_microdata(data, "record swapping")
        area = leaf_codes(data, self.geography)
        unit = self._units(data)
        first, size = _first(unit), np.bincount(unit)
        if (area != area[first][unit]).any():
            raise InputError(f"units of {self.household!r} lie in more than one {self.geography}; correct the data")
        chance = _least(record_uniforms(data, seed=self.seed, purpose="swap"), unit, len(first))
        home = self._levels(data, area)[:, first]
        profiles = self._alike(data, unit, area, size)
        sure, weight, level = self._targets(data, unit, home)
        picked = _picked(chance, weight, sure, round(self.rate * len(first)))
        partner = pair_up(picked, chance, profiles, home, level)
        paired = np.flatnonzero(partner >= 0)
        take = np.arange(len(first))
        take[paired] = partner[paired]
        return Swapped(first[take][unit], len(first), int(paired.size), int(len(picked) - paired.size // 2))

    def _units(self, data: Microdata) -> Array:
        if self.household is None:
            return np.arange(data.n)
        name = column_of(data, self.household)
        number, _ = codes(columns(data, [name])[name])
        return np.unique(number, return_inverse=True)[1]

    def _levels(self, data: Microdata, area: Array) -> Array:
        """The area of every record at each level of the geography, coarsest first."""
        dimension = data.dimension(self.geography)
        out = []
        for name, level in dimension.levels.items():
            if name != "total":
                group = {leaf: k for k, code in enumerate(level) for leaf in dimension.leaves_of(code)}
                out.append(np.array([group[leaf] for leaf in dimension.leaves])[area])
        return np.array(out)

    def _alike(self, data: Microdata, unit: Array, area: Array, size: Array) -> list[Array]:
        """Numbers that are equal for units of one stratum and profile, strictest first, the stratum alone last."""
        levels = [n for n in data.dimension(self.geography).levels if n != "total"]
        out = [size.astype(np.int64)]
        for name in (*self.strata, *self.profile):
            inside = name in levels and name not in data.codebook.columns
            values = self._levels(data, area)[levels.index(name)] if inside else leaf_codes(data, name)
            combined = _combined([(out[-1], int(out[-1].max()) + 1), (_made_up(values, unit, len(size), name))])[0]
            out.append(combined)
        return out[len(self.strata) :][::-1]

    def _targets(self, data: Microdata, unit: Array, home: Array) -> tuple[Array, Floats, Array]:
        """Which units are picked for sure, how likely the others are, and the level whose area a unit must leave."""
        n = home.shape[1]
        level = np.full(n, len(home) - 1)
        sure, weight = np.zeros(n, bool), np.zeros(n) if self.risk else np.ones(n)
        if not self.risk:
            return sure, weight, level
        kind, kinds = _combined([(leaf_codes(data, r), len(data.dimension(r).leaves)) for r in self.risk])
        for depth in range(len(home) - 1, -1, -1):
            cell, cells = _combined([(home[depth][unit], int(home[depth].max()) + 1), (kind, kinds)])
            rarest = _least(np.bincount(cell, minlength=cells)[cell], unit, n)
            weight = np.maximum(weight, 1 / rarest)
            level[rarest < self.k] = depth
            sure |= rarest < self.k
        return sure, weight, level


_MOST_CELLS = 1 << 24


def _combined(parts: Sequence[tuple[Array, int]]) -> tuple[Array, int]:
    """One number for each combination of several, and how many there may be; few enough to be counted in a list."""
    out, number = np.zeros(len(parts[0][0]), np.int64), 1
    for codes_, size in parts:
        out, number = out * size + codes_, number * size
        if number > _MOST_CELLS:
            distinct, out = np.unique(out, return_inverse=True)
            number = len(distinct)
    return out, number


def _least(values: Array, unit: Array, n: int) -> Array:
    """The least value of the records of every unit."""
    if len(unit) == n and (unit == np.arange(n)).all():
        return values
    out = np.full(n, values.max())
    np.minimum.at(out, unit, values)
    return out


def _first(unit: Array) -> Array:
    """The first record of every unit."""
    first = np.full(int(unit.max()) + 1, -1)
    first[unit[::-1]] = np.arange(len(unit))[::-1]
    return first


def _made_up(values: Array, unit: Array, n: int, name: str) -> tuple[Array, int]:
    """A number that is equal for units whose members have the same values, in any order; and how many there are."""
    if len(unit) == n:  # every record a unit of its own
        out = np.empty(n, np.int64)
        out[unit] = values
        return out, int(values.max()) + 1
    sums = np.zeros(n, np.uint64)
    np.add.at(sums, unit, mix(np.arange(int(values.max()) + 1).astype(np.uint64), _salt(name))[values])
    distinct, out = np.unique(sums, return_inverse=True)
    return out, len(distinct)


def _salt(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


def _picked(chance: Floats, weight: Floats, sure: Array, number: int) -> Array:
    """The units to be swapped: the sure ones, then by weight without replacement (Efraimidis and Spirakis 2006)."""
    order = -np.log1p(-chance) / weight
    order[sure] -= np.inf
    number = min(max(number, int(sure.sum())), len(order))
    first = np.argpartition(order, number - 1)[:number] if 0 < number < len(order) else np.arange(len(order))[:number]
    return first[np.lexsort((chance[first], order[first]))]


def pair_up(picked: Array, chance: Floats, profiles: Sequence[Array], home: Array, level: Array) -> Array:
    """A partner for every picked unit: unpicked, alike, and elsewhere at the level the picked one must leave.

    Gives for every unit its partner, or -1. Profiles are tried strictest first; candidates are taken in an order that
    has nothing to do with what they are.
    """
    partner = np.full(len(chance), -1)
    free = np.ones(len(chance), bool)
    free[picked] = False
    shuffled = np.argsort(mix(chance.view(np.uint64), _salt("partner")), kind="stable")
    waiting = picked
    for profile in profiles:
        if not waiting.size:
            break
        kinds = int(profile.max()) + 1
        alike = profile.astype(np.uint16 if kinds < 1 << 16 else np.int64)  # short numbers are sorted by digit
        for _ in range(_PASSES):
            pool = shuffled[free[shuffled]]
            match = _match(waiting, pool, alike, kinds, home, level)
            hit = match >= 0
            partner[waiting[hit]], partner[match[hit]] = match[hit], waiting[hit]
            free[match[hit]] = False
            waiting, shuffled = waiting[~hit], shuffled[::-1]
            if not hit.any() or not waiting.size:
                break
    return partner


def _match(waiting: Array, pool: Array, alike: Array, kinds: int, home: Array, level: Array) -> Array:
    """One pass: within every group of alike units the waiting ones go down the list of candidates together."""
    wanted = np.zeros(kinds, bool)
    wanted[alike[waiting]] = True
    pool = pool[wanted[alike[pool]]]
    pool = pool[np.argsort(alike[pool], kind="stable")]
    size = np.bincount(alike[pool], minlength=kinds)
    end = np.cumsum(size)
    kind = alike[waiting].astype(np.int64)
    left = np.argsort(kind, kind="stable")
    partner, at = np.full(len(waiting), -1), end[kind] - size[kind]
    while left.size and pool.size:
        begins = np.flatnonzero(np.concatenate([[True], kind[left][1:] != kind[left][:-1]]))
        number = np.diff(np.append(begins, len(left)))
        place = at[left] + np.arange(len(left)) - np.repeat(begins, number)
        inside = place < end[kind[left]]
        candidate = pool[np.where(inside, place, 0)]
        depth = level[waiting[left]]
        elsewhere = inside & (home[depth, candidate] != home[depth, waiting[left]])
        partner[left[elsewhere]] = candidate[elsewhere]
        at[left] += np.repeat(number, number)
        left = left[inside & ~elsewhere]
    return partner
