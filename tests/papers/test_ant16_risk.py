"""Ant16 sections 3.3 to 3.8: information, R1, R2 and the Hellinger distance from their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import discreet as dc
from discreet import information, risk, utility
from tests.papers import own


def pairs(number: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random tables with random perturbations, sparse and dense, sums equal or not."""
    rng = np.random.default_rng(seed)
    out: list[tuple[np.ndarray, np.ndarray]] = []
    while len(out) < number:
        k = int(rng.integers(1, 12))
        f = rng.poisson(rng.gamma(0.6, rng.choice([2, 20]), k))
        g = np.maximum(f + rng.integers(-3, 4, k) * rng.integers(0, 2, k), 0)
        if f.any():
            out.append((f, g))
    return out


def test_entropies() -> None:
    """3.3: H(X), H(X, Y), H(X | Y) and I(X; Y) of a joint table, term by term."""
    joint = np.random.default_rng(1).integers(0, 9, (4, 5)).astype(float)
    p = joint / joint.sum()
    h = -sum(x * math.log(x) for x in p.ravel() if x)
    py = p.sum(axis=0)
    conditional = -sum(p[i, j] * math.log(p[i, j] / py[j]) for i, j in np.ndindex(4, 5) if p[i, j])
    hx = -sum(x * math.log(x) for x in p.sum(axis=1) if x)
    assert information.joint_entropy(joint) == pytest.approx(h)
    assert information.conditional_entropy(joint) == pytest.approx(conditional)
    assert information.entropy(joint.sum(axis=1)) == pytest.approx(hx)
    assert information.mutual_information(joint) == pytest.approx(hx - conditional)
    assert information.entropy([1, 1, 1, 1], bits=True) == 2


def test_f_divergences() -> None:
    """3.3: relative entropy both ways, chi square, Hellinger, L_p and one's own f; 2 HD² <= KL."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        a, b = rng.integers(1, 30, 6).astype(float), rng.integers(1, 30, 6).astype(float)
        p, q = a / a.sum(), b / b.sum()
        kl = sum(x * math.log(x / y) for x, y in zip(p, q, strict=True))
        hd = math.sqrt(sum((math.sqrt(x) - math.sqrt(y)) ** 2 for x, y in zip(p, q, strict=True)) / 2)
        assert information.kl(a, b) == pytest.approx(kl)
        assert information.f_divergence(a, b, "reverse_kl") == pytest.approx(information.kl(b, a))
        assert information.chi2(a, b) == pytest.approx(sum((x - y) ** 2 / y for x, y in zip(p, q, strict=True)))
        assert information.hellinger(a, b) == pytest.approx(hd)
        assert 2 * hd**2 <= kl + 1e-12
        for order in (1, 2, 3):
            expected = sum(abs(x - y) ** order for x, y in zip(p, q, strict=True)) ** (1 / order)
            assert information.lp_distance(a, b, order=order) == pytest.approx(expected)
        cube = information.FDivergence("cube", lambda x: np.abs(x - 1) ** 3, at_zero=1.0, slope=math.inf)
        expected = sum(y * abs(x / y - 1) ** 3 for x, y in zip(p, q, strict=True))
        assert information.f_divergence(a, b, cube) == pytest.approx(expected)


def test_divergences_of_counts() -> None:
    """3.4: the same on counts; for equal sums N times that of the distributions, HD by the root of N."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        a = rng.integers(1, 20, 5)
        b = rng.permutation(a)
        n = a.sum()
        assert information.kl(a, b, counts=True) == pytest.approx(
            sum(x * math.log(x / y) for x, y in zip(a, b, strict=True))
        )
        assert information.kl(a, b, counts=True) == pytest.approx(n * information.kl(a, b))
        assert information.chi2(a, b, counts=True) == pytest.approx(n * information.chi2(a, b))
        assert information.hellinger(a, b, counts=True) == pytest.approx(math.sqrt(n) * information.hellinger(a, b))


def test_r1_and_its_starred_form() -> None:
    """(3.5.2) and (3.5.4) on 400 random tables, terms, weights and the root mean square."""
    for f, _ in pairs(400, 4):
        parts, found = own.terms(f), dc.r1(f)
        assert list(found.terms.values()) == pytest.approx(parts, abs=1e-12)
        assert found.value == pytest.approx(own.weighted(parts), abs=1e-12)
        assert dc.r1(f, (0.3, 0.3, 0.4)).value == pytest.approx(own.weighted(parts, (0.3, 0.3, 0.4)), abs=1e-12)
        assert dc.r1_star(f).value == pytest.approx(own.root_mean_square(parts), abs=1e-12)


