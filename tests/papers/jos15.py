"""JOS15 by hand: the risk of sections 4.1 and 4.2, and the output tables of section 5 out of counted records."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

import discreet as dc
from tests.papers import own

WEIGHTS = (0.1, 0.7, 0.1, 0.1)


def concentration(values: list[float]) -> float:
    """1 - H/log K of some cells; 0 where they hold nobody or are one cell."""
    return 1 - own.entropy(values) / math.log(len(values)) if len(values) > 1 and sum(values) > 0 else 0.0


def split_terms(counts: np.ndarray) -> list[float]:
    """Section 4.1: zeros, entropy of cells up to six, entropy of larger ones, size."""
    x = counts.ravel().tolist()
    n = sum(x)
    small, large = [v for v in x if v <= 6], [v for v in x if v > 6]
    return [x.count(0) / len(x), concentration(small), concentration(large), (1 + math.log(n) / 2) / math.sqrt(n)]


OUTPUT = {  # 5.1, Table 2: a population, and three variables
    "T1": (("region", "R1"), ("age", "education", "occupation"), 2457),
    "T2": (("region", "R2"), ("sex", "age", "citizenship"), 210),
    "T3": (("sex", "M"), ("activity", "occupation", "education"), 585),
    "T4": (("age", "45-49"), ("region", "occupation", "education"), 234),
}


def counted(people: dc.Microdata) -> tuple[list[str], dict[str, list[str]], np.ndarray]:
    """The hypercube by hand: names, codes, and how many records have each combination."""
    names = [d.name for d in people.dimensions]
    frame = own.records(people, *names)
    codes = {d.name: list(d.leaves) for d in people.dimensions}
    at = [pd.Categorical(frame[name].astype(str), codes[name]).codes for name in names]
    shape = [len(codes[name]) for name in names]
    flat = np.zeros(math.prod(shape), np.int64)
    np.add.at(flat, np.ravel_multi_index(at, shape), 1)
    return names, codes, flat.reshape(shape)


def cut(names: list[str], codes: dict[str, list[str]], cube: np.ndarray, name: str) -> np.ndarray:
    """One of the four output tables, summed out of the hypercube."""
    (filtered, code), kept, _ = OUTPUT[name]
    axis = names.index(filtered)
    part = np.take(cube, codes[filtered].index(code), axis=axis)
    left = [n for n in names if n != filtered]
    summed = part.sum(axis=tuple(k for k, n in enumerate(left) if n not in kept))
    rest = [n for n in left if n in kept]
    return np.transpose(summed, [rest.index(n) for n in kept])


def after_terms(
    f: np.ndarray, g: np.ndarray, p: dict[tuple[int, int], float], stay: tuple[float, float]
) -> list[float]:
    """4.2 by hand: cells that show j get the expected original total of such cells, spread evenly."""
    x, y = f.ravel().tolist(), g.ravel().tolist()
    expected = {j: sum(i * p.get((i, j), 0.0) for i in x) / y.count(j) for j in set(y)}
    both = sum(a == 0 and b == 0 for a, b in zip(x, y, strict=True))
    either = sum(a == 0 or b == 0 for a, b in zip(x, y, strict=True))
    small, large = [expected[j] for j in y if j <= 6], [expected[j] for j in y if j > 6]
    zeros = (x.count(0) / len(x)) ** (either / both) if both else 0.0
    return [zeros, stay[0] * concentration(small), stay[1] * concentration(large), split_terms(f)[3]]


def utility_of(counts: np.ndarray, shown: np.ndarray) -> float:
    return 1 - own.hellinger(counts, shown) / math.sqrt(counts.sum())
