"""Post-randomisation: a variable's categories redrawn. [Ant16]_ section 2.4.1.1, after Gouweleeuw et al. (1998)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked, share
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.methods.contract import LEAST, Contract, seldom
from discreet.methods.invariance import apportioned, assign, draw, invariant, read_matrix
from discreet.methods.keys import generator
from discreet.methods.records.record_columns import (
    check_microdata,
    column_of,
    leaf_codes,
    record_uniforms,
    with_columns,
)
from discreet.methods.touching import group_numbers, in_more_detail


@checked
@dataclass(frozen=True)
class Pram:
    """PRAM of one variable, (2.4.1) of [Ant16]_: category i becomes j with probability p_ij, record by record.

    The matrix is given (one row for each finest code, in the codebook's order), or a record keeps its category with
    probability ``stay`` and else takes any other alike; with ``within`` (a level of the variable's hierarchy) only
    those of the same group. With ``invariant`` it is made to keep the frequencies in expectation (R = PQ, then
    alpha R + (1 - alpha) I), with ``exact`` also to the unit, by drawing without replacement.

    >>> import discreet as dc
    >>> people = dc.datasets.census(500)
    >>> dc.tabulate(Pram("sex", stay=0.8, exact=True, seed=1)(people), "sex").count.tolist()
    [500, 231, 269]
    """

    variable: str
    _: KW_ONLY
    stay: float = 0.9
    matrix: Any = None
    within: str | None = None
    invariant: bool = True
    alpha: float = 1.0
    exact: bool = False
    seed: int | None = None

    contract: ClassVar[Contract] = Contract(
        acts_on="records",
        truthful=False,
        cellwise=False,
        transition=False,
        step="categories",
        words="categories changed at random before counting",
    )

    def __post_init__(self) -> None:
        share("stay", self.stay)
        share("alpha", self.alpha)
        if self.matrix is not None:
            rows = read_matrix(self.matrix).tolist()
            object.__setattr__(self, "matrix", tuple(tuple(row) for row in rows))

    def __call__(self, data: Microdata) -> Microdata:
        import pyarrow as pa

        check_microdata(data, "PRAM")
        category = leaf_codes(data, self.variable)
        chance = record_uniforms(data, seed=self.seed, purpose=f"pram {self.variable}")
        matrix = self._used(data, category)
        if self.exact:
            numbers = apportioned(matrix, np.bincount(category, minlength=len(matrix)), generator(chance))
            moved = assign(category, chance, numbers)
        else:
            moved = draw(category, chance, matrix)
        leaves = pa.array(data.dimension(self.variable).leaves, pa.string())
        new = pa.DictionaryArray.from_arrays(pa.array(moved.astype(np.int32)), leaves)
        return with_columns(data, {column_of(data, self.variable): new})

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it names."""
        return (self.variable,)

    def idle(self, *, counts: bool) -> str:
        """A matrix that moves next to nobody protects nobody.

        >>> Pram("sex", stay=0.999, seed=1).idle(counts=True), Pram("sex", stay=0.8, seed=1).idle(counts=True)
        ('with these parameters changes almost nothing (a category with a chance below 1%)', '')
        """
        leaves = 1 - self.stay if self.matrix is None else 1 - min(np.diagonal(np.array(self.matrix)))
        return seldom(float(self.alpha * leaves), "a category")

    def untouched(self, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> str:
        """It changes tables with its variable; exact frequencies are kept, and so are groups that it stays within.

        >>> import discreet as dc
        >>> sex = dc.Dimension.flat("sex", ["f", "m"])
        >>> Pram("sex", seed=1).untouched({"age": "age"}, {"sex": sex})
        "ask for one with 'sex', in more detail than is kept"
        >>> Pram("sex", seed=1).untouched({"sex": "sex"}, {"sex": sex})
        ''
        """
        return "" if self._touches(asked, dimensions) else in_more_detail(self.variable, alone=not self.exact)

    def _touches(self, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> bool:
        if self.variable not in asked or (self.exact and self.invariant and len(asked) == 1):
            return False
        dimension = dimensions[self.variable]
        shown = group_numbers(dimension, asked[self.variable])
        apart = shown[:, None] != shown
        if self.matrix is None:
            group = np.zeros(len(shown)) if self.within is None else group_numbers(dimension, self.within)
            return bool((apart & (group[:, None] == group)).any())
        matrix = np.array(self.matrix)
        if matrix.shape != apart.shape:
            return True  # the method itself refuses it
        return bool((self.alpha * (matrix * apart).sum(axis=1)).max() >= LEAST - 1e-9)

    def probabilities(self, data: Microdata) -> Floats:
        """P(becomes j | was i) over the finest codes, as it is used on these data (confidential).

        >>> import discreet as dc
        >>> Pram("sex", stay=0.8, invariant=False, seed=1).probabilities(dc.datasets.census(100)).round(2).tolist()
        [[0.8, 0.2], [0.2, 0.8]]
        """
        return self._used(data, leaf_codes(data, self.variable))

    def _used(self, data: Microdata, category: Array) -> Floats:
        p = self._given(data)
        if self.invariant:
            return invariant(p, np.bincount(category, minlength=len(p)), self.alpha)
        return self.alpha * p + (1 - self.alpha) * np.eye(len(p))

    def _given(self, data: Microdata) -> Floats:
        dimension = data.dimension(self.variable)
        n = len(dimension.leaves)
        if self.matrix is not None:
            return read_matrix(self.matrix, n)
        group = np.zeros(n, np.int64)
        if self.within is not None:
            for k, code in enumerate(dimension.level(self.within)):
                group[[dimension.leaf_position[leaf] for leaf in dimension.leaves_of(code)]] = k
        others = (group[:, None] == group) & ~np.eye(n, dtype=bool)
        number = others.sum(axis=1, keepdims=True)
        p = np.where(others, (1 - self.stay) / np.maximum(number, 1), 0.0)
        p[np.diag_indices(n)] = np.where(number.ravel() > 0, self.stay, 1.0)
        return p
