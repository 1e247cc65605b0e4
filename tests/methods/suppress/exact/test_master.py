"""The master problem: what its prices prove is a bound, whatever they are."""

from __future__ import annotations

import numpy as np

from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.model.condense import condense
from tests.problems import least_cost, on_small_problems, small_problem


@on_small_problems
def test_any_prices_prove_a_bound(kind: str, seed: int) -> None:
    """Random ones, those of the solver, and these with noise: none proves more than the least cost."""
    problem = small_problem(kind, seed)
    condensed = condense(problem)
    if len(condensed.hopeless):
        return
    relaxation = Relaxation(condensed)
    for _ in range(3):
        relaxation.round()
    least = least_cost(problem) - condensed.base
    random = np.random.default_rng(seed)
    solved = np.maximum(relaxation.solver.row_prices, 0)
    tried = [solved, *(random.exponential(scale, len(relaxation.rows)) for scale in (0.1, 1.0, 10.0))]
    tried += [np.maximum(solved * random.normal(1, 0.3, len(solved)), 0) for _ in range(5)]
    for prices in tried:
        reduced, bound = relaxation.proof(prices)
        assert bound <= least + 1e-6
        again = relaxation.problem.weight[relaxation.free].copy()
        total = 0.0
        for price, (at, coefficient, right) in zip(prices, relaxation.entries, strict=True):
            np.subtract.at(again, at, price * relaxation.scale * coefficient)
            total += price * relaxation.scale * right
        np.testing.assert_allclose(reduced, again, atol=1e-6)
        np.testing.assert_allclose(bound, total + np.minimum(again, 0).sum(), rtol=1e-9, atol=1e-6)
