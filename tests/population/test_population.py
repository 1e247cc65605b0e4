"""Populations given a sample: fitted models, draws and single cells, law by law."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet import Table
from discreet.datasets.printed import RELIGION
from discreet.errors import DiscreetWarning, InputError
from discreet.information import xlogx
from discreet.population import (
    Dirichlet,
    Estimate,
    Multinomial,
    NegativeBinomial,
    Poisson,
    PoissonGamma,
    PoissonLogNormal,
    Polya,
    bethlehem_uniques,
    choose,
    elamir_skinner_theta,
    entropy_from_frequencies,
    expectation,
    expected_xlogx,
    ipf,
    log_probability,
    loglinear,
    negative_binomial_frequencies,
    poisson_frequencies,
    polya_theta,
    read_sample,
    takemura_uniques,
    unique_error,
)

SAMPLE = np.array([[12, 0, 3, 0], [7, 2, 0, 1], [5, 1, 1, 0]])
N = 320
FIXED = [Multinomial(), Multinomial(()), Dirichlet(), Dirichlet("main"), Polya(theta=0.05), Polya(), Polya(zeros=2)]
FREE = [Poisson(), NegativeBinomial(), PoissonGamma(), PoissonGamma("main"), PoissonLogNormal(), PoissonLogNormal(())]
every = pytest.mark.parametrize("model", [*FIXED, *FREE], ids=repr)
exact = pytest.mark.parametrize("model", [*FIXED[:5], *FREE], ids=repr)


# -- iterative proportional fitting and log-linear models ------------------------------------------------------------


@given(st.lists(st.integers(0, 9), min_size=24, max_size=24), st.sampled_from(["main", "two-way", [(0, 1), (2,)]]))
@settings(max_examples=30, deadline=None)
def test_a_fit_has_the_margins_of_its_terms(cells: list[int], terms: Any) -> None:
    """Every fitted margin is the sample's, to the tolerance."""
    counts = np.array(cells, float).reshape(2, 3, 4) + 0.5  # inside, so that the fit exists
    fit = loglinear(counts, terms, tolerance=1e-9)
    assert fit.converged
    for term in fit.terms:
        rest = tuple(a for a in range(3) if a not in term)
        assert np.allclose(fit.expected.sum(axis=rest), counts.sum(axis=rest), rtol=1e-6)


def test_main_effects_are_the_product_of_the_margins() -> None:
    """Section 5.1 of UNECE15, and 72 = 8 x 9 degrees of freedom."""
    fit = loglinear(RELIGION)
    assert np.allclose(fit.expected, np.outer(RELIGION.sum(1), RELIGION.sum(0)) / RELIGION.sum())
    assert (fit.parameters, fit.degrees_of_freedom) == (18, 72)
    assert fit.deviance > fit.degrees_of_freedom


