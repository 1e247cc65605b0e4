"""UNECE15 Table 2, ASE15 Table 1 and Ant16 Table 4.8.1: the simulation studies, smaller and by NumPy of our own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import discreet as dc
from discreet import population, risk
from tests.papers import own
from tests.papers.printed import RELIGION, SEX

F, N = RELIGION.counts, 2449
SAMPLES, POPULATIONS = 60, 40
REAL = [(0.1, 245, 0.1697, 0.1715, 0.1764), (0.05, 122, 0.1535, 0.1731, 0.1821)]
SD = {0.1: (0.0173, 0.0186), 0.05: (0.0254, 0.0283)}


def samples(number: int, n: int, seed: int = 1) -> np.ndarray:
    """Simple random samples of the religion table."""
    rng = np.random.default_rng(seed)
    return rng.multivariate_hypergeometric(F.ravel(), n, size=number).reshape(number, *F.shape)


def fitted(f: np.ndarray) -> np.ndarray:
    """Cell probabilities of the model with main effects."""
    return np.asarray(np.outer(f.sum(axis=1), f.sum(axis=0)) / f.sum() ** 2)


def plain_r2(many: np.ndarray, f: np.ndarray) -> np.ndarray:
    """R2(F, f) for many populations of one sample, (3.6.5) line by line; terms() does one table at a time."""
    p, q = many / N, np.ravel(f) / f.sum()
    low = np.minimum(p, q)
    rest = 1 - low.sum(axis=1, keepdims=True)
    h = -own.plogp(p).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = -np.nansum(low * np.log(low / q), axis=1) - np.nansum((p - low) * np.log((p - low) / rest), axis=1)
        left -= np.nansum((q - low) * np.log((q - low) / q), axis=1)
    d, e = many == 0, np.ravel(f) == 0
    both = (d & e).sum(axis=1)
    zeros = np.where(both > 0, d.mean(axis=1) ** ((d | e).sum(axis=1) / np.maximum(both, 1)), 0.0)
    risk = 0.1 * zeros + 0.8 * (1 - h / np.log(90)) * (1 - left / h) + 0.1 * (1 + 0.5 * np.log(N)) / np.sqrt(N)
    return np.asarray(risk)


@pytest.mark.parametrize(("fraction", "n", "original", "loglinear", "polya"), REAL)
def test_real_table(fraction: float, n: int, original: float, loglinear: float, polya: float) -> None:
    """Table 2, real table: original risk, log-linear and Pólya estimates; the first two by our own NumPy as well."""
    drawn = samples(SAMPLES, n)
    truth = [own.weighted(own.terms(F, f)) for f in drawn]
    assert np.allclose([dc.r2(F, f).value for f in drawn], truth)
    assert abs(np.mean(truth) - original) < 4 * np.std(truth) / np.sqrt(SAMPLES) + 0.001
    rng, ours = np.random.default_rng(5), []
    for f in drawn:
        more = rng.multinomial(N - n, fitted(f).ravel(), size=POPULATIONS)
        ours.append(plain_r2(f.ravel() + more, f).mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        models = [[m.fit(f, N) for f in drawn] for m in (population.Multinomial(), population.Polya())]
    theirs, urn = (risk.draw_risks(e, POPULATIONS, seed=3).r2.mean(axis=1) for e in models)
    sd = SD[fraction]
    assert np.allclose(theirs, ours, atol=0.006)
    assert abs(np.mean(ours) - loglinear) < 4 * sd[0] / np.sqrt(SAMPLES)
    assert abs(theirs.mean() - loglinear) < 4 * sd[0] / np.sqrt(SAMPLES)
    assert abs(urn.mean() - polya) < 4 * sd[1] / np.sqrt(SAMPLES)


@pytest.mark.parametrize(("n", "original", "estimate"), [(245, 0.1538, 0.1568), (122, 0.1427, 0.1416)])
def test_generated_table_log_linear(n: int, original: float, estimate: float) -> None:
    """Table 2, generated table with known probabilities: many tables of our own, since the printed one is not known."""
    rng = np.random.default_rng(8)
    p = fitted(F).ravel()
    truth, guess = [], []
    for _ in range(80):
        table = rng.multinomial(N, p)
        f = rng.multivariate_hypergeometric(table, n)
        truth.append(dc.r2(table, f).value)
        guess.append(plain_r2(f + rng.multinomial(N - n, p, size=POPULATIONS), f).mean())
        assert truth[-1] == pytest.approx(own.weighted(own.terms(table, f)))
    assert abs(np.mean(truth) - original) < 0.006
    assert abs(np.mean(guess) - estimate) < 0.006


@pytest.mark.parametrize(("n", "original", "estimate"), [(245, 0.1694, 0.1758), (122, 0.1535, 0.1640)])
def test_generated_table_polya(n: int, original: float, estimate: float) -> None:
    """Table 2, Pólya with θ of (5) from the known number of empty cells."""
    zeros = int((F == 0).sum())
    drawn = samples(40, n, seed=4)
    truth = [own.weighted(own.terms(F, f)) for f in drawn]
    assert abs(np.mean(truth) - original) < 0.005
    found = [population.Polya(zeros=zeros).fit(f, N) for f in drawn]
    for f, e in zip(drawn[:5], found, strict=False):
        theta, opened = e.fitted["theta"], (f == 0).sum() - zeros
        assert sum(theta / (n + theta + z - 1) for z in range(1, N - n + 1)) == pytest.approx(opened, rel=1e-6)
    assert abs(risk.draw_risks(found, 60, seed=2).r2.mean() - estimate) < 0.006


@pytest.mark.parametrize(
    ("n", "r1", "original", "estimate"),
    [(245, 0.2299, 0.1695, 0.1720), (122, 0.2417, 0.1533, 0.1711), (24, 0.3106, 0.0955, 0.1881)],
)
def test_ase15(n: int, r1: float, original: float, estimate: float) -> None:
    """ASE15 Table 1: estimated R1, original and estimated R2 at fractions 0.1, 0.05 and 0.01."""
    drawn = samples(SAMPLES, n, seed=6)
    assert abs(np.mean([own.weighted(own.terms(F, f)) for f in drawn]) - original) < 0.008
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        found = risk.draw_risks([population.Multinomial().fit(f, N) for f in drawn], POPULATIONS, seed=1)
    rng, ours = np.random.default_rng(2), []
    for f in drawn[:20]:
        more = f.ravel() + rng.multinomial(N - n, fitted(f).ravel(), size=POPULATIONS)
        ours.append((np.mean([own.weighted(own.terms(m)) for m in more]), plain_r2(more, f).mean()))
    spread = found.r2.mean(axis=1).std() / np.sqrt(SAMPLES)
    assert np.allclose(np.mean(ours, axis=0), [found.r1[:20].mean(), found.r2[:20].mean()], atol=0.006)
    assert abs(found.r1.mean() - r1) < 0.02
    assert abs(found.r2.mean() - estimate) < 4 * spread + 0.004


def three_way() -> np.ndarray:
    """Area x religion x sex with the printed margins; the paper's own table is not printed."""
    rng = np.random.default_rng(1)
    men = np.array([rng.multivariate_hypergeometric(r, s[0]) for r, s in zip(F, SEX.counts, strict=True)])
    return np.stack([men, F - men], axis=2)