def test_size_terms_of_the_appendix() -> None:
    """3.5.1 and Appendix A.1: h1 = N^-ε, h2 = N^-ε (1 + ε log N), h3 the mean of h2 over the populated cells."""

    def h2(n: float, e: float) -> float:
        return float(n**-e * (1 + e * math.log(n)))

    for a, e in itertools.product((1, 2, 5, 10, 50), (0.1, 0.3, 0.5, 0.8, 1.0)):
        for table in ([a, a], [0, a], [a] * 10, [0] * 5 + [a, a, a, 2 * a, 3 * a]):
            n, filled = sum(table), [x for x in table if x]
            assert risk.size_term(table, "h1", epsilon=e) == pytest.approx(n**-e)
            assert risk.size_term(table, "h2", epsilon=e) == pytest.approx(h2(n, e))
            assert risk.size_term(table, "h3", epsilon=e) == pytest.approx(sum(h2(x, e) for x in filled) / len(filled))
            assert dc.r1(table, size="h3", epsilon=e).terms["size"] == pytest.approx(
                risk.size_term(table, "h3", epsilon=e)
            )
    printed = {(1, 0.5): (0.7071, 0.9522, 1.0), (5, 0.3): (0.5012, 0.8474, 0.9150), (100, 1.0): (0.005, 0.0315, 0.0561)}
    for (a, e), values in printed.items():  # Tables A.1.1 and A.1.2, lines of (A, A)
        assert [round(risk.size_term([a, a], h, epsilon=e), 4) for h in ("h1", "h2", "h3")] == list(values)


def test_zeros_term() -> None:
    """(3.6.1): (|D|/K)^(|D or E| / |D and E|), 0 if none stays empty."""
    for f, g in itertools.product(itertools.product(range(2), repeat=4), repeat=2):
        if any(f):
            d, e = {i for i in range(4) if not f[i]}, {i for i in range(4) if not g[i]}
            expected = (len(d) / 4) ** (len(d | e) / len(d & e)) if d & e else 0.0
            assert dc.r2(f, g).terms["zeros"] == pytest.approx(expected)


def test_conditional_entropy_in_one_pass() -> None:
    """(3.6.4), (3.6.5) against the K x K definition (3.6.3), 500 random pairs."""
    for f, g in pairs(500, 5):
        expected = own.left_unknown(f, own.nearest_channel(f, g)) if g.any() else own.entropy(f)
        assert information.conditional_entropy_perturbed(f, g) == pytest.approx(expected, abs=1e-9)


def test_r2_and_its_starred_form() -> None:
    """(3.6.6), (3.6.7) on 400 random pairs; R2 <= R1 and R2* <= R1*."""
    for f, g in pairs(400, 6):
        parts = own.terms(f, g)
        assert dc.r2(f, g).value == pytest.approx(own.weighted(parts), abs=1e-9)
        assert dc.r2_star(f, g).value == pytest.approx(own.root_mean_square(parts), abs=1e-9)
        assert dc.r2(f, g).value <= dc.r1(f).value + 1e-12
        assert dc.r2_star(f, g).value <= dc.r1_star(f).value + 1e-12


@pytest.mark.parametrize("counts", [[1, 2, 4], [0, 1, 5, 2], [7, 7], [0, 3, 1, 1]])
def test_expected_r2(counts: list[int]) -> None:
    """3.6.2.3: the sum over all tables G of T(G) R2(F, G), and Theorem 6 with the averaged channel."""
    every = list(own.roundings(counts))
    mean = sum(p * own.weighted(own.terms(counts, g)) for g, p in every)
    found = dc.expected_r2(counts, dc.Transition.rounding(3))
    assert found.exact
    assert found.value == pytest.approx(mean)
    averaged = sum(
        p * (own.nearest_channel(counts, g) if any(g) else np.where(np.array(counts)[:, None] > 0, 1 / len(counts), 0))
        for g, p in every
    )
    h, k = own.entropy(counts), len(counts)
    term = (1 - h / math.log(k)) * (1 - own.left_unknown(counts, averaged) / h)
    other = dc.expected_r2(counts, dc.Transition.rounding(3), average="channel")
    assert other.terms["entropy"] == pytest.approx(term)
    assert other.value <= found.value + 1e-12
    drawn = dc.expected_r2(counts, dc.Transition.rounding(3), seed=1, draws=2000)
    assert abs(drawn.value - mean) < 5 * drawn.standard_error + 1e-9


def test_hellinger_distance_of_counts() -> None:
    """3.8: HD, its bound and the utility 1 - HD/√N."""
    for f, g in pairs(100, 7):
        hd = own.hellinger(f, g)
        assert information.hellinger(f, g, counts=True) == pytest.approx(hd)
        assert hd <= math.sqrt((f.sum() + g.sum()) / 2) + 1e-12
        assert utility.hellinger_utility(f, g) == pytest.approx(1 - hd / math.sqrt(f.sum()))
        assert dc.compare(f, g).utility == pytest.approx(1 - hd / math.sqrt(f.sum()))