def test_two_way_model_against_a_direct_maximisation() -> None:
    """The likelihood of the model without three-way interaction cannot be improved in the direction of a margin."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(8, (3, 3, 2)) + 1
    fit = loglinear(counts, "two-way", tolerance=1e-11)
    assert fit.degrees_of_freedom == 2 * 2 * 1
    logs = np.log(fit.expected)
    interaction = (logs[0, 0] - logs[0, 1] - logs[1, 0] + logs[1, 1])[[0, 1]]
    assert interaction[0] == pytest.approx(interaction[1], abs=1e-7)  # conditional odds ratios are all equal
    assert loglinear(counts, 3).deviance == pytest.approx(0, abs=1e-9)


def test_structural_zeros_stay_empty() -> None:
    """Quasi-independence: the margins hold over the possible cells only."""
    structural = np.eye(3, dtype=bool)
    counts = np.array([[0, 4, 6], [5, 0, 2], [3, 7, 0]])
    fit = loglinear(counts, structural=structural, tolerance=1e-10)
    assert np.all(fit.expected[structural] == 0)
    assert np.allclose(fit.expected.sum(0), counts.sum(0))
    assert fit.degrees_of_freedom == 6 - 5
    with pytest.raises(InputError, match="structural zero"):
        loglinear(counts + 1, structural=structural)


def test_fitting_that_does_not_converge_is_said() -> None:
    """Too few rounds give a warning that says what to do, and the gap."""
    margins = [((0,), [6.0, 4.0]), ((1,), [5.0, 5.0])]
    with pytest.warns(DiscreetWarning, match="allow more iterations"):
        fit = ipf([[1, 2], [3, 1]], margins, iterations=1)
    assert not fit.converged
    assert fit.gap > 0
    with pytest.warns(DiscreetWarning, match="not converged"):
        loglinear(np.arange(1, 9).reshape(2, 2, 2), "two-way", tolerance=1e-12, iterations=2)


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ([((0,), [1, 2]), ((1,), [5, 5])], "one and the same total"),
        ([((0,), [1, 2, 3])], "must be"),
        ([((1, 0), [[1, 2], [3, 4]])], "rising order"),
        ([((0,), [1, 2]), ((1,), [0, 3])], None),
    ],
)
def test_margins_that_cannot_be_met(margins: Any, message: str | None) -> None:
    """Wrong shapes and totals are errors; zeros in a margin are fine."""
    if message is None:
        assert ipf(np.ones((2, 2)), margins).values[:, 0].sum() == 0
        return
    with pytest.raises(InputError, match=message):
        ipf(np.ones((2, 2)), margins)
    with pytest.raises(InputError, match="no scaling can meet"):
        ipf([[0, 0], [1, 1]], [((0,), [1, 1])])


@pytest.mark.parametrize("terms", ["mian", -1, [(0, 5)], [("area",)]])
def test_unknown_terms(terms: Any) -> None:
    """A misspelt order, an axis that is not there and a name without names are errors."""
    with pytest.raises(InputError):
        loglinear(SAMPLE, terms)


# -- draws -----------------------------------------------------------------------------------------------------------


@every
def test_draws_hold_the_sample_and_add_up(model: Any) -> None:
    """F >= f always; the sum is N where it is fixed, else in the mean."""
    estimate = model.fit(SAMPLE, N)
    F = estimate.draw(4000, seed=1)
    assert F.shape == (4000, 3, 4)
    assert np.all(SAMPLE <= F)
    totals = F.sum(axis=(1, 2))
    if estimate.fixed_total:
        assert np.all(totals == N)
    else:
        assert abs(totals.mean() - estimate.mean.sum()) < 5 * totals.std() / math.sqrt(4000)


@exact
def test_draws_have_the_cells_distribution(model: Any) -> None:
    """Means, chances of 0 and 1, and E(F log F) of drawn cells are the computed ones, to 5 standard errors."""
    estimate = model.fit(SAMPLE, N)
    M = 20_000
    F = estimate.draw(M, seed=2).reshape(M, -1)
    every_cell = np.arange(12)
    f = SAMPLE.ravel()
    for count in (0, 1, 5):
        p = np.exp(log_probability(estimate, count - f, every_cell))
        assert np.all(np.abs(np.equal(F, count).mean(0) - p) <= 5 * np.sqrt(p * (1 - p) / M) + 5e-4)
    for g in (np.positive, xlogx):
        drawn = g(F.astype(float))
        gap = np.abs(drawn.mean(0) - expectation(estimate, g))
        assert np.all(gap <= 5 * drawn.std(0) / math.sqrt(M) + 1e-9)
    assert np.allclose(expectation(estimate, lambda x: x), estimate.mean.ravel(), rtol=2e-6, atol=1e-9)


def test_an_urn_that_runs_out_of_empty_cells() -> None:
    """The chance that a cell stays empty is exact even then, as it is when theta is larger than the sample."""
    for theta in (1.0, 3.0, 40.0):
        estimate = Polya(theta=theta).fit(SAMPLE, 90)
        zero = (estimate.draw(40_000, seed=3) == 0).reshape(40_000, -1).mean(0)
        p = np.exp(log_probability(estimate, -SAMPLE.ravel(), np.arange(12)))
        assert np.all(np.abs(zero - p) <= 5 * np.sqrt(p * (1 - p) / 40_000) + 1e-4)


@every
def test_probabilities_sum_to_one(model: Any) -> None:
    """Every cell's distribution is one."""
    estimate = model.fit(SAMPLE, N)
    x = np.arange(6000)
    for cell in range(12):
        assert np.exp(log_probability(estimate, x, np.array(cell))).sum() == pytest.approx(1, abs=1e-9)


def test_draws_are_the_seeds() -> None:
    """Equal seeds, equal populations; the first draws do not depend on how many follow."""
    estimate = Polya().fit(SAMPLE, N)
    many = estimate.draw(50, seed=3)
    assert np.array_equal(many[:7], estimate.draw(7, seed=3))
    assert not np.array_equal(many, estimate.draw(50, seed=4))


