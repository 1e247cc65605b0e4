"""Pr(Y = c_j | X = c_i): where the units of a cell are after a perturbation, when only the two tables are known.

Omega_G is the set of all recategorisations Y of the units that give the perturbed table G, R_G a distribution on it,
and E(Z_ij) the mean of Pr(Y = c_j | X = c_i) under R_G: section 3.6.2 of [Ant16]_.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.information import Array, Floats, read_counts, read_values, same_shape
from discreet.risk.transition import Transition, read_transition

LIMIT = 4_000_000
"""Most cells, over all outcomes of a method together, that are enumerated."""

Weight: TypeAlias = Callable[[Array], float]
Over: TypeAlias = Literal["nearest", "all"] | Weight
"""R_G: alike over the recategorisations that move the fewest units, alike over all, or a weight of one's own."""


def affordable(cells: int) -> None:
    """Refuse what takes too long to enumerate."""
    if cells > LIMIT:
        raise InputError(
            "the method has too many outcomes on this table to list them all: pass seed= for a Monte Carlo mean"
        )


@checked
def channel(before: Any, after: Any, *, over: Over = "nearest") -> Floats:
    r"""E(Z): the mean of Pr(Y = c_j | X = c_i) over the recategorisations Y that give the perturbed table.

    ``over="nearest"``: those that move the fewest units, alike likely: Theorems 2 and 4 of [Ant16]_, what R2 uses.
    ``over="all"``: all of them alike, :math:`G_j/M`: Theorems 1 and 3; Y then tells nothing and H(X|Y) = H(X). A
    function gives R_G itself (section 6.3, topic 1): the weight, up to a constant, of one recategorisation, from the
    K x K numbers of units that go from each cell to each; all are listed, so it is for small tables with equal sums.

    K x K, for small tables and for checks; the measures use the O(K) formula. Rows of empty cells are 0. A perturbed
    table of zeros only keeps nobody in place: its rows are uniform, so that Y tells nothing.

    >>> channel([0, 2, 4], [0, 3, 3])
    array([[0.  , 0.  , 0.  ],
           [0.  , 1.  , 0.  ],
           [0.  , 0.25, 0.75]])
    >>> channel([0, 2, 4], [0, 3, 3], over="all")[1]
    array([0. , 0.5, 0.5])
    """
    if not callable(over) and over not in ("nearest", "all"):
        raise InputError(f"over={over!r}: {nearest(str(over), ('nearest', 'all'))}, or give a function")
    f, g = read_values(before, "before").ravel(), read_values(after, "after").ravel()
    same_shape(f, g)
    if f.sum() == 0:
        raise InputError("before sums to 0, so nobody can move: give a table with someone in it")
    if g.sum() == 0:
        return np.where(f[:, None] > 0, 1.0 / f.size, np.zeros((f.size, f.size)))
    if over == "all":
        return np.where(f[:, None] > 0, g / g.sum(), 0.0)
    return _weighted(f, g, over) if callable(over) else _nearest(f, g)


def _nearest(f: Floats, g: Floats) -> Floats:
    n, m = f.sum(), g.sum()
    a, b = m * f, n * g
    kept = np.minimum(a, b)
    out = np.zeros((f.size, f.size))
    if (a != b).any():
        out = np.outer(a - kept, b - kept) / (n * m - kept.sum())
    out[np.diag_indices(f.size)] = kept
    result: Floats = np.divide(out, a[:, None], out=np.zeros_like(out), where=a[:, None] > 0)
    return result


def _weighted(f: Floats, g: Floats, weight: Weight) -> Floats:
    """Sums over the matrices of who goes where, each standing for as many recategorisations as there are."""
    if f.sum() != g.sum():
        raise InputError(
            "a weight of one's own follows units one by one, so both sums must be equal; give over='nearest' or 'all'"
        )
    rows, columns = read_counts(f, "before").tolist(), read_counts(g, "after").tolist()
    total, mass = np.zeros((f.size, f.size)), 0.0
    for number, moves in enumerate(matrices(rows, columns)):
        affordable((number + 1) * f.size**2)
        matrix = np.array(moves)
        value = float(weight(matrix))
        if not (math.isfinite(value) and value >= 0):
            raise InputError("a weight is a number of 0 or more")
        ways = math.prod(multinomial(row) for row in moves)
        total, mass = total + ways * value * matrix, mass + ways * value
    if mass == 0:
        raise InputError("every recategorisation has weight 0: nothing can be averaged")
    mean: Floats = np.divide(total / mass, f[:, None], out=np.zeros_like(total), where=f[:, None] > 0)
    return mean


