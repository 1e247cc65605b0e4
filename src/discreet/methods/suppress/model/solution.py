"""What a search for a pattern comes to: a pattern, its cost and a certified bound; or needs that no pattern meets."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.base.annotations import Array
from discreet.errors import InputError, listed

OPTIMAL, TIME, GAP = "optimal", "time", "gap"


class UnprotectedError(InputError):
    """Requirements that no pattern meets, by their numbers in the problem."""

    def __init__(self, needs: Array) -> None:
        self.needs = needs
        many = listed([str(k) for k in needs[:6].tolist()])
        super().__init__(
            f"{len(needs):,} needs cannot be met even if every cell that may be hidden is (numbers {many}): lower "
            "their levels, or let more cells be hidden"
        )


@dataclass(frozen=True, eq=False)
class Solution:
    """A pattern that protects, what it costs, and the certified least that any protecting pattern costs."""

    hidden: Array
    cost: float
    bound: float
    status: str
    seconds: float
    cuts: int = 0
    nodes: int = 0

    @property
    def gap(self) -> float:
        """How much of the cost may be needless at most; 0 for the optimum."""
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost > 0 else 0.0

    def __repr__(self) -> str:
        proof = "optimal" if self.status == OPTIMAL else f"at least {self.bound:,.10g}: gap {100 * self.gap:.2f} %"
        return f"Solution(cost {self.cost:,.10g}, {proof}, {self.seconds:.1f} s)"
