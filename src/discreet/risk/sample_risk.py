"""Risk of a table made from a sample: R1 and R2 of the population it may have come from, and of its unique cells.

The population F is unknown; models of :mod:`discreet.population` give its distribution given the sample f and N.
Sampling counts as a protection, so the risk is R2(F, f), equation (4.3.1) of [Ant16]_ and (4) of [UNECE15]_.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.base.arguments import checked
from discreet.base.naming import beside
from discreet.base.parallel import over_ranges, side_by_side, workers
from discreet.errors import DiscreetWarning, InputError
from discreet.information import Array, Floats, xlogx
from discreet.population import Estimate, Multinomial, Polya, expectation, log_probability
from discreet.population.estimate import check_draws
from discreet.population.sample import Population, as_sample
from discreet.risk.frequency import WEIGHTS, read_weights

if TYPE_CHECKING:
    import pandas as pd

SEED = 2016
"""Of the populations drawn when none is given; the same table and model then always give the same numbers."""


class PopulationModel(Protocol):
    """What :mod:`discreet.population` calls a model: it fits itself to a sample."""

    def fit(self, counts: Any, population: Population | None = None, **known: Any) -> Estimate:
        """The population given a sample of it."""


MODELS: tuple[PopulationModel, ...] = (Multinomial("main"), Polya("main"))
"""The two models of [UNECE15]_; the first is the one used, the second says how much that matters."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Measures of drawn populations, one row a sample: the risks, empty cells, uniques, uniques that were sampled.

    >>> draws = draw_risks([Multinomial().fit([[3, 1], [1, 1]], 60)], 100, seed=1)
    >>> draws.zeros.shape, float(draws.zeros.max())
    ((1, 100), 0.0)
    """

    r2: Floats
    r1: Floats
    zeros: Floats
    uniques: Floats
    matches: Floats


@checked
def draw_risks(
    estimates: Sequence[Estimate], populations: int, *, seed: int = SEED, weights: Sequence[float] = WEIGHTS
) -> Draws:
    """R2(F, f), R1(F) and uniques of so many populations drawn for each estimate; no population is kept.

    Population j of estimate i depends on (seed, i, j) only, not on the number of threads.

    >>> draws = draw_risks([Multinomial().fit([[3, 1], [1, 1]], 60)], 1000, seed=1)
    >>> draws.r2.shape, bool((draws.r2 <= draws.r1).all())
    ((1, 1000), True)
    """
    from discreet.risk import _sample_kernels

    check_draws(populations, seed)
    w = np.array(read_weights(weights))
    most = max((e.sample.population for e in estimates), default=0)
    x = np.arange(min(most, 1 << 20) + 1, dtype=np.float64)
    lookup, out = xlogx(x), np.empty((len(estimates), 5, populations))

    def one(i: int, first: int, last: int) -> None:
        parameters, strata, law = estimates[i].arrays
        f = estimates[i].sample.counts
        _sample_kernels.risks(law, np.uint64(seed), i, f, parameters, strata, lookup, w, first, last, out[i])

    if len(estimates) < workers():
        for i in range(len(estimates)):
            over_ranges(partial(one, i), populations)
    else:
        one(0, 0, 0)  # compiles or loads once, before the threads start
        side_by_side(lambda i: one(i, 0, populations), range(len(estimates)))
    return Draws(*(out[:, k] for k in range(5)))


@dataclass(frozen=True)
class ExpectedMeasures:
    """Expectations over F given f, computed and not drawn. ``exact`` if R1's is that of every population of N units.

    >>> expected_measures(Multinomial().fit([[3, 1], [1, 1]], 60)).exact
    True
    """

    r1: float
    entropy: float
    zeros: float
    uniques: float
    sample_uniques: float
    matches: float
    exact: bool


@checked
def expected_measures(estimate: Estimate, weights: Sequence[float] = WEIGHTS) -> ExpectedMeasures:
    r"""What need not be simulated: the mean of R1, of the entropy, of zeros and of uniques.

    .. math:: E\,H(X) = \log N - \tfrac1N \sum_i E(F_i \log F_i | f_i), \quad
              E|D| = \sum_i P(F_i = 0 | f_i), \quad \tau_1 = \sum_{f_i = 1} P(F_i = 1 | f_i), \quad
              \tau_2 = \sum_{f_i = 1} E(1/F_i | f_i)

    Equations (4.4.1), (4.5.1) of [Ant16]_ and section 2.3.2.2.2 there. ``uniques`` are all expected population uniques,
    ``sample_uniques`` is τ₁ and ``matches`` τ₂. The series are summed to about 1e-12. Not exact for models whose sum
    is N only in the mean, and for an urn that may run out of empty cells. R2 has no such form: see :func:`draw_risks`.

    >>> e = expected_measures(Multinomial().fit([[3, 1], [1, 1]], 60))
    >>> round(e.r1, 4), round(e.sample_uniques, 6), round(e.matches, 4)
    (0.118, 0.001731, 0.327)
    """
    w, sample = read_weights(weights), estimate.sample
    cells = len(sample.counts)
    total = sample.population if estimate.fixed_total else float(estimate.mean.sum())
    entropy = math.log(total) - float(expectation(estimate, xlogx).sum()) / total
    term = 1.0 - entropy / math.log(cells) if cells > 1 else 0.0
    empty, unique = (_probability(estimate, count) for count in (0, 1))
    ones = np.flatnonzero(sample.counts == 1)
    matches = float(expectation(estimate, np.reciprocal, ones).sum()) if ones.size else 0.0
    size = (1 + 0.5 * math.log(total)) / math.sqrt(total)
    return ExpectedMeasures(
        r1=w[0] * float(empty.sum()) / cells + w[1] * term + w[2] * size,
        entropy=entropy,
        zeros=float(empty.sum()),
        uniques=float(unique.sum()),
        sample_uniques=float(unique[ones].sum()),
        matches=matches,
        exact=estimate.law in ("multinomial", "dirichlet"),
    )


@checked
def cell_measures(estimate: Estimate) -> dict[str, Floats]:
    """For each possible cell: E(F | f), P(F = 0 | f), P(F = 1 | f) and the record-level θ = E(1/F | f), NaN if f = 0.

    A record that is alone in its cell of the sample is correctly matched with probability θ (section 2.3.2.2.2 of
    [Ant16]_), and is alone in the population too with probability P(F = 1 | f = 1).

    >>> {name: x.round(3).tolist() for name, x in cell_measures(Multinomial(()).fit([1, 0], 3)).items()}
    {'expected': [2.0, 1.0], 'empty': [0.0, 0.25], 'unique': [0.25, 0.5], 'match': [0.583, nan]}
    """
    filled = np.flatnonzero(estimate.sample.counts > 0)
    match = np.full(len(estimate.sample.counts), np.nan)
    match[filled] = expectation(estimate, np.reciprocal, filled)
    mean = estimate.mean.ravel()[estimate.sample.place]
    return {"expected": mean, "empty": _probability(estimate, 0), "unique": _probability(estimate, 1), "match": match}


def _probability(estimate: Estimate, count: int) -> Floats:
    """P(F = count | f) of every cell."""
    every = np.arange(len(estimate.sample.counts))
    out: Floats = np.exp(log_probability(estimate, count - estimate.sample.counts, every))
    return out


@checked
@dataclass(frozen=True, eq=False, repr=False)
class SampleRisk:
    """The risk of a sample table under two models or more; the first is the one used. Confidential, like the table.

    >>> from discreet import assess_sample
    >>> risk = assess_sample([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440, seed=1, populations=20)
    >>> isinstance(risk, SampleRisk), len(risk.summary())
    (True, 2)
    """

    estimates: tuple[Estimate, ...]
    draws: Draws
    weights: tuple[float, ...]
    level: float
    seed: int

    @property
    def value(self) -> float:
        """The mean of R2(F, f) under the model used."""
        return float(self.draws.r2[0].mean())

    @property
    def sensitivity(self) -> float:
        """How far apart the models' means of R2 are."""
        return float(np.ptp(self.draws.r2.mean(axis=1)))

    @cached_property
    def statement(self) -> str:
        """What the numbers say, in a sentence or two."""
        low, high = self._interval(self.draws.r2[0])
        lean = "which hardly matters" if self.sensitivity <= high - low else "so say which model was used, and why"
        others = "; ".join(
            f"{e.model} gives {r.mean():.4f}" for e, r in zip(self.estimates[1:], self.draws.r2[1:], strict=True)
        )
        first = f"R2 is {self.value:.4f} ({low:.4f} to {high:.4f}) if {self.estimates[0].model} holds."
        return first + (f" {others}: {self.sensitivity:.4f} apart, {lean}." if others else "")

    def summary(self) -> pd.DataFrame:
        """One row a model: R2's mean, standard deviation and interval, R1's mean, expected zeros and uniques.

        >>> from discreet import assess_sample
        >>> risk = assess_sample([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440, seed=1, populations=20)
        >>> risk.summary()[["used", "R2"]].round(2).reset_index(drop=True)
            used    R2
        0   True  0.12
        1  False  0.16
        """
        import pandas as pd

        rows = [self._row(i) for i in range(len(self.estimates))]
        return pd.DataFrame(rows).set_index("model")

    def rows(self) -> list[tuple[str, float, str]]:
        """Name, value and meaning of the main numbers, for the summary of a larger report.

        >>> from discreet import assess_sample
        >>> risk = assess_sample([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440, seed=1, populations=20)
        >>> [name for name, value, meaning in risk.rows()]
        ['sample r2, model 1', 'sample r2, model 2', 'sample sensitivity']
        """
        said = []
        for i, estimate in enumerate(self.estimates):
            low, high = self._interval(self.draws.r2[i])
            used = "the model used" if i == 0 else "for comparison"
            meaning = f"R2 if {estimate.model} holds ({used}); {self.level:.0%} from {low:.4f} to {high:.4f}"
            said.append((f"sample r2, model {i + 1}", float(self.draws.r2[i].mean()), meaning))
        if len(self.estimates) > 1:
            said.append(("sample sensitivity", self.sensitivity, "how far apart the models are"))
        return said

    def _row(self, i: int) -> dict[str, Any]:
        estimate, r2 = self.estimates[i], self.draws.r2[i]
        low, high = self._interval(r2)
        exact = expected_measures(estimate, self.weights)
        drawn = estimate.law == "polya"  # whose formulas do not know that it may run out of empty cells
        return {
            "model": estimate.model,
            "used": i == 0,
            "R2": float(r2.mean()),
            "sd": float(r2.std(ddof=1)),
            "low": low,
            "high": high,
            "R1": float(self.draws.r1[i].mean()),
            "zeros": exact.zeros,
            "population uniques": float(self.draws.uniques[i].mean()) if drawn else exact.uniques,
            "sample uniques unique": float(self.draws.matches[i].mean()) if drawn else exact.sample_uniques,
            "correct matches": exact.matches,
        }

    def _interval(self, values: Floats) -> tuple[float, float]:
        low, high = np.quantile(values, [(1 - self.level) / 2, (1 + self.level) / 2])
        return float(low), float(high)

    @property
    def cells(self) -> pd.DataFrame:
        """One row per possible inner cell under the model used: sample count and :func:`cell_measures`."""
        import pandas as pd

        estimate = self.estimates[0]
        places = np.unravel_index(estimate.sample.place, estimate.sample.shape)
        names = estimate.sample.names or tuple(f"axis {k}" for k in range(len(places)))
        codes = pd.DataFrame(dict(zip(names, self._codes(places), strict=True)))
        frame = beside(codes, {"sample": estimate.sample.counts, **cell_measures(estimate)})
        return frame.iloc[np.argsort(estimate.sample.place)].reset_index(drop=True)

    def _codes(self, places: tuple[Array, ...]) -> list[Any]:
        labels = self.estimates[0].sample.labels
        return [np.asarray(codes)[at] for codes, at in zip(labels, places, strict=True)] if labels else list(places)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the models say about themselves, each with its name."""
        return tuple(f"{e.model}: {note}" for e in self.estimates for note in e.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON.

        >>> from discreet import assess_sample
        >>> risk = assess_sample([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440, seed=1, populations=20)
        >>> risk.to_dict()["populations"], len(risk.to_dict()["models"])
        (20, 2)
        """
        rows = self.summary().reset_index().to_dict("records")
        return {
            "models": [{str(k): v for k, v in row.items()} for row in rows],
            "sensitivity": self.sensitivity,
            "statement": self.statement,
            "notes": list(self.notes),
            "weights": list(self.weights),
            "level": self.level,
            "populations": int(self.draws.r2.shape[1]),
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return f"<SampleRisk: {self.statement}>"


@checked
def assess_sample(
    counts: Any,
    population: Population,
    *,
    models: Sequence[PopulationModel] = MODELS,
    weights: Sequence[float] = WEIGHTS,
    seed: int = SEED,
    populations: int = 200,
    level: float = 0.95,
    strata: int | str | None = None,
    design: Any = None,
    structural: Any = None,
) -> SampleRisk:
    """Risk of a table that was made from a sample of a population of N units.

    ``counts`` are the numbers of records (an array or a Table), ``population`` is N, one N per category of ``strata``,
    or "weights" for the sum of the design weights (``design``: their sums by cell; a Table brings its own).
    Each of the ``models`` gives ``populations`` draws; the first model is the one used, the others show how much
    depends on it. What the models find odd becomes a :class:`DiscreetWarning` and a line of ``.notes``.

    >>> risk = assess_sample([[9, 1, 0], [4, 2, 2], [3, 0, 1]], 440, seed=1)
    >>> risk.summary()[["R2", "low", "high"]].round(2).to_numpy().tolist()
    [[0.12, 0.1, 0.14], [0.17, 0.08, 0.27]]
    """
    w = read_weights(weights)
    if not models:
        raise InputError("models is empty: give one model or more, such as Multinomial('main') and Polya('main')")
    if not 0 < level < 1:
        raise InputError(f"level={level}: give the probability of the interval, between 0 and 1")
    if populations < 2:
        raise InputError(f"populations={populations}: a standard deviation needs 2 or more")
    known = {"strata": strata, "design": design, "structural": structural}
    sample = as_sample(counts, population, known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscreetWarning)  # said again below, with the model's name
        estimates = tuple(model.fit(sample) for model in models)
    draws = draw_risks(estimates, populations, seed=seed, weights=w)
    result = SampleRisk(estimates, draws, w, level, seed)
    for note in result.notes:
        warnings.warn(note, DiscreetWarning, stacklevel=2)
    return result