def test_multinomial_draws_against_exact_probabilities() -> None:
    """All 28 tables of 6 units more in 3 cells come up as often as they should (chi-square, p > 0.001)."""
    estimate = Estimate("given", read_sample([1, 1, 1], 9), "multinomial", np.array([0.2, 0.5, 0.3]))
    M = 60_000
    F = estimate.draw(M, seed=5) - 1
    outcomes = [c for c in itertools.product(range(7), repeat=3) if sum(c) == 6]
    expected = np.array([stats.multinomial.pmf(c, 6, [0.2, 0.5, 0.3]) for c in outcomes]) * M
    seen = np.array([np.equal(F, c).all(axis=1).sum() for c in outcomes])
    assert stats.chisquare(seen, expected).pvalue > 0.001


def test_multinomial_of_many_units_by_binomials_and_by_tables() -> None:
    """Both ways to draw a multinomial have its variances: small tables use alias tables, huge counts do not."""
    for left in (900, 3 * 10**9):
        estimate = Estimate("given", read_sample([1, 1, 1, 0], left + 3), "multinomial", np.array([0.6, 0.1, 0.3, 0.0]))
        F = estimate.draw(20_000, seed=6) - [1, 1, 1, 0]
        p = np.array([0.6, 0.1, 0.3])
        assert np.all(F[:, 3] == 0)
        assert np.all(np.abs(F[:, :3].mean(0) - left * p) < 5 * np.sqrt(left * p * (1 - p) / 20_000))
        assert np.allclose(F[:, :3].var(0), left * p * (1 - p), rtol=0.06)
        assert np.corrcoef(F[:, 0], F[:, 2])[0, 1] == pytest.approx(-math.sqrt(0.6 * 0.3 / (0.4 * 0.7)), abs=0.02)


def by_hand(f: list[int], theta: float, draws: int) -> dict[tuple[int, ...], float]:
    """Pólya's urn by enumeration: the distribution of (old counts..., sorted new colours) after so many draws."""
    empty = f.count(0)
    state: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {(tuple(c for c in f if c), ()): 1.0}
    for _ in range(draws):
        after: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
        for (old, new), p in state.items():
            room = theta if len(new) < empty else 0.0
            total = sum(old) + sum(new) + room
            moves = [(c / total, (tuple(x + (i == j) for j, x in enumerate(old)), new)) for i, c in enumerate(old)]
            moves += [
                (c / total, (old, tuple(sorted(x + (i == j) for j, x in enumerate(new))))) for i, c in enumerate(new)
            ]
            if room:
                moves.append((room / total, (old, tuple(sorted((*new, 1))))))
            for q, key in moves:
                after[key] = after.get(key, 0.0) + p * q
        state = after
    return {(*old, -1, *new): p for (old, new), p in state.items()}


@pytest.mark.parametrize(("theta", "draws"), [(0.7, 5), (6.0, 5), (0.7, 7), (3.0, 8)])
def test_polya_against_the_urn_by_hand(theta: float, draws: int) -> None:
    """Every outcome of a small urn, one that runs out of empty cells included, has its probability (chi-square).

    From 7 draws on the urn is cut by bars instead of gamma variables.
    """
    f = [2, 0, 1, 0]
    exact = by_hand(f, theta, draws)
    M = 60_000
    seen: dict[tuple[int, ...], int] = {}
    for row in Polya(theta=theta).fit(f, 3 + draws).draw(M, seed=8).tolist():
        key = (row[0], row[2], -1, *sorted(x for x in (row[1], row[3]) if x))
        seen[key] = seen.get(key, 0) + 1
    assert set(seen) <= set(exact)
    expected = np.array([p * M for p in exact.values()])
    counted = np.array([seen.get(key, 0) for key in exact])
    kept = expected > 5
    assert ((counted - expected)[kept] ** 2 / expected[kept]).sum() < stats.chi2.isf(0.001, kept.sum())


@given(st.floats(0.01, 0.98), st.integers(1, 500), st.integers(1, 5000))
@settings(max_examples=60, deadline=None)
def test_theta_solves_equation_5(share: float, n: int, left: int) -> None:
    """The expected number of new colours is the one asked for."""
    theta = polya_theta(share * left, n, n + left)
    assert sum(theta / (n + theta + z) for z in range(left)) == pytest.approx(share * left, rel=1e-6)


