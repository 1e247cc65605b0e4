"""R2 of a method rather than of one draw of it: exact where the method is a transition matrix, else Monte Carlo."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.base.arguments import checked, whole
from discreet.base.kinds import is_function
from discreet.errors import InputError, nearest
from discreet.information import (
    Array,
    Axis,
    FloatOrArray,
    conditional_entropy,
    entropy,
    read_counts,
    same_shape,
    tables,
)
from discreet.risk.channels import affordable, expected_channel
from discreet.risk.frequency import WEIGHTS, Form, Risk, hidden_factor, r2, read_weights
from discreet.risk.transition import Transition, read_transition

Perturbation: TypeAlias = Callable[[Array, np.random.Generator], Any]


@dataclass(frozen=True, eq=False)
class ExpectedRisk:
    """The mean R2 of a method. ``standard_error`` is 0 when it is exact; ``draws`` counts draws or outcomes.

    >>> mean = expected_r2([161, 141], Transition.rounding(3), form="psd14")
    >>> mean.exact, mean.draws, mean.standard_error
    (True, 2, 0.0)
    """

    value: FloatOrArray
    standard_error: FloatOrArray
    terms: Mapping[str, FloatOrArray]
    weights: tuple[float, ...]
    exact: bool
    draws: int

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON.

        >>> list(expected_r2([161, 141], Transition.rounding(3)).to_dict())
        ['value', 'standard_error', 'terms', 'weights', 'exact', 'draws']
        """
        names = ("value", "standard_error")
        numbers = {n: np.asarray(getattr(self, n)).tolist() for n in names}
        terms = {k: np.asarray(v).tolist() for k, v in self.terms.items()}
        return {**numbers, "terms": terms, "weights": list(self.weights), "exact": self.exact, "draws": self.draws}


MOST_DRAWS = 10_000_000  # more would take days and tell nothing


@checked
def expected_r2(
    before: Any,
    method: Perturbation | Transition | Any,
    weights: Sequence[float] = WEIGHTS,
    *,
    form: Form = "thesis",
    seed: int | None = None,
    draws: int = 1000,
    axis: Axis = None,
    average: Literal["risk", "channel"] = "risk",
) -> ExpectedRisk:
    r"""Mean of R2(F, G) over the tables G that a method may give, :math:`\sum_G T(G) R_2(F, G)`.

    ``method`` is a function ``(counts, rng) -> counts`` or a transition matrix (:class:`Transition`). With a ``seed``
    the mean is over ``draws`` draws and has a standard error; without, a transition matrix is enumerated exactly
    (cells of one value are exchangeable, which keeps the number of outcomes down) and a function is refused.
    ``axis`` names the axes that form a table; all tables are perturbed in one draw, and an empty one gives NaN.

    ``average="channel"`` (exact only) averages Pr(Y = c_j | X = c_i) over G before taking H(X|Y), as Theorem 6 of
    [Ant16]_ does. That is never above the mean of the risks in the thesis form: mixing channels hides more.

    >>> round(expected_r2([161, 141], Transition.rounding(3), form="psd14").value, 4)
    0.0222
    """
    w, counts = read_weights(weights), read_counts(before, "before")
    if average not in ("risk", "channel"):
        raise InputError(f"average={average!r}: {nearest(str(average), ('risk', 'channel'))}")
    if seed is not None:
        if average == "channel":
            raise InputError("average='channel' is exact: leave the seed out and give a transition matrix")
        return _monte_carlo(counts, method, w, form, seed, draws, axis)
    if callable(method):
        raise InputError(
            "a method given as a function needs a seed: pass seed=, or a transition matrix for an exact mean"
        )
    rows, batch = tables(counts, axis)
    one = _exact if average == "risk" else _exact_channel
    results = [one(row, read_transition(method), w, form) if row.any() else None for row in rows]
    first = next((r for r in results if r is not None), None)
    if first is None or (not batch and results[0] is None):
        raise InputError("a table has nobody in it (N = 0) and so no risk: drop it")
    if not batch:
        return first
    nan = [math.nan if r is None else r.value for r in results]
    terms = {k: np.array([math.nan if r is None else r.terms[k] for r in results]).reshape(batch) for k in first.terms}
    number = sum(r.draws for r in results if r is not None)
    return ExpectedRisk(np.array(nan).reshape(batch), np.zeros(batch), terms, w, True, number)