def independent(f: np.ndarray) -> np.ndarray:
    """Main effects: the product of the three margins."""
    product: np.ndarray = f.sum(axis=(1, 2))[:, None, None] * f.sum(axis=(0, 2))[:, None] * f.sum(axis=(0, 1))
    return np.asarray(product / f.sum() ** 3)


def without_three_way(f: np.ndarray) -> np.ndarray:
    """All two-way terms, by fitting the three two-way margins in turn (Deming and Stephan)."""
    p = np.ones(f.shape)
    for _ in range(300):
        for axis in range(3):
            now, wanted = p.sum(axis=axis, keepdims=True), f.sum(axis=axis, keepdims=True)
            p = p * np.divide(wanted, now, out=np.zeros(now.shape), where=now > 0)
    return np.asarray(p / p.sum())


def behind(f: np.ndarray, p: np.ndarray, draws: int, rng: np.random.Generator) -> float:
    """Mean R2(F, f) of populations F = f + the other N - n people, drawn from a model."""
    more = rng.multinomial(N - int(f.sum()), p.ravel() / p.sum(), size=draws).reshape(draws, *f.shape)
    return float(np.mean([own.weighted(own.terms(f + rest, f)) for rest in more]))


def test_three_way_tables() -> None:
    """Ant16 Table 4.8.1 on a table with its margins: main effects near the truth, two-way terms far above it."""
    table = three_way()
    assert (table.sum(axis=2) == F).all()
    rng = np.random.default_rng(3)
    drawn = rng.multivariate_hypergeometric(table.ravel(), 245, size=25).reshape(25, *table.shape)
    truth = np.mean([own.weighted(own.terms(table, f)) for f in drawn])
    assert abs(truth - 0.1542) < 0.01
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        main = [population.Multinomial("main").fit(f, N) for f in drawn]
        two = [population.Multinomial("two-way").fit(f, N) for f in drawn[:12]]
    for f, e in zip(drawn[:4], main, strict=False):
        assert np.allclose(e.mean, f + (N - 245) * independent(f))
    for f, e in zip(drawn[:4], two, strict=False):
        assert np.allclose(e.mean, f + (N - 245) * without_three_way(f), atol=0.05)
    low, high = (risk.draw_risks(e, 40, seed=1).r2.mean() for e in (main, two))
    own_main, own_two = (
        np.mean([behind(f, model(f), 10, rng) for f in drawn[:4]]) for model in (independent, without_three_way)
    )
    assert abs(risk.draw_risks(main[:4], 40, seed=1).r2.mean() - own_main) < 0.01
    assert abs(risk.draw_risks(two[:4], 40, seed=1).r2.mean() - own_two) < 0.01
    assert abs(low - 0.1499) < 0.02
    assert abs(high - 0.2264) < 0.02
    assert high > truth + 0.05
