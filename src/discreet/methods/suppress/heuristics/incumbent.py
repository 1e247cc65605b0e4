"""The incumbent: the best pattern of a search so far, and what is proved of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.condense import Condensed
from discreet.methods.suppress.model.problem import Problem
from discreet.methods.suppress.model.tuning import WHOLE

Tell = Callable[[float, float], None]  # is told of cost and bound whenever one of them gets better


# a small problem, a pattern that protects it and the time: the cheapest pattern found, and whether it is proved to be
SolveSmall = Callable[[Condensed, Array, Clock], tuple[Array, bool]]


class SharedPattern:
    """The cheapest pattern that methods working side by side have found so far; each is proved before it is offered."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.cost = problem, np.inf
        self.pattern: Array | None = None
        self._lock = Lock()

    def offer(self, pattern: Array) -> None:
        """Note a pattern that protects, if it is cheaper."""
        cost = self.problem.cost(pattern)
        with self._lock:
            if cost < self.cost:
                self.pattern, self.cost = np.asarray(pattern, bool).copy(), cost

    def cheaper(self, pattern: Array) -> Array:
        """A pattern that protects, or what is cheaper here."""
        self.offer(pattern)
        return pattern if self.pattern is None else self.pattern


def nothing_new() -> Array | None:
    """No pattern comes from anywhere else."""
    return None


@dataclass
class Incumbent:
    """The best pattern of the condensed problem so far, and what is proved; ``arrived``: what others have found."""

    problem: Problem
    base: float
    tell: Tell
    pattern: Array
    bound: float = 0.0
    arrived: Callable[[], Array | None] = field(default=nothing_new)

    @property
    def cost(self) -> float:
        """Of the best pattern."""
        return self.problem.cost(self.pattern)

    @property
    def whole(self) -> bool:
        """Whether every pattern costs a whole number."""
        weight = self.problem.weight[self.problem.free]
        return bool((weight == np.rint(weight)).all())

    @property
    def target(self) -> float:
        """What a better pattern costs at most."""
        return self.cost - (1 - WHOLE if self.whole else 1e-9 * self.cost)

    def improve(self, pattern: Array) -> None:
        """Note a pattern that protects, if it is cheaper."""
        if self.problem.cost(pattern) < self.cost:
            self.pattern = pattern
            self.report()

    def welcome(self) -> None:
        """Note what others, working beside this search, have found meanwhile."""
        pattern = self.arrived()
        if pattern is not None:
            self.improve(pattern)

    def prove(self, bound: float) -> None:
        """Note a lower bound; where costs are whole numbers, so is what it proves."""
        bound = float(np.ceil(bound - WHOLE * max(1.0, 1e-3 * abs(bound)))) if self.whole else bound
        if bound > self.bound:
            self.bound = min(bound, self.cost)
            self.report()

    def report(self) -> None:
        """Tell whoever watches."""
        self.tell(self.cost + self.base, self.bound + self.base)

    def done(self, gap: float) -> bool:
        """Whether nothing better than the gap asks for is left."""
        return self.bound > self.target or self.cost - self.bound <= gap * (self.cost + self.base)


class Goal(Incumbent):
    """Stands for the best pattern where one is looked for that costs no more than ``reach``, or a proof of none."""

    def __init__(self, real: Incumbent, reach: float) -> None:
        super().__init__(real.problem, real.base, real.tell, real.pattern, real.bound, real.arrived)
        self.real, self.reach = real, reach

    @property
    def cost(self) -> float:
        """What a pattern just beyond reach would cost."""
        return self.reach + 1

    def improve(self, pattern: Array) -> None:
        """Note it where it counts."""
        self.real.improve(pattern)

    def prove(self, bound: float) -> None:
        """A bound for patterns within reach is one for all, as far as it goes."""
        self.real.prove(min(bound, self.cost))

    def done(self, gap: float) -> bool:
        """Whether nothing within reach is left."""
        return self.real.done(gap) or self.real.bound > self.reach + WHOLE
