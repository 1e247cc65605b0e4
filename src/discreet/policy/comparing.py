"""The figures of a map: risk and loss of a method against the true table, as expectations.

Exact where a method moves every cell by itself with known chances and its outcomes are few enough to be listed; else
the mean over draws. Where the table is a sample, the risk is that of populations drawn behind it. All of it is
confidential.
"""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import DiscreetError, DiscreetWarning, InputError
from discreet.methods.contract import Method, contract_of, protect, transition_of
from discreet.policy.measures import LOSSES, Measures
from discreet.policy.method_digest import parameter_digest
from discreet.policy.population_models import model_of
from discreet.release import Protected
from discreet.risk.expected import every_outcome, outcomes
from discreet.risk.transition import Transition
from discreet.tables.table import Table

Figures = dict[str, Array]

DRAWS = 20  # of a method that draws, where its outcomes are not listed
MOST_OUTCOMES = 20_000  # listed at most
MOST = 4_000_000  # cells of outcomes, or of populations, at a time
POPULATIONS = 200  # drawn behind a sample
SEED = 4  # of the populations, the same for every method
MADE = 3  # how figures are made: kept results of another number are not taken
SWEEPS = 200  # of the fit that fills hidden cells
WEIGHTED = "weighted count"


def measure_column(what: str, number: int, measure: str) -> str:
    """The name of a column: that of the first measure has no end."""
    return what if number == 0 else f"{what} {measure}"


@dataclass(frozen=True)
class SampleModel:
    """The table as a sample of a larger population: the name of a model, and N (None: as the weights say)."""

    model: str
    size: int | None = None


