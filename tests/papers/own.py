"""The definitions of the papers in a few lines of NumPy each: slow, plain, and not the product's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linprog


def plogp(p: Any) -> Any:
    """p log p, 0 for p = 0."""
    p = np.asarray(p, float)
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def entropy(counts: Any) -> float:
    """H of counts divided by their sum."""
    x = np.asarray(counts, float).ravel()
    return float(-plogp(x / x.sum()).sum())


def nearest_channel(before: Any, after: Any) -> Any:
    """Theorem 4 of Ant16: Pr(Y = j | X = i), written out case by case."""
    f, g = [int(x) for x in np.ravel(before)], [int(x) for x in np.ravel(after)]
    n, m, k = sum(f), sum(g), len(f)
    kept = [min(m * a, n * b) for a, b in zip(f, g, strict=True)]
    out = np.zeros((k, k))
    for i, j in itertools.product(range(k), repeat=2):
        if f[i] and i == j:
            out[i, j] = kept[i] / (m * f[i])
        elif f[i] and n * m > sum(kept):
            out[i, j] = (m * f[i] - kept[i]) * (n * g[j] - kept[j]) / (m * f[i] * (n * m - sum(kept)))
    return out


def left_unknown(before: Any, channel: Any) -> float:
    """H(X | Y) by (3.6.3): the joint distribution, column by column."""
    f = np.ravel(before).astype(float)
    joint = (f / f.sum())[:, None] * channel
    return float(-(plogp(joint).sum() - plogp(joint.sum(axis=0)).sum()))


def terms(before: Any, after: Any = None, *, form: str = "thesis") -> list[float]:
    """The three terms of R1, or of R2 with a perturbed table."""
    f = np.ravel(before)
    k, n = f.size, int(f.sum())
    zeros, h = float((f == 0).mean()), entropy(f)
    spread = 1 - h / math.log(k) if k > 1 else 0.0
    if after is not None:
        g = np.ravel(after)
        stayed, ever = int(((f == 0) & (g == 0)).sum()), int(((f == 0) | (g == 0)).sum())
        zeros = zeros ** (ever / stayed) if stayed else 0.0
        unknown = left_unknown(f, nearest_channel(f, g)) if g.any() else h
        if form == "thesis":
            spread *= 1 - unknown / h if h > 0 else 1.0
        else:
            spread *= unknown / h if h > 0 and g.any() else 0.0
    return [zeros, spread, (1 + 0.5 * math.log(n)) / math.sqrt(n)]


def weighted(parts: Sequence[float], weights: Sequence[float] = (0.1, 0.8, 0.1)) -> float:
    """The weighted sum."""
    return float(np.dot(parts, weights))


def root_mean_square(parts: Sequence[float]) -> float:
    """The form without weights."""
    return math.sqrt(sum(x * x for x in parts) / 3)


def hellinger(before: Any, after: Any) -> float:
    """HD of counts."""
    f, g = np.ravel(before).astype(float), np.ravel(after).astype(float)
    return float(math.sqrt(((np.sqrt(f) - np.sqrt(g)) ** 2).sum() / 2))


def roundings(counts: Sequence[int], base: int = 3) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every table that unbiased random rounding may give, with its probability."""
    options = []
    for x in counts:
        low, rest = x - x % base, x % base
        options.append([(low, 1 - rest / base), (low + base, rest / base)] if rest else [(low, 1.0)])
    for choice in itertools.product(*options):
        yield tuple(v for v, _ in choice), math.prod(p for _, p in choice)


def margins(array: Any) -> list[tuple[int, ...]]:
    """All sums of a table over every set of axes but none."""
    array = np.asarray(array)
    axes = range(array.ndim)
    sets = itertools.chain.from_iterable(itertools.combinations(axes, r) for r in range(1, array.ndim + 1))
    return [tuple(np.ravel(array.sum(axis=s)).tolist()) for s in sets]


def with_margins(rows: Sequence[int], columns: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every matrix of whole numbers of 0 or more with these row and column sums."""
    if len(rows) == 1:
        yield (tuple(columns),)
        return
    for first in compositions(rows[0], columns):
        left = [c - x for c, x in zip(columns, first, strict=True)]
        for rest in with_margins(rows[1:], left):
            yield (first, *rest)


def compositions(total: int, limits: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to put a total into cells that hold at most so much."""
    if len(limits) == 1:
        if total <= limits[0]:
            yield (total,)
        return
    for x in range(min(total, limits[0]) + 1):
        for rest in compositions(total - x, limits[1:]):
            yield (x, *rest)


def least(cost: Any, **program: Any) -> float:
    """The least of a linear program that has one."""
    value = linprog(cost, **program).fun
    assert value is not None
    return float(value)


def records(data: Any, *columns: str) -> pd.DataFrame:
    """The records of microdata as a frame."""
    frame: pd.DataFrame = data.engine.arrow(list(columns)).to_pandas()
    return frame