def test_theta_at_the_edges() -> None:
    """Nothing to open is no black ball; more than can be opened is an error."""
    assert polya_theta(0, 5, 50) == 0
    with pytest.raises(InputError, match="no number of black balls"):
        polya_theta(45, 5, 50)
    with pytest.raises(InputError, match="more empty cells"):
        Polya(zeros=9).fit(SAMPLE, N)
    with pytest.raises(InputError, match="units not sampled"):
        Polya(zeros=0).fit(SAMPLE, SAMPLE.sum() + 2)
    nearly = Polya().fit(np.diag([10] * 10), 101)
    assert "theta was cut" in nearly.notes[-1]
    assert np.all(nearly.draw(50, seed=1).sum(axis=(1, 2)) == 101)


# -- closed forms of the literature ----------------------------------------------------------------------------------


def test_poisson_uniqueness_and_match_probability() -> None:
    """(2.3.7): P(F=1|f=1) = exp(-(1-p) lambda); E(1/F|f=1) = (1 - exp(-r))/r with r = (1-p) lambda."""
    estimate = Poisson().fit(SAMPLE, N)
    ones = np.flatnonzero(SAMPLE.ravel() == 1)
    r = estimate.a[ones]
    assert np.allclose(np.exp(log_probability(estimate, np.zeros(len(ones), int), ones)), np.exp(-r))
    assert np.allclose(expectation(estimate, np.reciprocal, ones), (1 - np.exp(-r)) / r)


def test_elamir_and_skinner_formula() -> None:
    """E(1/F | f=1) of the Poisson-gamma model is the printed expression, section 2.3.2.2.2 of Ant16."""
    estimate = PoissonGamma("main").fit(SAMPLE, N)
    ones = np.flatnonzero(SAMPLE.ravel() == 1)
    means = loglinear(SAMPLE).expected.ravel()[ones]
    found = elamir_skinner_theta(means, estimate.fitted["nu"], SAMPLE.sum() / N)
    assert np.allclose(expectation(estimate, np.reciprocal, ones), found, rtol=1e-9)


def test_log_normal_uniqueness_by_quadrature() -> None:
    """(2.3.6), the ratio of two integrals over lambda, by adaptive quadrature."""
    from scipy.integrate import quad

    estimate = PoissonLogNormal().fit(SAMPLE, N)
    p, sigma = SAMPLE.sum() / N, estimate.fitted["sigma"]
    cell = int(np.flatnonzero(SAMPLE.ravel() == 1)[0])
    eta = math.log(loglinear(SAMPLE).expected.ravel()[cell] / p) - sigma**2 / 2

    def integral(rate: float) -> float:
        def inside(t: float) -> float:
            return math.exp(t - rate * math.exp(t) - (t - eta) ** 2 / (2 * sigma**2))

        return float(quad(inside, eta - 12 * sigma, eta + 12 * sigma, epsabs=0, epsrel=1e-11, limit=400)[0])

    ours = math.exp(float(log_probability(estimate, np.array(0), np.array(cell))))
    assert ours == pytest.approx(integral(1.0) / integral(p), rel=1e-7)


def test_series_of_f_log_f() -> None:
    """Section 4.4.1 of Ant16 against a sum of 3000 terms."""
    s = np.arange(3000.0)
    for r, rate in ((0, 0.3), (4, 17.0), (2, 900.0)):
        p = stats.poisson.pmf(s, rate)
        assert expected_xlogx(np.array(r), np.array(rate)) == pytest.approx(
            float((p * np.where(s + r > 0, (s + r) * np.log(np.maximum(s + r, 1)), 0)).sum()), rel=1e-12
        )


def test_frequencies_of_frequencies() -> None:
    """(4.5.2) and (4.5.3) add up to the cells and the units; (4.5.1) is the entropy."""
    numbers = negative_binomial_frequencies(90, 27.2, 0.02, 40_000)
    assert numbers.sum() == pytest.approx(90)
    assert (numbers * np.arange(40_001)).sum() == pytest.approx(90 * 27.2)
    assert numbers == pytest.approx(90 * stats.nbinom.pmf(np.arange(40_001), 27.2 * 0.02, 0.02 / 1.02))
    rates = np.array([0.5, 3.0, 9.0])
    assert poisson_frequencies(rates, 60) @ np.arange(61) == pytest.approx(12.5)
    table = RELIGION.ravel()
    assert entropy_from_frequencies(np.bincount(table)) == pytest.approx(stats.entropy(table))
    with pytest.raises(InputError):
        entropy_from_frequencies([3])


