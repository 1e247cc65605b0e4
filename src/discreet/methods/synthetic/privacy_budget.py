"""DiscreteGaussian: a synthetic population under a stated privacy budget (zero-concentrated differential privacy)."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import above, checked, positive, share, whole
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, open_secret, read_source
from discreet.methods.perturb.outcome import perturbed
from discreet.methods.synthetic.crossing import Crossing, InnerCells, crossings, measured_sets
from discreet.methods.synthetic.discrete_normal import draws
from discreet.methods.synthetic.first_population import number_of_people
from discreet.methods.synthetic.fit import fitted_records
from discreet.methods.synthetic.noisy_margins import Measurement, Noise, Words, default_zero
from discreet.methods.synthetic.synthetic import DrawnPopulation
from discreet.release import Protected
from discreet.release.noise_law import FittedNoise
from discreet.tables.table import Table

WORDS = "counts of a synthetic population that fits margins with noise of a stated privacy budget"
LEAST_RHO = 1e-9  # below, the noise is past every count
MOST_RHO = 50.0  # beyond, the noise changes hardly any count


@checked
@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(DrawnPopulation):
    r"""Counts of a synthetic population that fits margins with discrete Gaussian noise: ``rho``-zCDP. Canonne, Kamath
    and Steinke (2020).

    .. math:: v = M / (2 \rho), \qquad \epsilon = \rho + 2\sqrt{\rho \log(1/\delta)}

    M tables are measured: the total and all of one to ``order`` variables at every level of the codebook. One record
    more or less changes one cell of each by one, so noise of variance v in every cell spends rho/M of the budget a
    table. What follows (leaving out noisy counts of three variables up to ``large``, taking those below ``zero`` as
    none, the fit) looks at noisy counts alone and costs nothing. The noise is drawn exactly, in whole numbers, from the
    secret and the data: the same data give the same answer, other data noise of their own; budgets of editions add up.

    >>> round(DiscreteGaussian(rho=0.5, seed=1).epsilon(1e-6), 2)
    5.76
    """

    contract: ClassVar[Contract] = Contract(
        acts_on="table", truthful=False, cellwise=False, transition=False, step="population", words=WORDS
    )
    rho: float = 1.0
    order: int = 2
    large: float = 50.0
    zero: int | None = None
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        positive("rho", self.rho, LEAST_RHO)
        positive("large", self.large)
        whole("order", self.order, 1, 4)
        if self.zero is not None:
            whole("zero", self.zero, 0)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def __call__(self, table: Table) -> Protected:
        return perturbed(
            table, self.shown(table), f"{WORDS} (rho = {self.rho:g})", rho=self.rho, order=self.order, seed=self.seed
        )

    def variance(self, tables: int) -> Fraction:
        """That of the noise when so many tables are measured.

        >>> DiscreteGaussian(rho=0.5, seed=1).variance(10)
        Fraction(10, 1)
        """
        return Fraction(tables) / (2 * Fraction(self.rho))

    def epsilon(self, delta: float) -> float:
        """The epsilon of (epsilon, delta)-privacy that rho implies (Bun and Steinke 2016, proposition 1.3).

        >>> DiscreteGaussian(rho=1, seed=1).epsilon(1e-6) > 1
        True
        """
        above("delta", delta)
        share("delta", delta)
        return self.rho + 2 * math.sqrt(self.rho * math.log(1 / delta))

    def drawn_codes(self, cells: InnerCells) -> Array:
        """The codes of the synthetic people, one row each.

        >>> t = Table.of([[300, 500], [400, 200]], ["area", "sex"])
        >>> DiscreteGaussian(rho=1, seed=1).drawn_codes(InnerCells.of(t)).shape
        (1401, 2)
        """
        every = crossings(cells.dimensions, self.order)
        v = self.variance(len(every) + 1)
        key = self._key(cells)
        how = Measurement(v=float(v), large=self.large, zero=default_zero(float(v)) if self.zero is None else self.zero)
        noise = _exact_noise(key, v)
        margins = how.margins(cells, every, noise)
        people = number_of_people(how.total(cells, noise), margins)
        return fitted_records(cells, margins, people, int.from_bytes(hmac.digest(key, b"fit", "sha256"), "little"))

    def noise_law(self, dimensions: Sequence[Dimension]) -> FittedNoise:
        """How far true counts may be from those of the population, by what is measured of such data.

        >>> from discreet import Dimension
        >>> DiscreteGaussian(rho=0.5, seed=1).noise_law([Dimension.flat("sex", "fm")]).v
        2.0
        """
        sets, tables = measured_sets(dimensions, self.order)
        v = float(self.variance(tables + 1))
        return FittedNoise(v, default_zero(v) if self.zero is None else self.zero, self.large, sets)

    def idle(self, *, counts: bool) -> str:
        """A budget that leaves hardly any noise.

        >>> DiscreteGaussian(rho=100, seed=1).idle(counts=True), DiscreteGaussian(rho=1, seed=1).idle(counts=True)
        ('with rho above 50 leaves most margins as they are', '')
        """
        return "" if self.rho <= MOST_RHO else f"with rho above {MOST_RHO:g} leaves most margins as they are"

    def _key(self, cells: InnerCells) -> bytes:
        """What all chances come from: the secret and the data, so that other data never meet the same noise."""
        if self.seed is None and self.secret is None:
            raise InputError(
                "noise of a privacy budget comes from a secret: give one (secret=, in a policy "
                "secret = { env = ... }), or a seed for a trial"
            )
        secret = Secret(f"discreet private {self.seed}".encode()) if self.secret is None else open_secret(self.secret)
        state = hashlib.sha256(np.ascontiguousarray(cells.codes).tobytes())
        state.update(np.ascontiguousarray(cells.count).tobytes())
        return hmac.digest(secret.key("privacy budget"), state.digest(), "sha256")


def _exact_noise(key: bytes, v: Fraction) -> Noise:
    """Noise by exact draws, each cell of each margin one of its own."""

    def noise(crossing: Crossing | None, words: Words) -> Array:
        level = "total" if crossing is None else f"{crossing.axes} {[d.leaves for d in crossing.dimensions]}"
        stream = draws(hmac.digest(key, level.encode(), "sha256"), v)
        return np.fromiter(itertools.islice(stream, len(words)), np.int64, len(words))

    return noise
