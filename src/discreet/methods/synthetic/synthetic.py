"""Synthetic: every count is one of a population that was drawn to fit noisy margins, so all tables agree."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import above, checked, positive, whole
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, open_secret, read_source
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.methods.synthetic.crossing import InnerCells, crossings, measured_sets
from discreet.methods.synthetic.first_population import number_of_people
from discreet.methods.synthetic.fit import fitted_records
from discreet.methods.synthetic.noisy_margins import Measurement, default_zero, keyed_noise
from discreet.release import Protected
from discreet.release.noise_law import FittedNoise
from discreet.tables.table import Table

WORDS = "counts of a synthetic population that fits noisy margins"
MOST_V = 1e6  # far more leaves nothing of any count, and its distribution would not fit into memory
LEAST_LARGE = 10.0  # counts of three variables and more below it are those of small groups
LEAST_V = 0.5  # noise of a smaller variance leaves most counts of two variables as they are


class DrawnPopulation(ABC):
    """What a method does with people that it draws: ``drawn_codes`` says who they are."""

    @abstractmethod
    def drawn_codes(self, cells: InnerCells) -> Array:
        """The codes of the synthetic people, one row each."""

    def drawn(self, table: Table) -> Array:
        """How many people of the synthetic population are in each inner cell.

        >>> t = Table.of([[300, 500], [400, 200]], ["area", "sex"])
        >>> bool(abs(Synthetic(seed=1).drawn(t) - t.statistic("count").inner).max() < 20)
        True
        """
        return inner_counts(self.drawn_codes(InnerCells.of(table)), table)

    def shown(self, table: Table) -> Array:
        """Their counts in every cell of a table.

        >>> t = Table.of([[300, 500], [400, 200]], ["area", "sex"])
        >>> bool(abs(Synthetic(seed=1).shown(t) - t.count).max() < 20)
        True
        """
        count_cells(table, "a synthetic population")
        if (table.statistic("count").inner < 0).any():
            raise InputError("a count below 0 cannot be one of people")
        return table.layout.aggregate(self.drawn(table))

    @property
    def variables(self) -> tuple[str, ...]:
        """It names none."""
        return ()


@checked
@dataclass(frozen=True, kw_only=True)
class Synthetic(DrawnPopulation):
    """Counts of people who do not exist: a population drawn to fit noisy margins of the true one, and nothing else.

    Measured are all tables of one and two variables, at every level, and of up to ``order`` variables the cells above
    ``large``, each count with noise of variance ``v``: by the records' keys, so that a set of records has one noise in
    all of them, or by the cell's codes where there are no keys. A cell of three and more is measured only if every two
    of its codes have ``group`` people, so that three variables that depend on each other tell no more of small groups
    either; 0 measures all above ``large``. Below ``zero`` a noisy count is taken as none. What the population tells of
    a small group is what a model of the two-way tables would tell. Everything is summed, so tables add up, and
    nothing can be averaged out. Structural zeros stay empty.

    >>> import numpy as np
    >>> t = Table.of(np.full((3, 4), 500), ["area", "age"])
    >>> made = Synthetic(seed=1)(t).published["count"]
    >>> bool(abs(made - t.array(margins=True).ravel()).max() < 12)
    True
    """

    contract: ClassVar[Contract] = Contract(
        acts_on="table", truthful=False, cellwise=False, transition=False, step="population", words=WORDS
    )
    v: float = 3.0
    large: float = 50.0
    order: int = 3
    group: float = 2000.0
    zero: int | None = None
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        above("v", self.v)
        if self.v > MOST_V:
            raise InputError(f"v={self.v:g}: give a variance of at most {MOST_V:,.0f}")
        positive("large", self.large)
        positive("group", self.group)
        whole("order", self.order, 2, 4)
        if self.order > 2 and self.large < LEAST_LARGE:
            raise InputError(
                f"large={self.large:g}: small counts of {self.order} variables would be measured one by one; give at "
                f"least {LEAST_LARGE:g}, or order=2"
            )
        if self.zero is not None:
            whole("zero", self.zero, 1)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    def __call__(self, table: Table) -> Protected:
        return perturbed(table, self.shown(table), WORDS, v=self.v, large=self.large, order=self.order, seed=self.seed)

    def drawn_codes(self, cells: InnerCells) -> Array:
        """The codes of the synthetic people, one row each.

        >>> t = Table.of([[300, 500], [400, 200]], ["area", "sex"])
        >>> Synthetic(seed=1).drawn_codes(InnerCells.of(t)).shape
        (1400, 2)
        """
        secret = self._chances(cells)
        zero = default_zero(self.v) if self.zero is None else self.zero
        how = Measurement(v=self.v, large=self.large, zero=zero, group=self.group)
        noise = keyed_noise(self.v, secret)
        margins = how.margins(cells, crossings(cells.dimensions, self.order), noise)
        seed = int.from_bytes(secret.key("synthetic population"), "little")
        people = number_of_people(how.total(cells, noise), margins)
        return fitted_records(cells, margins, people, seed)

    def noise_law(self, dimensions: Sequence[Dimension]) -> FittedNoise:
        """How far true counts may be from those of the population, by what is measured of such data.

        >>> from discreet import Dimension
        >>> Synthetic(seed=1).noise_law([Dimension.flat("sex", "fm")]).reach
        4
        """
        sets, _ = measured_sets(dimensions, 2 if self.group else self.order)  # which of three are is not public
        zero = default_zero(self.v) if self.zero is None else self.zero
        return FittedNoise(self.v, zero, self.large, sets)

    def idle(self, *, counts: bool) -> str:
        """Noise of next to no variance leaves the margins as they are.

        >>> Synthetic(v=0.001, seed=1).idle(counts=True), Synthetic(seed=1).idle(counts=True)
        ('with v below 0.5 leaves most margins as they are', '')
        """
        return "" if self.v >= LEAST_V else f"with v below {LEAST_V:g} leaves most margins as they are"

    def _chances(self, cells: InnerCells) -> Secret:
        """What all chances come from: a seed, the secret, or else all record keys together."""
        if self.seed is not None:
            return Secret(f"discreet synthetic {self.seed}".encode())
        if self.secret is not None:
            return open_secret(self.secret)
        if cells.key is None:
            raise InputError(
                "a synthetic population takes its random numbers from a secret: give one (secret=, in a policy "
                "secret = { env = ... }), or a seed, or microdata with record keys"
            )
        return Secret(hashlib.sha256(np.ascontiguousarray(cells.key).tobytes()).digest())


def inner_counts(codes: Array, table: Table) -> Array:
    """Records as counts of a table's inner cells."""
    layout = table.layout
    number = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), layout.shape)
    counts = np.bincount(number, minlength=math.prod(layout.shape))
    return counts if layout.possible is None else counts[layout.inner]
