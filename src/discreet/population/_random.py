"""Random numbers for compiled loops: SplitMix64 and the distributions made from it.

The generator of population j of sample i starts at a hash of (seed, i, j), so that what is drawn does not depend on the
number of threads or on how the work is cut.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.base.compiled import compiled_part
from discreet.information import Array

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_11, _27, _30, _31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@compiled_part
def mixed(z: Any) -> Any:
    """The finaliser of SplitMix64: a bijection of 64 bits."""
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@compiled_part
def start(state: Array, seed: Any, sample: int, population: int) -> None:
    """Put the generator where population ``population`` of sample ``sample`` begins."""
    key = mixed(seed + GOLDEN)
    key = mixed((key ^ np.uint64(sample)) * GOLDEN + _MIX_1)
    state[0] = mixed((key ^ np.uint64(population)) * GOLDEN + _MIX_2)


@compiled_part
def unit(z: Any) -> float:
    """The float in (0, 1) that the generator gives in state z."""
    return (float(np.int64(mixed(z) >> _11)) + 0.5) * 2.0**-53


@compiled_part
def uniform(state: Array) -> float:
    """The next float in (0, 1)."""
    state[0] += GOLDEN
    return unit(state[0])


@compiled_part
def normal(state: Array) -> float:
    """Ratio of uniforms with Leva's bounds (1992): the logarithm is needed one time in eighty."""
    while True:
        u = uniform(state)
        v = 1.7156 * (uniform(state) - 0.5)
        x, y = u - 0.449871, abs(v) + 0.386595
        q = x * x + y * (0.19600 * y - 0.25472 * x)
        if q < 0.27597 or (q <= 0.27846 and v * v <= -4.0 * math.log(u) * u * u):
            return v / u


@compiled_part
def gamma(state: Array, shape: float) -> float:
    """Marsaglia and Tsang (2000), scale 1."""
    boost = 1.0
    if shape < 1.0:
        if shape <= 0.0:
            return 0.0
        boost = uniform(state) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = uniform(state)
            if u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return boost * d * v


@compiled_part
def poisson(state: Array, rate: float) -> int:
    """Inversion below a mean of 10, else the transformed rejection PTRS of Hörmann (1993)."""
    if rate < 10.0:
        p, u, k = math.exp(-rate), uniform(state), 0
        while u > p and k < 200:
            u -= p
            k += 1
            p *= rate / k
        return k
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    scale, accept = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, v = uniform(state) - 0.5, uniform(state)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= accept:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v * scale / (a / (us * us) + b)) <= -rate + k * log_rate - math.lgamma(k + 1.0):
            return k


@compiled_part
def binomial(state: Array, n: int, p: float) -> int:
    """Inversion below a mean of 10, else the transformed rejection BTRS of Hörmann (1993)."""
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - _binomial_half(state, n, 1.0 - p)
    return _binomial_half(state, n, p)


@compiled_part
def _binomial_half(state: Array, n: int, p: float) -> int:
    odds = p / (1.0 - p)
    if n * p < 10.0:
        r, u, k = math.exp(n * math.log1p(-p)), uniform(state), 0
        while u > r and k < n:
            u -= r
            k += 1
            r *= odds * (n - k + 1) / k
        return k
    root = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * root
    a, c = -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5
    accept = 0.92 - 4.2 / b
    while True:
        u, v = uniform(state) - 0.5, uniform(state)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + c)
        if us >= 0.07 and v <= accept:
            return k
        if k < 0 or k > n:
            continue
        m = math.floor((n + 1) * p)
        top = math.lgamma(m + 1.0) + math.lgamma(n - m + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
        v = v * (2.83 + 5.1 / b) * root / (a / (us * us) + b)
        if math.log(v) <= top + (k - m) * math.log(odds):
            return k
