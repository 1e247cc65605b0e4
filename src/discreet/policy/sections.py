"""The sections of a policy: rules for queries, tables and editions, thresholds, the guard, the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.policy.measures import Measures, read_measures, read_thresholds
from discreet.policy.population_models import model_of
from discreet.risk.frequency import WEIGHTS
from discreet.risk.jos15 import JOS15_WEIGHTS

FEWEST_CHANGES = 500  # records by which two editions differ, if a policy does not say


@checked
@dataclass(frozen=True, kw_only=True)
class QueryRules:
    """What may be asked; decided from the codebook alone, before anything is counted.

    >>> import discreet as dc
    >>> policy = dc.Policy(query=QueryRules(max_dimensions=1), methods=(("round", {"base": 5}),))
    >>> dc.answer(dc.Table.of([[30, 8], [16, 23]], ["area", "sex"]), "area, sex", policy)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.Refused: max_dimensions: 2 variables are aske...
    """

    max_dimensions: int = 3
    max_cells: int = 100_000
    max_filters: int = 1
    nested_only: bool = True
    forbidden: tuple[tuple[str, ...], ...] = ()
    required: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    disallowed: tuple[str, ...] = ()


@checked
@dataclass(frozen=True, kw_only=True)
class TableRules:
    """What a table must be like; decided on the protected table before it is filtered.

    >>> import discreet as dc
    >>> policy = dc.Policy(table=TableRules(min_population=100), methods=(("round", {"base": 5}),))
    >>> dc.answer(dc.Table.of([[30, 8], [16, 23]], ["area", "sex"]), "area", policy)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.Refused: min_population:...
    """

    min_population: int = 0
    min_mean: float = 0.0
    max_small_share: float = 1.0
    small: int = 2


@checked
@dataclass(frozen=True, kw_only=True)
class AreaRules:
    """The variable whose categories are judged one by one, and what the table of each must be like: its shown people,
    people per cell, and share of cells that show 1 to ``small``.

    >>> AreaRules(variable="district", min_mean=1).max_small_share
    1.0
    """

    variable: str = ""
    min_population: int = 0
    min_mean: float = 0.0
    max_small_share: float = 1.0
    small: int = 2

    def __post_init__(self) -> None:
        idle = not self.min_population and not self.min_mean and self.max_small_share >= 1
        if bool(self.variable) == idle:
            raise InputError(
                "[areas] names a variable, and a rule that the table of each of its categories must keep "
                "(min_population, min_mean or max_small_share)"
            )


@checked
@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """T1: risk below which nothing need be done. T2: most risk after protection. T3: most loss.

    ``measure`` names one risk measure or several (``RISKS``), and T1 and T2 have a number for each; all must be kept.
    ``population`` names a model of the population when the data are a sample: the risk is then R2(F, f) of what is
    shown, with N people in all, or as many as the weights say.

    >>> Thresholds(measure=("r", "jos15"), t2=(0.3, 0.5)).limits("t2")
    {'r': 0.3, 'jos15': 0.5}
    """

    measure: str | tuple[str, ...] = "r"
    t1: float | tuple[float, ...] | None = None
    t2: float | tuple[float, ...] | None = None
    t3: float | None = None
    weights: tuple[float, ...] = WEIGHTS
    jos15_weights: tuple[float, ...] = JOS15_WEIGHTS
    population: str = ""
    population_size: int | str = "weights"

    def __post_init__(self) -> None:
        self.limits("t1")
        self.limits("t2")
        if self.population:
            model_of(self.population)
            if "jos15" in self.measures.names:
                raise InputError("the measure 'jos15' has no form for samples: leave it or population out")
        if self.population_size != "weights" and not isinstance(self.population_size, int):
            raise InputError(f'population_size = {self.population_size!r}: give a number of people, or "weights"')

    @cached_property
    def measures(self) -> Measures:
        """The risk measures, with their weights."""
        return read_measures(self.measure, self.weights, self.jos15_weights)

    @property
    def decides(self) -> bool:
        """Whether a threshold looks at the risk, before or after."""
        return self.t1 is not None or self.t2 is not None

    def limits(self, name: str) -> dict[str, float]:
        """T1 or T2 by measure; empty if there is none.

        >>> Thresholds(t1=0.1, t2=0.3).limits("t1"), Thresholds(t2=0.3).limits("t1")
        ({'r': 0.1}, {})
        """
        measures = self.measures
        thresholds = read_thresholds(name, getattr(self, name), measures)
        return {} if thresholds is None else dict(zip(measures.names, thresholds, strict=True))


@checked
@dataclass(frozen=True, kw_only=True)
class GuardRules:
    """What a server does about questions that single people out by what the same user has been told before.

    ``action`` is "off", "warn", "refuse", or "budget": that many flagged answers a user, then "refuse". ``scope`` is
    whose questions are set against each other: those of "everyone", or of each "user" who has signed in by itself;
    strangers are together in both, since anybody has as many addresses as there are.

    >>> GuardRules()
    GuardRules(action='warn', min_difference=10, max_overlaps=4, budget=5, scope='everyone')
    """

    action: str = "warn"
    min_difference: int = 10
    max_overlaps: int = 4
    budget: int = 5
    scope: str = "everyone"


@checked
@dataclass(frozen=True, kw_only=True)
class CatalogueRules:
    """The tables that may be asked, each with all its parts; none: whatever the rules for queries allow.

    A table is a list of variables, with a level behind a colon where not the finest is given (``"county:region"``).

    >>> CatalogueRules(tables=(("sex", "county:region"),)).levels
    [{'sex': 'sex', 'county': 'region'}]
    """

    tables: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        for table in self.tables:
            names = [text.partition(":")[0] for text in table]
            if not table or "" in names or len(set(names)) < len(names):
                raise InputError(f"a table of the catalogue is a list of different variables, not {list(table)}")

    @property
    def levels(self) -> list[dict[str, str]]:
        """Of each table the level of every variable."""
        split = [[text.partition(":") for text in table] for table in self.tables]
        return [{name: level or name for name, _, level in table} for table in split]


@checked
@dataclass(frozen=True, kw_only=True)
class EditionRules:
    """When new data take the place of those that are served: not before ``min_changes`` records have changed.

    What two editions tell by subtraction is about the records by which they differ, so these are a population too. If
    it is not stated, the minimum population of tables holds for it, and at least ``FEWEST_CHANGES``. ``people`` says
    whose records they are: a server compares no editions of other people, however alike their records.

    >>> import discreet as dc
    >>> dc.Policy(edition=EditionRules(min_changes=50), methods=(("round", {"base": 5}),)).min_changes
    50
    """

    min_changes: int | None = None
    people: str = ""

    def least(self, min_population: int) -> int:
        """The fewest changed records, under a minimum population of tables.

        >>> EditionRules().least(min_population=100), EditionRules(min_changes=50).least(min_population=100)
        (500, 50)
        """
        return max(FEWEST_CHANGES, min_population) if self.min_changes is None else self.min_changes
