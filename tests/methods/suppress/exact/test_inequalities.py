"""Inequalities of branch and cut: none cuts off a pattern that protects, none lets one by that does not."""

from __future__ import annotations

import time

import numpy as np

from discreet.methods.suppress.exact.fixing import Stage
from discreet.methods.suppress.exact.inequalities import Bridge, Cut, Plane, bridge
from discreet.methods.suppress.exact.master import Relaxation
from discreet.methods.suppress.exact.separation import Separation, violated
from discreet.methods.suppress.heuristics.incumbent import Incumbent
from discreet.methods.suppress.model.tuning import DEFAULT
from tests.problems import condensed, least_cost, minimal_patterns, on_small_problems, points


@on_small_problems
def test_no_inequality_cuts_off_a_pattern_that_protects(kind: str, seed: int) -> None:
    """At patterns in fractions: each is violated there and satisfied by all that protect, strengthened ones too."""
    small = condensed(kind, seed)
    patterns = np.array(minimal_patterns(small.small), float)
    separation = Separation(small)
    many = 0
    for k, x in enumerate(points(small.small, seed, 12)):
        for cut in separation(x, cap=DEFAULT.attacker.far if k % 2 else 1.0):
            many += 1
            assert (cut.coefficient > 0).all()
            assert (cut.coefficient <= 1).all()
            assert small.small.free[cut.cell].all()
            for one in (cut, cut.covered(x)):
                assert (patterns[:, one.cell] @ one.coefficient >= 1 - 1e-6).all()
            assert cut.covered(x).slack(x) <= cut.slack(x) + 1e-9
    assert many or len(patterns) == 1


@on_small_problems
def test_whole_patterns_are_judged_rightly(kind: str, seed: int) -> None:
    """One that protects violates nothing, and one that does not violates something."""
    small = condensed(kind, seed)
    problem, separation = small.small, Separation(small)
    for pattern in minimal_patterns(problem):
        assert not violated(separation, pattern.astype(float))
        for cell in np.flatnonzero(pattern & ~problem.hidden)[:3]:
            x = np.where(np.arange(len(pattern)) == cell, 0.0, pattern)
            found = violated(separation, x)
            assert found
            assert min(cut.slack(x) for cut in found) < 0


@on_small_problems
def test_the_relaxation_keeps_every_smallest_pattern(kind: str, seed: int) -> None:
    """All of its inequalities hold for them, bridges too: no cell is in them without company."""
    small = condensed(kind, seed)
    relaxation = Relaxation(small)
    relaxation.run(time.monotonic() + 5)
    bridges = [row for row in relaxation.rows if isinstance(row, Bridge)]
    for x in points(small.small, seed, 6):
        for cell in np.flatnonzero(small.small.free & (x > 0.1)):
            if (row := bridge(relaxation.separation.programs[0], int(cell), x)) is not None:
                assert x[row.others].sum() < x[cell]
                bridges.append(row)
    for pattern in minimal_patterns(small.small):
        x = pattern.astype(float)
        assert all(cut.slack(x) >= -1e-6 for cut in relaxation.cuts)
        assert all(x[row.others].sum() >= x[row.cell] for row in bridges)
    assert relaxation.bound <= least_cost(small.small) + 1e-6


@on_small_problems
def test_what_is_fixed_is_so_in_every_cheaper_pattern(kind: str, seed: int) -> None:
    """Reduced costs of the relaxation against all patterns cheaper than a dear one."""

    small = condensed(kind, seed)
    problem = small.small
    dear = max(minimal_patterns(problem), key=problem.cost)
    level = Stage(
        small,
        Incumbent(problem, small.base, lambda cost, bound: None, dear),
    )
    level.relaxation.run(time.monotonic() + 5)
    out, into = level.fixed()
    for pattern in minimal_patterns(problem):
        if problem.cost(pattern) < problem.cost(dear) - 1e-9:
            assert not pattern[out].any()
            assert pattern[into].all()


def test_covers_are_those_of_the_plain_loop() -> None:
    """The compiled loop chooses as many cells as trying all numbers does."""
    random, exact = np.random.default_rng(1), DEFAULT.exact
    for _ in range(200):
        n = int(random.integers(2, 12))
        cut = Cut(random.permutation(15)[:n], random.uniform(0.05, 1, n))
        x = np.clip(random.uniform(-0.5, 1.2, 15), 0, 1)
        order = np.argsort(-x[cut.cell], kind="stable")
        best = cut.slack(x)
        for k in range(1, n):
            rest = 1 - cut.coefficient[order[:k]].sum()
            if rest < exact.cover_left or x[cut.cell[order[k - 1]]] < exact.cover_hidden:
                break
            best = min(best, float(np.minimum(cut.coefficient[order[k:]] / rest, 1) @ x[cut.cell[order[k:]]]) - 1)
        assert best - 1e-9 <= cut.covered(x).slack(x) <= best + exact.cover_gained * n


def test_known_moves_are_tried_on_a_pattern() -> None:
    """They are possible where no cell goes further than the pattern lets it, and without moves nothing is known."""
    small = condensed("three-way", 0)
    separation = Separation(small)
    everything = np.where(small.small.hidden | small.small.free, 1.0, 0.0)
    assert separation.short(everything) == separation.order
    separation(everything)
    assert not separation.short(everything)
    assert separation.short(np.zeros(len(everything))) == separation.order
    for x in points(small.small, 1, 6):
        for k in range(len(separation.aims)):
            witness, room = separation.witness[k], np.zeros(len(x))
            np.maximum.at(room, witness.cells, np.abs(witness.by))
            limit = np.where(np.isfinite(small.small.up), np.minimum(small.small.up, small.small.down), 0) * x
            if (room <= limit).all():
                assert k not in separation.short(x)


def test_an_inequality_of_any_sign_keeps_its_name() -> None:
    """The name tells equal ones from others."""
    one = Plane(np.array([1, 2]), np.array([1.0, -0.5]), 0.25)
    assert one.name == Plane(np.array([1, 2]), np.array([1.0, -0.5]), 0.25).name
    assert one.name != Plane(np.array([1, 2]), np.array([1.0, -0.5]), 0.5).name
    assert one.plane is one
