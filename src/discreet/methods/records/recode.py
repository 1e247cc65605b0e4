"""Less detail instead of noise: global recoding and sampling of microdata. [Ant16]_ sections 2.4.1.1 and 4.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError
from discreet.methods.contract import Contract, seldom
from discreet.methods.keys import generator
from discreet.methods.records.record_columns import (
    check_microdata,
    column_of,
    columns,
    leaf_codes,
    record_uniforms,
)
from discreet.methods.touching import group_numbers, in_more_detail, lies_within


@checked
@dataclass(frozen=True)
class GlobalRecode:
    """Global recoding: categories of a variable combined into fewer, everywhere. [Ant16]_ section 2.4.1.1.

    Either ``level`` names a level of the variable's hierarchy, or ``groups`` gives new codes and the finest codes they
    stand for; codes that no group names stay as they are. Nothing is perturbed: what is published is true, and coarser.

    >>> import pandas as pd
    >>> from discreet import Microdata
    >>> data = Microdata.of(pd.DataFrame({"age": ["0", "1", "2", "2"]}), dimensions=["age"])
    >>> GlobalRecode("age", groups={"0-1": ["0", "1"]})(data).codebook.dimension("age").leaves
    ('0-1', '2')
    """

    variable: str
    _: KW_ONLY
    level: str | None = None
    groups: Mapping[str, Sequence[str]] | None = None

    contract: ClassVar[Contract] = Contract(
        acts_on="records", truthful=True, cellwise=False, transition=False, words="categories combined before counting"
    )

    def __post_init__(self) -> None:
        if (self.level is None) == (self.groups is None):
            raise InputError("give either level= (of the variable's hierarchy) or groups= ({new code: [old codes]})")

    def __call__(self, data: Microdata) -> Microdata:
        import pyarrow as pa

        from discreet.engines.duckdb.engine import DuckDB

        check_microdata(data, "global recoding")
        dimension = data.dimension(self.variable)
        place, new = recoded(dimension, self._parts(dimension))
        codes = place[leaf_codes(data, self.variable)]
        column = column_of(data, self.variable)
        table = columns(data)
        values = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(new.leaves, pa.string()))
        table = table.set_column(table.column_names.index(column), column, values)
        book = data.codebook
        dimensions = tuple(new if d.name == self.variable else d for d in book.dimensions)
        missing = {n: c for n, c in book.missing.items() if n != self.variable}
        return Microdata(DuckDB.of(table), replace(book, dimensions=dimensions, missing=missing), data.secret)

    def idle(self, *, counts: bool) -> str:
        """Groups of one code combine nothing.

        >>> GlobalRecode("age", groups={"0": ["0"]}).idle(counts=True)
        'combines no codes (groups)'
        >>> GlobalRecode("age", groups={"0-1": ["0", "1"]}).idle(counts=True)
        ''
        """
        if self.groups is None or any(len(codes) > 1 for codes in self.groups.values()):
            return ""
        return "combines no codes (groups)"

    def untouched(self, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> str:
        """It changes tables that show its variable in more detail than it leaves.

        >>> age = Dimension.flat("age", ["0", "1", "2"])
        >>> recode = GlobalRecode("age", groups={"0-1": ["0", "1"]})
        >>> recode.untouched({"sex": "sex"}, {"age": age})
        "ask for one with 'age', in more detail than is kept"
        >>> recode.untouched({"age": "age"}, {"age": age})
        ''
        """
        return "" if self._touches(asked, dimensions) else in_more_detail(self.variable, alone=True)

    def _touches(self, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> bool:
        if self.variable not in asked:
            return False
        dimension = dimensions[self.variable]
        shown = group_numbers(dimension, asked[self.variable])
        if self.level is not None:
            return not lies_within(group_numbers(dimension, self.level), shown)
        groups = [
            [dimension.leaf_position.get(str(code), -1) for code in codes] for codes in (self.groups or {}).values()
        ]
        return any(min(group) < 0 or len(set(shown[group])) > 1 for group in groups if group)

    def _parts(self, dimension: Dimension) -> dict[str, tuple[str, ...]]:
        if self.level is not None:
            return {code: tuple(dimension.leaves_of(code)) for code in dimension.level(self.level)}
        return {code: tuple(olds) for code, olds in (self.groups or {}).items()}


def recoded(dimension: Dimension, parts: Mapping[str, Sequence[str]]) -> tuple[Array, Dimension]:
    """For every old finest code the place of its new one, and the coarser dimension, in the old order.

    Groups of the old hierarchy that are whole sums of new codes stay.

    >>> place, new = recoded(Dimension.flat("age", "abc"), {"a-b": ["a", "b"]})
    >>> place.tolist(), new.leaves
    ([0, 0, 1], ('a-b', 'c'))
    """
    owner: dict[str, str] = {}
    for code, olds in parts.items():
        for old in olds:
            leaf = dimension.codes[dimension.index(old)]
            if leaf not in dimension.leaf_position:
                raise InputError(f"dimension {dimension.name!r}: {old!r} stands for other codes; name the finest ones")
            if leaf in owner:
                raise InputError(f"dimension {dimension.name!r}: {old!r} is in two groups")
            owner[leaf] = code
    named = [owner.get(leaf, leaf) for leaf in dimension.leaves]
    leaves = tuple(dict.fromkeys(named))
    coarser = Dimension(dimension.name, leaves, (), dimension.total)
    for group in dimension.groups:
        held = dimension.leaves_of(group.code)
        signs = {owner.get(leaf, leaf): sign for leaf, sign in held.items()}
        whole = all(named.count(code) == sum(owner.get(leaf, leaf) == code for leaf in held) for code in signs)
        if whole and group.code not in leaves and min(signs.values()) > 0:
            coarser = coarser.with_group(group.code, list(signs))
    labels = {code: text for code, text in dimension.labels.items() if code in coarser.codes}
    place = np.array([leaves.index(code) for code in named])
    return place, replace(coarser, labels=labels)


@checked
@dataclass(frozen=True)
class Sample:
    """A random sample of the records: sampling as a protection of its own. [Ant16]_ section 4.2.

    ``fraction`` of the records of every stratum (combination of ``strata``) are kept, drawn without replacement, the
    number rounded at random so that each record has the same chance. A record's number depends on its key, or on the
    seed and its unit id.

    >>> import discreet as dc
    >>> data = dc.datasets.census(1000)
    >>> int(dc.tabulate(Sample(0.1, seed=1)(data), "sex").count[0])
    100
    """

    fraction: float
    _: KW_ONLY
    strata: Sequence[str] | str = ()
    seed: int | None = None

    contract: ClassVar[Contract] = Contract(
        acts_on="records", truthful=False, cellwise=False, transition=False, words="a random sample of the records"
    )

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise InputError(f"fraction={self.fraction}: give a share above 0 and at most 1")
        strata = (self.strata,) if isinstance(self.strata, str) else tuple(self.strata)
        object.__setattr__(self, "strata", strata)

    def __call__(self, data: Microdata) -> Microdata:
        from discreet.engines.duckdb.engine import DuckDB

        check_microdata(data, "sampling")
        chance = record_uniforms(data, seed=self.seed, purpose="sample")
        stratum = np.zeros(len(chance), np.int64)
        for name in self.strata:
            stratum = stratum * len(data.dimension(name).leaves) + leaf_codes(data, name)
        stratum = np.unique(stratum, return_inverse=True)[1]
        size = np.bincount(stratum)
        number = np.floor(size * self.fraction + generator(chance).random(len(size))).astype(np.int64)
        order = np.lexsort((chance, stratum))
        rank = np.arange(len(order)) - (np.cumsum(size) - size)[stratum[order]]
        kept = np.sort(order[rank < number[stratum[order]]])
        if not kept.size:
            raise InputError("the sample would be empty; give a larger fraction")
        return Microdata(DuckDB.of(columns(data).take(kept)), data.codebook, data.secret)

    def idle(self, *, counts: bool) -> str:
        """A sample of nearly all records protects nobody.

        >>> Sample(0.999, seed=1).idle(counts=True), Sample(0.1, seed=1).idle(counts=True)
        ('with these parameters changes almost nothing (whether a record counts with a chance below 1%)', '')
        """
        return seldom(1 - self.fraction, "whether a record counts")
