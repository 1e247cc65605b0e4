"""The cell key method for magnitudes: a share of the largest contributions, up or down by the cell key.

Giessing and Tent (2019), "Concepts for generalising tools implementing the cell key method to the case of continuous
variables"; the parameters are those of R's cellKey.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked, positive
from discreet.errors import InputError
from discreet.methods.contract import LEAST, Contract
from discreet.methods.keys import Secret, amount_uniforms, read_source, uniforms
from discreet.methods.perturb.entropy import largest_entropy
from discreet.methods.perturb.outcome import perturbed
from discreet.release import Protected
from discreet.rules.base import as_rule
from discreet.tables.table import GIVERS, VALUE_KEY, Table

FINE = 8  # steps of the density of noise within one unit
MOST_OWN = 0.9  # with more, what cells with the same largest contribution differ by would be nearly true
ODD_GAP = 0.5  # least noise of a cell with an odd number of contributors, where parity counts


@checked
@dataclass(frozen=True, kw_only=True)
class CellKeyMagnitude:
    r"""Cell key noise on magnitudes: the largest contributions times a flexible multiplier. Giessing and Tent (2019).

    .. math:: \hat X = X + \sum_{k \le K} \epsilon_k\, m(|x_k|)\, |x_k|\, v_k

    x_k is the k-th largest contribution, v_k noise with variance 1 and at most ``d``, by the cell key, and m falls from
    ``p[0]`` (up to ``flex``) to ``p[1]`` for large contributions: with z = flex and x > z,
    m = p1 (1 + (p0 x - p1 z) / (p1 z) (2 z / (z + x))^q). ``epsilon`` has one weight a contribution, the first is 1.
    Where the largest contribution is below ``separation``, the noise is as large as that of a contribution of this
    size, so far as the cell stays above 0. With ``parity`` cells of an odd number of contributors, single ones among
    them, are moved by half a unit of noise at least. ``own`` is how much of the noise of a largest contribution above
    ``flex`` belongs to its amount instead of the cell (the correlation of two such cells): what stands in many cells is
    not averaged out of them. ``people``: the noise is at least that of so many average contributions to the cell, so
    far as it stays above 0, so that a sum of contributions that are alike does not tell how many they are.
    ``mu`` is added to the size of the noise of cells that ``mu_rule``
    finds sensitive. The key of a cell is that of the records that give something to it (zero rule); with ``zero_keys``
    that of all its records, so that two equal sums do not prove that those by whom they differ have nothing.

    >>> import pandas as pd
    >>> from discreet import Microdata, tabulate
    >>> firms = pd.DataFrame({"area": ["N", "N", "S", "S"], "turnover": [90, 5, 40, 60]})
    >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
    >>> noisy = CellKeyMagnitude(flex=50, p=(0.3, 0.1), d=3, seed=1)(tabulate(data, "area", value="turnover"))
    >>> noisy.published["turnover"].tolist()
    [170, 93, 90]
    """

    contract: ClassVar[Contract] = Contract(
        acts_on="table", truthful=False, cellwise=False, transition=False, amounts=True
    )
    flex: float = 1000.0
    p: Sequence[float] = (0.25, 0.05)
    q: float = 3.0
    epsilon: Sequence[float] = (1.0,)
    d: float = 2.0
    separation: float = 0.0
    parity: bool = False
    own: float = 0.0
    people: float = 0.0
    zero_keys: bool = False
    mu: float = 0.0
    mu_rule: Any = None
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        p, epsilon = tuple(self.p), tuple(self.epsilon)
        if len(p) != 2 or not 0 < p[1] <= p[0]:
            raise InputError(f"p={p}: give two shares above 0, the first for small contributions, not below the second")
        if not epsilon or epsilon[0] != 1 or list(epsilon) != sorted(epsilon, reverse=True) or epsilon[-1] < 0:
            raise InputError(f"epsilon={epsilon}: give weights in falling order, the first 1, none below 0")
        positive("flex", self.flex)
        positive("q", self.q, 1)
        positive("mu", self.mu)
        positive("separation", self.separation)
        positive("people", self.people)
        if not 0 <= self.own <= MOST_OWN:
            raise InputError(f"own={self.own}: give a share of the noise from 0 to {MOST_OWN}")
        if self.separation > self.flex:
            raise InputError(f"separation={self.separation:g}: give a size up to the flex point, {self.flex:g}")
        if self.mu and self.mu_rule is None:
            raise InputError("mu is extra noise for sensitive cells: say which (mu_rule=), or leave it at 0")
        if self.d <= 1 or (self.d + self.mu) * p[0] > 1:
            raise InputError(
                f"d={self.d}, mu={self.mu}: d must be above 1 and (d + mu) * p[0] at most 1, or a cell "
                "could turn negative"
            )
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def multiplier(self, x: Any) -> Floats:
        """m(x): the share of a contribution that one unit of noise is.

        >>> CellKeyMagnitude().multiplier([10, 1000, 1e9]).round(4).tolist()
        [0.25, 0.25, 0.05]
        """
        small, large = self.p
        size = np.maximum(np.abs(np.asarray(x, np.float64)), self.flex)
        rise = (small * size - large * self.flex) / (large * self.flex)
        out = large * (1 + rise * (2 * self.flex / (self.flex + size)) ** self.q)
        return np.minimum(out, small)  # the formula itself overshoots where q < 2 p0 / (p0 - p1)

    def __call__(self, table: Table) -> Protected:
        if table.magnitude is None:
            raise InputError("this table counts records: CellKeyMagnitude is for magnitudes (tabulate with value=)")
        top = table.contributions.top
        if top < len(self.epsilon):
            raise InputError(
                f"epsilon has {len(self.epsilon)} weights but the table keeps the {top} largest "
                f"contributions; tabulate with top={len(self.epsilon)}"
            )
        statistic = table.statistic(table.measure)
        scale = 10**statistic.decimals
        true = statistic.cells / scale
        shown = np.rint((true + self._noise(table, true)) * scale).astype(np.int64)
        words = "cell key method for magnitudes"
        details: dict[str, Any] = {"p": self.p, "d": self.d, "seed": self.seed}
        if (true < 0).any():
            return perturbed(table, shown, words, **details)
        reach = 1.0 if self.people else (self.d + self.mu) * self.p[0]
        slack = 1.0 + reach * self.separation * scale  # the rounding to the last decimal; noise of small contributions
        nothing = 0 if reach < 1 and not self.separation else slack
        with np.errstate(divide="ignore"):
            upper = np.where((shown > 0) | (self.separation > 0), (shown + slack) / np.float64(1 - reach), nothing)
        lower = np.maximum((shown - slack) / (1 + reach), 0)
        return perturbed(table, shown, words, lower=lower, upper=upper, **details)

    def idle(self, *, counts: bool) -> str:
        """A multiplier near 0 adds next to nothing.

        >>> CellKeyMagnitude(p=(0.005, 0.005), seed=1).idle(counts=False)
        'with p below 1% changes almost nothing'
        """
        return "" if min(self.p) >= LEAST else f"with p below {LEAST:.0%} changes almost nothing"

    def givers(self, table: Table) -> Floats:
        """How many give something to each cell, with noise of ``people``: what a rule about few of them may look at.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"id": range(4), "area": ["N", "N", "S", "S"], "grant": [90, 0, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], unit="id", magnitudes=["grant"], secret="sixteen letters!")
        >>> CellKeyMagnitude(seed=1).givers(tabulate(data, "area", value="grant")).tolist()
        [3.0, 1.0, 2.0]
        """
        givers = _givers(table)
        at = np.flatnonzero(givers > 0)
        givers[at] += self.people * self._standard(table, at, f"givers {table.magnitude}", np.zeros(len(at)))
        return givers

    def spread(self, table: Table) -> Floats:
        """The standard deviation of each cell's noise, without the part that belongs to a largest amount (``own``).

        So much is not in other sums of the same contributions, and stays when they are subtracted.

        >>> import pandas as pd
        >>> from discreet import Microdata, tabulate
        >>> firms = pd.DataFrame({"area": ["N", "N", "S", "S"], "turnover": [90, 5, 40, 60]})
        >>> data = Microdata.of(firms, dimensions=["area"], magnitudes=["turnover"])
        >>> method = CellKeyMagnitude(flex=100, p=(0.3, 0.1), d=3, seed=1)
        >>> method.spread(tabulate(data, "area", value="turnover")).tolist()
        [27.0, 27.0, 18.0]
        """
        true = table.statistic(table.measure).cells / 10 ** table.statistic(table.measure).decimals
        at, largest, units = self._units(table, true)
        units[:, 0] *= np.where(largest > self.flex, np.sqrt(1 - self.own), 1.0)
        spread = np.zeros(len(table))
        spread[at] = np.sqrt((units**2).sum(axis=1))
        return spread

    def _units(self, table: Table, true: Floats) -> tuple[Array, Floats, Floats]:
        """Cells with noise, the largest contribution of each (none where it is undefined), and units of noise."""
        size = np.abs(table.contributions.value * table.contributions.weight)[:, : len(self.epsilon)]
        size = np.where(np.isnan(size), 0.0, size)
        size[table.layout.signed, 0] = np.abs(true[table.layout.signed])  # nobody's contribution is defined there
        at = np.flatnonzero(size[:, 0] > 0)
        units = self.multiplier(size[at]) * size[at] * np.asarray(self.epsilon)
        units[:, 0] = np.maximum(units[:, 0], self._least(table, at, units, size[at, 0], np.abs(true[at])))
        return at, np.where(table.layout.signed[at], 0.0, size[at, 0]), units

    def _noise(self, table: Table, true: Floats) -> Floats:
        at, largest, units = self._units(table, true)
        more = np.zeros(len(at)) if self.mu_rule is None else np.where(as_rule(self.mu_rule)(table)[at], self.mu, 0.0)
        noise = np.zeros(len(table))
        for k in range(len(self.epsilon)):
            alone = largest if k == 0 else np.zeros(len(at))
            v = self._standard(table, at, f"value {k} {table.magnitude}", alone)
            noise[at] += units[:, k] * np.sign(v) * (np.abs(v) + more)
        return noise

    @property
    def _parameters(self) -> str:
        """What the size of the noise depends on, as text."""
        numbers = (self.flex, *self.p, self.q, self.d, self.separation, self.own, self.people, self.mu, *self.epsilon)
        return f"{[float(one) for one in numbers]} {self.parity} {self.zero_keys}"

    def _least(self, table: Table, at: Array, units: Floats, largest: Floats, total: Floats) -> Floats:
        """The least unit of noise of the largest contribution: as of one at the separation point where that is small,
        or of some average ones; as much of it as the cell can bear."""
        borne = np.maximum(total / (self.d + self.mu) - units[:, 1:].sum(axis=1), 0.0)
        small = np.where(largest < self.separation, self.p[0] * self.separation, 0.0)
        alike = self.people * total / np.maximum(_givers(table)[at], 1) if self.people else 0.0
        return np.asarray(np.minimum(np.maximum(small, alike), borne))

    def _standard(self, table: Table, at: Array, purpose: str, largest: Floats) -> Floats:
        """Symmetric noise of variance 1 between -d and d for some cells, by their keys and ``largest`` amounts.

        Its density has steps, its values have none: with few values, the one of many candidates that makes a round
        number of what is shown would be the contribution. Other parameters have other noise: the same at two sizes,
        under the policies of two roles, would be told by the difference, and the truth with it.
        """
        purpose = f"{purpose} {self._parameters}"
        own = VALUE_KEY if VALUE_KEY in table.statistics and not self.zero_keys else "key"
        uniform = uniforms(table, seed=self.seed, secret=self.secret, purpose=purpose, only=at, statistic=own)
        large = largest > self.flex if self.own else np.zeros(len(at), bool)
        if large.any():
            mine = amount_uniforms(largest[large], seed=self.seed, secret=self.secret, purpose=f"own {purpose}")
            uniform[large] = ndtr(np.sqrt(1 - self.own) * ndtri(uniform[large]) + np.sqrt(self.own) * ndtri(mine))
        noise: Floats = np.interp(uniform, *_distribution(int(self.d * FINE), 0.0))
        if self.parity:
            odd = np.interp(uniform, *_distribution(int(self.d * FINE), ODD_GAP))
            noise = np.where(table.contributions.count[at] % 2 == 1, odd, noise)
        return noise


def _givers(table: Table) -> Floats:
    """How many records give something to each cell."""
    if GIVERS not in table.statistics:
        raise InputError(
            f"it is not known how many give something to {table.magnitude!r}, which noise of some people needs: "
            "tabulate records that have keys (secret=), and build a cube of before again"
        )
    return np.asarray(table.statistic(GIVERS).cells, np.float64)


@lru_cache(maxsize=16)
def _distribution(steps: int, gap: float) -> tuple[Floats, Floats]:
    """Of noise of largest entropy and variance 1, none of it nearer to 0 than ``gap``: shares below, and values."""
    ends = np.arange(-steps, steps + 1) / FINE
    middles = np.arange(1 - 2 * steps, 2 * steps, 2)  # in halves of a step
    used = np.abs(middles) > 2 * FINE * gap
    variance = (1 - 1 / (12 * FINE**2)) * (2 * FINE) ** 2  # the rest is within a step
    p = largest_entropy(middles[used], variance, 0.0, not gap)
    if p is None:
        raise InputError("no such noise; give a larger d")
    density = np.zeros(len(middles))
    density[used] = (p + p[::-1]) / 2  # symmetric to the last bit
    shares = np.concatenate([[0.0], np.cumsum(density)])
    return shares / shares[-1], ends
