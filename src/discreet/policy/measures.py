"""Measures of risk and of loss by name: what a policy, a map of methods and the command line can choose from.

[Ant16]_ section 5.2 begins with the choice of a risk measure (step 1) and of an information loss measure (step 9), of
one or of several, each with a threshold of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed, nearest
from discreet.information import FAMILY, f_divergence
from discreet.risk.frequency import WEIGHTS, Risk, r1, r1_star, r2, r2_star, read_weights
from discreet.risk.jos15 import JOS15_WEIGHTS, jos15_after, jos15_risk
from discreet.risk.transition import Transition
from discreet.utility import hellinger_utility

Axes = tuple[int, ...]
Loss = Callable[[Array, Array, Axes], Array]

TERMS = ("zeros", "entropy", "size")
RISKS = ("r", "r*", "jos15", *TERMS)
"""R1 and R2 with weights, without (R*), the measure of [JOS15]_, and the three terms of R by themselves (3.5.1)."""


@dataclass(frozen=True, kw_only=True)
class Measures:
    """The risk measures that decide, in order, with their weights.

    >>> Measures(names=("r", "zeros")).before(np.array([[0, 2, 4]]), (1,))["zeros"].round(4).tolist()
    [0.3333]
    """

    names: tuple[str, ...] = ("r",)
    weights: tuple[float, ...] = WEIGHTS
    jos15_weights: tuple[float, ...] = JOS15_WEIGHTS

    def __post_init__(self) -> None:
        for name in self.names:
            if name not in RISKS:
                raise InputError(f"no risk measure {name!r}; {nearest(name, RISKS)}")
        if not self.names or len(set(self.names)) < len(self.names):
            raise InputError(f"give one risk measure or more, each once: {listed(RISKS)}")
        read_weights(self.weights)
        read_weights(self.jos15_weights, 4)

    def before(self, was: Array, axes: Axes) -> dict[str, Array]:
        """The risk of each table of a batch, if it were published."""
        one = {"r*": lambda: r1_star(was, axis=axes), "jos15": lambda: self._jos15(was, axes)}
        return self._by_name(one, lambda: r1(was, self.weights, axis=axes))

    def after(
        self, was: Array, now: Array, axes: Axes, transition: Transition | None, stay: Array | None = None
    ) -> dict[str, Array]:
        """The risk of each table when ``now`` is shown of it.

        The measure of JOS15 needs the matrix of the method. Where there is none, or one that cannot have made this,
        it goes by the mean of what cells that show the same were, times ``stay``, the share of counts left alone;
        without that the method is credited with nothing.
        """
        one = {
            "r*": lambda: r2_star(was, now, axis=axes),
            "jos15": lambda: self._jos15_after(was, now, axes, transition, stay),
        }
        return self._by_name(one, lambda: r2(was, now, self.weights, axis=axes))

    def _by_name(self, one: Mapping[str, Callable[[], Risk]], weighted: Callable[[], Risk]) -> dict[str, Array]:
        values, main = {}, weighted() if {"r", *TERMS} & set(self.names) else None
        for name in self.names:
            if name in one:
                values[name] = np.asarray(one[name]().value)
            elif main is not None:
                values[name] = np.asarray(main.value if name == "r" else main.terms[name])
        return values

    def _jos15(self, was: Array, axes: Axes) -> Risk:
        return jos15_risk(was, self.jos15_weights, axis=axes)

    def _jos15_after(
        self, was: Array, now: Array, axes: Axes, transition: Transition | None, stay: Array | None
    ) -> Risk:
        if transition is not None:
            with suppress(InputError):  # a count that the matrix cannot have shown like this: no credit for the matrix
                return jos15_after(was, now, transition, self.jos15_weights, axis=axes)
        if stay is None:
            return self._jos15(was, axes)
        share = float(np.mean(stay))
        return jos15_after(was, now, "observed", self.jos15_weights, multiplier=share, axis=axes)


def read_measures(
    measure: str | Sequence[str] = "r",
    weights: Sequence[float] = WEIGHTS,
    jos15_weights: Sequence[float] = JOS15_WEIGHTS,
) -> Measures:
    """Measures from one name or several.

    >>> read_measures(["r", "jos15"]).names
    ('r', 'jos15')
    """
    names = (measure,) if isinstance(measure, str) else tuple(measure)
    return Measures(names=names, weights=tuple(weights), jos15_weights=tuple(jos15_weights))


def read_thresholds(name: str, numbers: float | Sequence[float] | None, measures: Measures) -> tuple[float, ...] | None:
    """A threshold for each measure, or None; a single number is that of a single measure.

    >>> read_thresholds("t2", [0.2, 0.3], read_measures(["r", "zeros"]))
    (0.2, 0.3)
    """
    if numbers is None:
        return None
    limits = (numbers,) if isinstance(numbers, int | float) else tuple(numbers)
    if len(limits) != len(measures.names):
        raise InputError(
            f"{name} has {len(limits)} numbers for {len(measures.names)} measures ({', '.join(measures.names)}): give "
            "one each"
        )
    if not all(0 <= t <= 1 for t in limits):
        raise InputError(f"{name} must be between 0 and 1")
    return tuple(float(t) for t in limits)


# -- loss -------------------------------------------------------------------------------------------------------


def _hellinger(was: Array, now: Array, axes: Axes) -> Array:
    return np.asarray(1.0 - np.asarray(hellinger_utility(was, now, axis=axes)))


def _divergence(kind: str) -> Loss:
    def loss(was: Array, now: Array, axes: Axes) -> Array:
        empty = now.sum(axis=axes) <= 0
        if np.any(empty):  # nothing is left of the table, so no loss is larger
            return np.full(was.sum(axis=axes).shape, np.inf)
        return np.asarray(f_divergence(was, now, kind, axis=axes))

    return loss


def _mean_absolute(was: Array, now: Array, axes: Axes) -> Array:
    return np.asarray(np.abs(now - was).mean(axis=axes))


def _mean_relative(was: Array, now: Array, axes: Axes) -> Array:
    """Mean relative deviation of the cells that were not 0."""
    filled = was > 0
    relative = np.where(filled, np.abs(now - was) / np.where(filled, was, 1), 0.0)
    return np.asarray(relative.sum(axis=axes) / np.maximum(filled.sum(axis=axes), 1))


def _changed(was: Array, now: Array, axes: Axes) -> Array:
    return np.asarray((now != was).mean(axis=axes))


LOSSES: dict[str, Loss] = {
    "hellinger": _hellinger,
    **{name.replace("_", "-"): _divergence(name) for name in FAMILY},
    "mean-absolute": _mean_absolute,
    "mean-relative": _mean_relative,
    "changed": _changed,
}
"""HD/√N of the counts; f-divergences of the distributions (section 3.3); deviations of cells."""
F_DIVERGENCE = "f-divergence"


def read_loss(name: str, f: str = "kl") -> str:
    """The name of a loss measure; ``"f-divergence"`` is the one that ``f`` names.

    >>> read_loss("f-divergence", "chi2")
    'chi2'
    """
    name = f.replace("_", "-") if name == F_DIVERGENCE else name.replace("_", "-")
    if name not in LOSSES:
        raise InputError(f"no loss measure {name!r}; {nearest(name, [*LOSSES, F_DIVERGENCE])}")
    return name
