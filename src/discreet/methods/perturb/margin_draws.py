"""Random arrays of counts with given margins: all listed where there are few, drawn directly, or by a chain of moves.

Nothing here sees the table that is protected, only its margins: what comes out can tell no more than they do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError

STEPS = 50
"""Most steps of the search for arrays with given margins, for each that may be listed."""
UNITS = 2_000_000
"""Most units that are dealt one by one."""
MOST_UNITS = 10**9
"""Beyond this the hypergeometric distribution is not drawn from."""
DEPTH = 500
"""Most cells of an array that is searched for: the search goes as deep."""


def arrays(sums: Sequence[Array], possible: Array, most: int) -> list[Array] | None:
    """Every array of counts with these sums over each of its axes, 0 where nothing is possible.

    ``sums[k]`` is the array summed over axis k. None where there are more than ``most``, or the search is too long.

    >>> [a.tolist() for a in arrays([np.array([1, 1]), np.array([1, 1])], np.ones((2, 2), bool), 9) or []]
    [[[0, 1], [1, 0]], [[1, 0], [0, 1]]]
    """
    fitting: list[Array] = []
    if possible.size > DEPTH:
        return None
    for steps, array in enumerate(_search(possible, [s.astype(np.int64).copy() for s in sums])):
        if array is not None:
            fitting.append(array)
        if len(fitting) > most or steps > STEPS * most:
            return None
    return fitting


def _search(possible: Array, left: list[Array]) -> Iterator[Array | None]:
    """Depth first over the cells in their order; the last cell along an axis takes what its sum has left.

    Gives every array that fits, and None at every other step.
    """
    shape, counts = possible.shape, np.zeros(possible.shape, np.int64)
    cells = list(np.ndindex(*shape))

    def options(at: tuple[int, ...]) -> range:
        rest = [int(s[at[:k] + at[k + 1 :]]) for k, s in enumerate(left)]
        high = min(rest) if possible[at] else 0
        low = max([r for k, r in enumerate(rest) if at[k] == shape[k] - 1], default=0)
        return range(low, high + 1)

    def put(at: tuple[int, ...], value: int) -> None:
        counts[at] += value
        for k, s in enumerate(left):
            s[at[:k] + at[k + 1 :]] -= value

    def walk(depth: int) -> Iterator[Array | None]:
        if depth == len(cells):
            yield counts.copy()
            return
        yield None
        at = cells[depth]
        for value in options(at):
            put(at, value)
            yield from walk(depth + 1)
            put(at, -value)

    return walk(0)


def more_than(array: Array, number: int) -> bool:
    """Whether there are surely more matrices with the same margins: squares of two by two change independently."""
    rows, columns = (n - n % 2 for n in array.shape)
    a, b, c, d = (array[i:rows:2, j:columns:2] for i in (0, 1) for j in (0, 1))
    ways = np.minimum(a, d) + np.minimum(b, c) + 1
    return bool(np.log(ways).sum() > math.log(max(number, 1)))


def log_ways(array: Array) -> float:
    """The logarithm of 1/∏ n!, the weight of a table under independence given its margins, up to a constant."""
    return -math.fsum(math.lgamma(int(x) + 1) for x in array.ravel())


def pick(listed: Sequence[Array], distribution: str, rng: np.random.Generator) -> Array:
    """One of the listed arrays, alike likely or by its weight."""
    if distribution == "uniform":
        return listed[int(rng.integers(len(listed)))]
    weight = np.array([log_ways(a) for a in listed])
    p = np.exp(weight - weight.max())
    return listed[int(rng.choice(len(listed), p=p / p.sum()))]


def dealt(margins: Sequence[Array], rng: np.random.Generator) -> Array:
    """An array with given one-way margins: units are dealt at random, which is the exact distribution ∝ 1/∏ n!.

    >>> dealt([np.array([2, 1]), np.array([3, 0])], np.random.default_rng(1)).tolist()
    [[2, 0], [1, 0]]
    """
    if (total := int(margins[0].sum())) >= MOST_UNITS:
        raise InputError(f"the table has {MOST_UNITS:,} units or more: too many to be drawn; take a coarser measure")
    shape = tuple(len(m) for m in margins)
    if total <= UNITS:
        codes = [np.repeat(np.arange(len(m)), m) for m in margins]
        cell = np.ravel_multi_index([codes[0], *(rng.permutation(c) for c in codes[1:])], shape)
        return np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
    units = np.asarray(margins[0])
    for margin in margins[1:]:  # cell by cell, without a list of the units
        left, parts = np.asarray(margin).copy(), []
        for number in units.tolist():
            parts.append(rng.multivariate_hypergeometric(left, number, method="marginals"))
            left -= parts[-1]
        units = np.concatenate(parts)
    return units.reshape(shape)


def shared_out(total: int, cells: int, distribution: str, rng: np.random.Generator) -> Array:
    """A total shared out among cells: every way alike likely (bars among stars), or every unit by itself."""
    if distribution != "uniform":
        return np.asarray(rng.multinomial(total, np.full(cells, 1 / cells)))
    bars = np.sort(rng.choice(total + cells - 1, cells - 1, replace=False)) if cells > 1 else np.empty(0, np.int64)
    return np.diff(np.concatenate([[-1], bars, [total + cells - 1]])) - 1


def walked(array: Array, sweeps: int, rng: np.random.Generator) -> Array:
    """A chain of moves that keep the one-way margins and leave the uniform distribution as it is.

    A sweep takes an axis, pairs its codes and pairs the cells of the other axes; in each square of two by two that
    results a number is drawn alike from all that keep its four sums (Diaconis and Gangolli 1995). Squares of one sweep
    share no cell. Exchanging one code between two cells at a time connects all tables with the same one-way margins.
    """
    array = array.copy()
    for _ in range(sweeps):
        axis = int(rng.integers(array.ndim))
        view = np.moveaxis(array, axis, 0)
        flat = view.reshape(view.shape[0], -1)
        rows, columns = (rng.permutation(n)[: n - n % 2].reshape(-1, 2) for n in flat.shape)
        r, s = rows[:, 0, None], rows[:, 1, None]
        c, d = columns[None, :, 0], columns[None, :, 1]
        low, high = -np.minimum(flat[r, c], flat[s, d]), np.minimum(flat[r, d], flat[s, c])
        step = rng.integers(low, high, endpoint=True)
        flat[r, c] += step
        flat[s, d] += step
        flat[r, d] -= step
        flat[s, c] -= step
        array = np.moveaxis(flat.reshape(view.shape), 0, axis)
    return array