def test_uniques_of_bethlehem_and_takemura() -> None:
    """The printed expectations against the distributions they come from."""
    alpha, beta, units = 0.02, 5.0, 300  # K = 1/(alpha beta) = 10 cells, gamma shape alpha N and scale beta
    exact = 10 * stats.nbinom.pmf(1, alpha * units, 1 / (1 + beta))
    assert bethlehem_uniques(units, alpha, beta) == pytest.approx(exact)
    a = np.array([0.5, 1.5, 3.0])
    assert np.allclose(takemura_uniques(a, 20), [stats.betabinom.pmf(1, 20, x, a.sum() - x) for x in a])
    with pytest.raises(InputError):
        takemura_uniques([1.0], 5)


def test_likelihoods_are_maximal() -> None:
    """nu and A cannot be moved to a higher likelihood of the sample."""
    counts = np.array([0, 0, 1, 3, 6, 2, 0, 11])
    gamma, dirichlet = PoissonGamma().fit(counts, 230), Dirichlet().fit(counts, 230)
    f, mean = counts, counts.mean()
    for factor in (0.9, 1.1):
        nu = gamma.fitted["nu"] * factor
        assert stats.nbinom.logpmf(f, nu, nu / (nu + mean)).sum() < gamma.log_likelihood
        a = np.full(8, dirichlet.fitted["A"] * factor / 8)
        other = stats.dirichlet_multinomial.logpmf(f, a, f.sum()) + stats.poisson.logpmf(f.sum(), f.sum())
        assert other < dirichlet.log_likelihood
    assert stats.poisson.logpmf(f, mean).sum() == pytest.approx(Multinomial(()).fit(counts, 230).log_likelihood)


def test_counts_without_overdispersion_are_noted() -> None:
    """Models of overdispersion fall back to equal rates, and say so."""
    flat = np.full((3, 3), 4)
    for model in (NegativeBinomial(), PoissonGamma(), PoissonLogNormal()):
        estimate = model.fit(flat, 360)
        assert "no more than" in estimate.notes[0]
        assert np.allclose(estimate.mean, 40, rtol=0.01)


# -- strata and weights ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*FIXED[:5], *FREE], ids=repr)
def test_strata_keep_their_totals(model: Any) -> None:
    """With N by stratum, every stratum has its own: exactly, or in the mean by a factor of sampling error."""
    totals = [150, 90, 80]
    estimate = model.fit(SAMPLE, totals, strata=0)
    if estimate.fixed_total:
        assert np.all(estimate.draw(200, seed=1).sum(axis=2) == totals)
        assert np.allclose(estimate.mean.sum(axis=1), totals)
    else:
        assert np.all(estimate.mean >= SAMPLE)


def test_strata_may_be_columns() -> None:
    """Cells are put in order of their stratum and come back to their place."""
    counts = np.array([[5, 1], [0, 3], [2, 2]])
    F = Multinomial().fit(counts, [70, 30], strata=1).draw(100, seed=1)
    assert np.all(F.sum(axis=1) == [70, 30])
    assert np.all(counts <= F)


def test_weights_move_the_estimate() -> None:
    """A cell whose records carry more weight is larger in the population."""
    counts = np.array([10, 10])
    design = np.array([300.0, 100.0])
    estimate = Multinomial().fit(counts, 400, design=design)
    assert np.allclose(estimate.mean, 10 + 380 * np.array([0.75, 0.25]))
    assert Polya(theta=0).fit(counts, "weights", design=design).sample.population == 400
    assert math.isnan(estimate.log_likelihood)


def test_a_table_brings_names_and_structural_zeros() -> None:
    """Strata and terms by name, population by code, and no one in impossible cells."""
    structural = np.zeros((3, 4), bool)
    structural[0, 1] = True
    table = Table.of(SAMPLE, ["area", "age"], structural=structural)
    codes = table.dimensions[0].leaves
    estimate = Multinomial([("area",), ("age",)]).fit(
        table, dict(zip(codes, [150, 90, 80], strict=True)), strata="area"
    )
    F = estimate.draw(50, seed=1)
    assert np.all(F[:, 0, 1] == 0)
    assert np.all(F.sum(axis=2) == [150, 90, 80])
    with pytest.raises(InputError, match="every code"):
        Multinomial().fit(table, {"x": 1}, strata="area")