@dataclass(frozen=True)
class Comparison:
    """What methods are compared by: the true table, the measures, and how often a method is drawn (None: see above)."""

    table: Table
    measures: Measures
    loss: str
    draws: int | None = None
    sample: SampleModel | None = None

    @cached_property
    def counts(self) -> Array:
        """The true inner counts."""
        return self.table.array()

    @cached_property
    def populations(self) -> Array | None:
        """Populations behind the table, if it is a sample: as ``assess_sample`` draws them."""
        if self.sample is None:
            return None
        model, size = model_of(self.sample.model), self._population_size(self.sample)
        number = max(2, min(POPULATIONS, MOST // max(self.counts.size, 1)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscreetWarning)  # ``assess_sample`` tells what a model finds odd
            return np.asarray(model.fit(self.counts, max(size, int(self.counts.sum()))).draw(number, seed=SEED))

    def _population_size(self, sample: SampleModel) -> int:
        if sample.size is not None:
            return sample.size
        if WEIGHTED not in self.table.statistics:
            raise InputError(
                "the table is to be judged as that of a sample, and it has no weights: say how many people there are "
                "(population_size=, --population-size), or name the column of weights in the codebook"
            )
        held = self.table.statistics[WEIGHTED]
        return round(float(held.inner.sum()) / 10.0**held.decimals)

    @cached_property
    def before(self) -> dict[str, float]:
        """The risk of the table itself, by measure."""
        axes = tuple(range(1, self.counts.ndim + 1))
        if self.populations is not None:
            risks = self._behind(self.counts)
        else:
            risks = self.measures.before(self.counts[None], axes)
        return {name: float(np.mean(value)) for name, value in risks.items()}

    def _behind(self, shown: Array) -> Figures:
        """R2(F, shown) of every population F behind the table."""
        assert self.populations is not None
        axes = tuple(range(1, shown.ndim + 1))
        return self.measures.after(self.populations, np.broadcast_to(shown, self.populations.shape), axes, None)

    @property
    def fingerprint(self) -> str:
        """Which table and measures kept results belong to."""
        state = hashlib.sha256(np.ascontiguousarray(self.counts).tobytes())
        dimensions = [(d.name, d.codes) for d in self.table.dimensions]
        content = (MADE, self.measures, self.loss, self.draws, self.sample, dimensions, self.table.measure)
        state.update(repr(content).encode())
        state.update(np.ascontiguousarray(self.table.layout.codes).tobytes())
        for name, statistic in sorted(self.table.statistics.items()):  # methods draw from keys and go by magnitudes
            state.update(repr((name, statistic.decimals)).encode())
            state.update(np.ascontiguousarray(statistic.inner).tobytes())
        if self.table.has_contributions:
            state.update(str(parameter_digest(self.table.contributions)).encode())
        if self.sample is not None:
            state.update(repr(self._population_size(self.sample)).encode())
        return state.hexdigest()[:16]

    def judge(self, one: Method) -> dict[str, Any]:
        """Means and standard deviations; a method that does not fit this table is a row with a note."""
        try:
            first = protect(self.table, one)
            listed = self._listed(one)
            if listed is not None:
                was, now, chance = listed
                figures = self._figures(was, now, listed_by(one, self.table))
                figures["hidden"] = np.full(len(chance), float(first.hidden.mean()))
                exact = True
            else:
                figures, number, exact = self._drawn(one, first)
                chance = np.full(number, 1 / number)
        except DiscreetError as error:
            return {
                **dict.fromkeys(("risk", "± risk", "utility", "± utility", "hidden", "changed", "draws")),
                "exact": False,
                "note": str(error),
            }
        row: dict[str, Any] = {}
        for name, values in figures.items():
            row[name] = float(chance @ values) if np.isfinite(values).all() else float(values.mean())
            if name not in ("hidden", "changed"):
                row[f"± {name}"] = _spread(values, chance, exact=exact)
        return {**row, "draws": len(chance), "exact": exact, "note": ""}

    def _listed(self, one: Method) -> tuple[Array, Array, Array] | None:
        """Every outcome of a method (was, shown, probability), if draws are not asked for and they are few enough.

        Cells of the same count are alike to all measures, unless populations stand behind them.
        """
        matrix = listed_by(one, self.table) if self.draws is None else None
        if matrix is None or self.populations is not None or not self.counts.any():
            return None
        number = outcomes(self.counts, matrix)
        if number > MOST_OUTCOMES or number * self.counts.size > MOST:
            return None
        was, now, chance = every_outcome(self.counts, matrix)
        return np.broadcast_to(was, now.shape), now, chance

    def _drawn(self, one: Method, first: Protected) -> tuple[Figures, int, bool]:
        """The figures of every draw; ``exact`` if nothing is drawn."""
        tried = variants(one, DRAWS if self.draws is None else self.draws)
        drawn = []
        for k, method in enumerate(tried):
            protected = first if k == 0 else protect(self.table, method)
            now, was = expected_counts(protected)[None], self.counts[None]
            figures = self._figures(was, now, transition_of(one, self.table))
            drawn.append({**figures, "hidden": np.array([float(protected.hidden.mean())])})
        return {name: np.concatenate([f[name] for f in drawn]) for name in drawn[0]}, len(tried), not _draws(one)

    def _figures(self, was: Array, now: Array, transition: Transition | None) -> Figures:
        """Risk in every measure, utility, and the share of cells changed, of each table of a batch."""
        axes = tuple(range(1, now.ndim))
        same = np.asarray((now == was).mean(axis=axes))
        if self.populations is None:
            risks = self.measures.after(was, now, axes, transition, same)
        else:
            each = [self._behind(shown) for shown in now]
            risks = {name: np.array([np.mean(figures[name]) for figures in each]) for name in self.measures.names}
        figures = {
            measure_column("risk", k, n): np.atleast_1d(risks[n]).astype(float)
            for k, n in enumerate(self.measures.names)
        }
        figures["utility"] = np.atleast_1d(1.0 - LOSSES[self.loss](was, now, axes))
        return {**figures, "changed": np.atleast_1d(1.0 - same)}


def listed_by(one: Method, table: Table) -> Transition | None:
    """The matrix of a method that moves every inner cell by itself, by which its outcomes can be listed."""
    if not contract_of(one).cellwise or table.measure != "count" or table.layout.possible is not None:
        return None
    return transition_of(one, table)


def _draws(one: Method) -> bool:
    """Whether a method draws at all."""
    return dataclasses.is_dataclass(one) and "seed" in {f.name for f in dataclasses.fields(one)}


def variants(one: Method, draws: int) -> list[Method]:
    """A method as it is given, and with other seeds; once only if it has none.

    >>> from discreet import RandomRound
    >>> [m.seed for m in variants(RandomRound(3, seed=7), 3)]
    [7, 8, 9]
    """
    known = {f.name for f in dataclasses.fields(one)} if dataclasses.is_dataclass(one) else set()
    if "seed" not in known:
        return [one]
    first = getattr(one, "seed", None)
    bare = {"secret": None} if "secret" in known else {}
    start = 0 if first is None else first
    more = [dataclasses.replace(one, seed=start + k, **bare) for k in range(1, draws)]  # type: ignore[type-var]
    return [one, *more]


def _spread(values: Array, chance: Array, *, exact: bool) -> float:
    """Standard deviation of one release; of one value 0, of infinite ones none."""
    if not np.isfinite(values).all():
        return float("nan")
    if exact:
        return float(np.sqrt(max(chance @ (values - chance @ values) ** 2, 0.0)))
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def expected_counts(protected: Protected) -> Array:
    """Inner counts as a reader would take them: those shown, and for hidden ones what the totals leave, spread evenly.

    Hidden cells are fitted to every published total (multiplicative updates from equal starting values), which makes
    suppression comparable with perturbation.
    """
    table = protected.table
    if "count" not in protected.published:
        raise InputError("risk and utility are functions of counts, and the protected table publishes none")
    inner = protected.shown_inner()
    gone = np.isnan(inner)
    if gone.any():
        inner[gone] = _fit(table, np.asarray(protected.published["count"], float), inner, gone)
    return table.layout.dense(np.rint(np.maximum(inner, 0)).astype(np.int64))


def _fit(table: Table, published: Array, inner: Array, gone: Array) -> Array:
    known = np.flatnonzero(~np.isnan(published) & ~table.layout.signed)
    matrix = table.matrix[:, known].tocsr()
    unknown = matrix[np.flatnonzero(gone)]
    rest = published[known] - matrix.T @ np.nan_to_num(inner)
    used = np.flatnonzero(np.diff(unknown.tocsc().indptr))
    unknown, rest = unknown[:, used], np.maximum(rest[used], 0)
    x = np.ones(unknown.shape[0])
    share = np.maximum(np.diff(unknown.indptr), 1)
    for _ in range(SWEEPS):
        sums = unknown.T @ x
        with np.errstate(divide="ignore"):
            pull = np.where(rest > 0, np.log(np.maximum(rest, 1e-12)) - np.log(np.maximum(sums, 1e-12)), -30.0)
        step = (unknown @ pull) / share
        x *= np.exp(np.clip(step, -3, 3))
        if np.abs(step[x > 1e-9]).max(initial=0.0) < 1e-6:
            break
    return x