def _monte_carlo(
    counts: Array, method: Any, w: tuple[float, ...], form: Form, seed: int, draws: int, axis: Axis
) -> ExpectedRisk:
    if draws < 2:
        raise InputError(f"draws={draws}: a standard error needs 2 or more")
    whole("draws", draws, 2, MOST_DRAWS)
    whole("seed", seed, 0)
    move = method if is_function(method) else read_transition(method).sample
    rng = np.random.default_rng(seed)
    inside = tuple(range(counts.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    moved = tuple(a + 1 if a >= 0 else a for a in inside)  # the draws come first
    step = max(1, (1 << 20) // counts.size)
    risks: list[Risk] = []
    for start in range(0, draws, step):
        after = np.stack([read_counts(move(counts, rng), "after") for _ in range(min(step, draws - start))])
        same_shape(counts, after[0])
        risks.append(r2(np.broadcast_to(counts, after.shape), after, w, form=form, axis=moved, empty="nan"))
    values = np.concatenate([r.value for r in risks])
    if axis is None and np.isnan(values).any():
        raise InputError("a table has nobody in it (N = 0) and so no risk: drop it")
    terms = {k: _number(np.concatenate([r.terms[k] for r in risks]).mean(axis=0)) for k in risks[0].terms}
    error = values.std(axis=0, ddof=1) / math.sqrt(draws)
    return ExpectedRisk(_number(values.mean(axis=0)), _number(error), terms, w, False, draws)


def _number(x: Any) -> FloatOrArray:
    return x if np.ndim(x) else float(x)


def _exact(counts: Array, transition: Transition, w: tuple[float, ...], form: Form) -> ExpectedRisk:
    affordable(outcomes(counts, transition) * counts.size)
    was, after, p = every_outcome(counts, transition)
    risk = r2(np.broadcast_to(was, after.shape), after, w, form=form, axis=1)
    terms = {k: float(p @ t) for k, t in risk.terms.items()}
    return ExpectedRisk(float(p @ risk.value), 0.0, terms, w, True, len(p))


def outcomes(counts: Array, transition: Transition) -> int:
    """How many tables a method may give that differ in how many cells went from which count to which.

    >>> outcomes(np.array([1, 1, 2]), Transition.rounding(3))
    6
    """
    return math.prod(math.comb(size + len(o) - 1, size) for _, size, o in _cells(counts, transition))


def every_outcome(counts: Array, transition: Transition) -> tuple[Array, Array, Array]:
    """The counts in order, all that a method may show of them (a row each), and their probabilities.

    A measure that only sees how many cells went from which count to which has its mean over these: multisets, with
    multinomial weights.
    """
    cells = _cells(counts, transition)
    groups = [list(_multisets(o, size)) for _, size, o in cells]
    p = np.array([math.prod(q for _, q in choice) for choice in itertools.product(*groups)])
    after = np.array([list(itertools.chain(*(g for g, _ in choice))) for choice in itertools.product(*groups)])
    return np.repeat([value for value, _, _ in cells], [size for _, size, _ in cells]), after, p


def _cells(counts: Array, transition: Transition) -> list[tuple[int, int, tuple[tuple[int, float], ...]]]:
    """Each count, in how many cells it is, and what may be shown of it."""
    values = np.unique(counts, return_counts=True)
    return [(int(v), int(size), transition.outcomes(int(v))) for v, size in zip(*values, strict=True)]


def _multisets(options: tuple[tuple[int, float], ...], size: int) -> Iterator[tuple[tuple[int, ...], float]]:
    for chosen in itertools.combinations_with_replacement(range(len(options)), size):
        ways, p = math.factorial(size), 1.0
        for i in set(chosen):
            ways //= math.factorial(chosen.count(i))
            p *= options[i][1] ** chosen.count(i)
        yield tuple(options[i][0] for i in chosen), ways * p


def _exact_channel(counts: Array, transition: Transition, w: tuple[float, ...], form: Form) -> ExpectedRisk:
    mean = _exact(counts, transition, w, form)
    h = entropy(counts)
    joint = (counts / counts.sum())[:, None] * expected_channel(counts, transition)
    base = 1.0 - h / math.log(counts.size) if counts.size > 1 else 0.0
    hidden = hidden_factor(np.array([h]), np.array([conditional_entropy(joint)]), form)
    terms = {**mean.terms, "entropy": float(base * hidden[0])}
    return ExpectedRisk(sum(a * t for a, t in zip(w, terms.values(), strict=True)), 0.0, terms, w, True, mean.draws)
