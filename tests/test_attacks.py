"""Attacks on the server, with and without its defence, on fewer persons than docs/security.md; prints both numbers."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.scripts import script

N = 30_000


@pytest.fixture(scope="module")
def attacks() -> ModuleType:
    """The procedures, which stand beside the other benchmarks."""
    return script("attacks")


@pytest.mark.parametrize(
    ("name", "at_least", "at_most"),
    [
        ("A1", 0.5, 0.0),  # a server that draws anew; ours never shows two values
        ("A2", 0.5, 0.0),  # keys made anew at a reload; ours stay
        ("A3", 0.8, 0.55),
        ("A4", 0.4, 0.4),
        ("A5", 0.3, 0.45),
        ("A6", 0.8, 0.5),  # the guard leaves a blind guess
        ("A7", 0.8, 0.93),  # zeros stay likely to be true; stated, not solved
        ("A8", 0.001, 0.0),
        ("A9", 0.9, 0.0),
        ("A10", 0.05, 0.0),
        ("A12", 0.5, 0.35),
        ("A13", 0.99, 0.8),  # as the number of people, which is published, would tell: one draw for each category
    ],
)
def test_the_defence_holds(attacks: ModuleType, name: str, at_least: float, at_most: float) -> None:
    """The attack works where nothing is done against it, and hardly or not at all against the recommended policy."""
    (found,) = attacks.run(N, [name])
    print(f"{found.name}: {found.success}: {found.without:.1%} without, {found.with_defence:.1%} with")  # noqa: T201
    assert found.without >= at_least
    assert found.with_defence <= at_most


def test_magnitudes_cannot_leak_through_means(attacks: ModuleType, tmp_path: Path) -> None:
    """A11 does not apply: counts are served, and a perturbed count is never put beside a true mean or total."""
    victim = attacks.Victim(attacks.policy(attacks.D5, attacks.STRICT, attacks.OFF), attacks.dc.datasets.census(n=500))
    asked = victim.client.get("/api/table", params={"variables": "sex", "measure": "income"})
    assert asked.status_code == 422
    victim.close()