def multinomial(parts: Sequence[int]) -> int:
    """In how many ways a set can be divided into parts of these sizes."""
    return math.factorial(sum(parts)) // math.prod(math.factorial(x) for x in parts)


def matrices(rows: Sequence[int], columns: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every matrix of counts with these row and column sums."""
    if not rows:
        if not any(columns):
            yield ()
        return
    for first in _rows(rows[0], columns):
        left = [c - x for c, x in zip(columns, first, strict=True)]
        for rest in matrices(rows[1:], left):
            yield (first, *rest)


def _rows(total: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not most:
        if total == 0:
            yield ()
        return
    for x in range(max(0, total - sum(most[1:])), min(total, most[0]) + 1):
        for rest in _rows(total - x, most[1:]):
            yield (x, *rest)


@checked
def expected_channel(before: Any, transition: Transition | Any, *, over: Over = "nearest") -> Floats:
    r"""Mean of Pr(Y = c_j | X = c_i) over all tables a transition matrix may give: Theorem 6 of [Ant16]_.

    ``over="all"`` is Theorem 5, the mean of :math:`G_j/M_G`: all rows are alike, so that Y still tells nothing. Other
    R_G as in :func:`channel`.

    >>> expected_channel([1, 3], Transition.rounding(3)).round(4)
    array([[0.3333, 0.6667],
           [0.1111, 0.8889]])
    """
    counts = read_counts(before, "before").ravel()
    options = [read_transition(transition).outcomes(int(v)) for v in counts]
    affordable(math.prod(len(o) for o in options) * counts.size**2)
    total = np.zeros((counts.size, counts.size))
    for choice in itertools.product(*options):
        total += math.prod(p for _, p in choice) * channel(counts, [g for g, _ in choice], over=over)
    return total


def read_channel(matrix: Any, counts: Array) -> Floats:
    """A channel for a table: K x K probabilities, the rows of populated cells summing to 1."""
    channel = read_values(matrix, "the channel")
    k = counts.size
    if channel.shape != (k, k):
        raise InputError(f"the channel has shape {channel.shape}: give one row and one column a cell, ({k}, {k})")
    if np.abs(channel.sum(axis=1)[counts > 0] - 1).max(initial=0.0) > 1e-9:
        raise InputError("the rows of the channel are not probabilities: those of populated cells must sum to 1")
    return channel


@checked
def pram_probability(
    before: Any, after: Any, matrix: Any, *, model: Literal["multinomial", "poisson"] = "multinomial"
) -> float:
    r"""Pr(the perturbed table is G | the original is F) when every unit moves by itself with p_ij, as PRAM does.

    .. math:: \sum_{(F_i^j)} \prod_i \frac{F_i!}{F_i^1! \cdots F_i^K!}\, p_{i1}^{F_i^1} \cdots p_{iK}^{F_i^K}

    Equation (6.3.2) of [Ant16]_, over the matrices with the margins F and G; computed as a coefficient of
    :math:`\prod_i (\sum_j p_{ij} z_j)^{F_i}`. ``model="poisson"`` is the approximation of its topic 2, where G_j is
    Poisson with mean :math:`\sum_i p_{ij} F_i`, independent of the others.

    >>> pram_probability([1, 1], [2, 0], [[0.75, 0.25], [0.5, 0.5]])
    0.375
    """
    f, g = read_counts(before, "before").ravel(), read_counts(after, "after").ravel()
    same_shape(f, g)
    p = read_channel(matrix, f)
    if model not in ("multinomial", "poisson"):
        raise InputError(f"model={model!r}: {nearest(str(model), ('multinomial', 'poisson'))}")
    if model == "poisson":
        from scipy.special import gammaln, xlogy

        mean = f @ p
        return float(np.exp((xlogy(g, mean) - mean - gammaln(g + 1)).sum()))
    if f.sum() != g.sum():
        return 0.0
    affordable(int(f.sum()) * f.size * math.prod(int(x) + 1 for x in g[1:]))
    ways = np.zeros([int(x) + 1 for x in g[1:]] or [1])  # by how many are in the cells after the first
    ways.flat[0] = 1.0
    for i in np.flatnonzero(f):
        for _ in range(int(f[i])):
            ways = _one_more(ways, p[i], g.size)
    return float(ways.flat[-1])


def _one_more(ways: Floats, p: Floats, cells: int) -> Floats:
    """The distribution after one more unit; what goes beyond the wanted table falls off."""
    out: Floats = p[0] * ways
    for j in range(1, cells):
        to, source = [slice(None)] * ways.ndim, [slice(None)] * ways.ndim
        to[j - 1], source[j - 1] = slice(1, None), slice(None, -1)
        out[tuple(to)] += p[j] * ways[tuple(source)]
    return out