@pytest.mark.parametrize(
    ("counts", "population", "known", "message"),
    [
        (SAMPLE, 10, {}, "larger than the population"),
        (SAMPLE, [100, 2, 100], {"strata": 0}, "larger than the population"),
        (SAMPLE + 0.5, N, {}, "design="),
        (SAMPLE, 100, {"design": SAMPLE * 10.0}, "more than the population"),
        (SAMPLE, N, {"design": SAMPLE * 0.0}, "no weight"),
        (SAMPLE, [[1]], {"strata": 0}, "give a whole number"),
        (SAMPLE, [100, 100], {}, "one N"),
        (SAMPLE, "weights", {}, "needs design weights"),
        (SAMPLE, "sum", {}, "'weights'"),
        (SAMPLE, 99.5, {}, "give a whole number"),
        (SAMPLE, {"a": 4}, {}, "by name"),
        (SAMPLE * 0, N, {}, "nobody"),
        ([[3, 1], [0, 0]], [40, 40], {"strata": 0}, "merge it"),
        (SAMPLE, N, {"strata": 2}, "axes 0 to 1"),
        (SAMPLE, N, {"strata": "area"}, "no dimension"),
        (SAMPLE, N, {"structural": SAMPLE > 5}, "structural zero"),
        (SAMPLE, N, {"structural": [True]}, "one shape"),
        (-SAMPLE, N, {}, "negative"),
    ],
)
def test_what_is_said_of_the_population_is_checked(counts: Any, population: Any, known: Any, message: str) -> None:
    """Wrong input is an error before anything is fitted, and no message holds a count."""
    with pytest.raises(InputError, match=message):
        Multinomial().fit(counts, population, **known)


def test_empty_margins_are_noted() -> None:
    """A category nobody was sampled in gets no chance from a log-linear model; the Dirichlet model gives it one."""
    counts = np.array([[4, 0], [3, 0]])
    assert "merge categories" in Multinomial().fit(counts, 70).notes[0]
    assert np.all(Dirichlet().fit(counts, 70).mean > 0)
    with pytest.raises(InputError, match="seed"):
        Multinomial().fit(counts, 70).draw(3, seed=-1)
    with pytest.raises(InputError, match="one or more"):
        Multinomial().fit(counts, 70).draw(0, seed=1)


# -- choosing --------------------------------------------------------------------------------------------------------


def test_the_criteria_find_the_model_that_made_the_data() -> None:
    """Independent margins are found so; a table with strong association is not."""
    rng = np.random.default_rng(4)
    margins = np.outer([5, 3, 2], [4, 3, 2, 1]) / 100
    independent = rng.multinomial(800, margins.ravel()).reshape(3, 4)
    models = [Multinomial(()), Multinomial("main"), Multinomial("two-way")]
    for criterion in (None, "bic"):
        options: dict[str, Any] = {} if criterion is None else {"criterion": criterion}
        assert choose(independent, 8000, models, **options).best.model == "Multinomial(terms='main')"
    tied = independent + np.diag([200, 100, 80, 0])[:3]
    assert choose(tied, 9000, models).best.model == "Multinomial(terms='two-way')"
    summary = choose(independent, 8000).summary()
    assert set(summary.columns) == {"parameters", "log-likelihood", "aic", "bic", "error", "score"}
    with pytest.raises(InputError, match="criterion"):
        choose(independent, 8000, criterion="aicc")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="none of the models"):
        _ = choose(independent, 8000, [Polya()]).best


def test_error_of_uniques_is_that_of_the_expansion() -> None:
    """Its mean over samples is sum mu e^-mu (h(fitted) - h(mu)) for a slightly wrong model, its spread as stated."""
    rng = np.random.default_rng(5)
    p, fitted = 0.3, rng.gamma(3.0, 0.4, 400)
    truth = fitted * (1 + 0.1 * rng.standard_normal(400))
    unique, true = np.exp(-(1 - p) * fitted / p), np.exp(-(1 - p) * truth / p)
    exact = (truth * np.exp(-truth) * (unique - true)).sum()
    units = 4000
    found = []
    for _ in range(units):
        f = rng.poisson(truth)
        sample = read_sample(f, max(round(f.sum() / p), f.sum()))
        found.append(unique_error(Estimate("given", sample, "multinomial", fitted)))
    errors = np.array([u.error for u in found])
    assert abs(errors.mean() - exact) < 4 * errors.std() / math.sqrt(units) + 0.05 * abs(exact)
    assert errors.std() == pytest.approx(found[0].standard_error, rel=0.15)
    assert choose(rng.poisson(truth).reshape(20, 20), 1600, criterion="error").best.model.startswith("Multinomial")
