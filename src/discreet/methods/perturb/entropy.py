"""The distribution of largest entropy on a few whole numbers under mean, variance and shape, through its dual."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base.annotations import Floats

_ACTIVE = 1e-9


def largest_entropy(noise: NDArray[Any], variance: float, stay: float, mono: bool) -> Floats | None:
    r"""Probabilities of ``noise`` with mean 0, variance at most ``variance``, P(0) at least ``stay``, or None.

    The Lagrangian dual of :math:`\min \sum p \log p` is :math:`\min_y \log \sum_v \exp(a_v y) - b y` with one
    multiplier y a constraint, not negative for an inequality. Solved by L-BFGS-B, then Newton on what is active.

    >>> largest_entropy(np.array([-1, 0, 1]), 0.5, 0.0, True).round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    a, b = _constraints(noise, variance, stay, mono)
    if not _exists(a, b):
        return None
    from scipy.optimize import minimize

    bounds = [(None, None), *[(0, None)] * (len(b) - 1)]
    dual = minimize(
        _dual,
        np.zeros(len(b)),
        args=(a, b),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-12},
    )
    return _polished(dual.x, a, b)


def _constraints(noise: NDArray[Any], variance: float, stay: float, mono: bool) -> tuple[Floats, Floats]:
    """Rows a and right sides b of a p = b (the first: the mean) and a p >= b (the others)."""
    v = noise.astype(np.float64)
    a, b = [v, -(v**2)], [0.0, -variance]
    if stay > 0 and 0 in noise:
        a.append((noise == 0).astype(float))
        b.append(stay)
    if mono:
        left = np.flatnonzero(noise <= 0)
        for one, two in itertools.pairwise(left):
            row = np.zeros(len(v))
            row[one], row[two] = -1.0, 1.0
            a.append(row)
            b.append(0.0)
    rows, scale = np.array(a), np.abs(a).max(axis=1)
    return rows / scale[:, None], np.array(b) / scale


def _exists(a: Floats, b: Floats) -> bool:
    from scipy.optimize import linprog

    n = a.shape[1]
    program = linprog(
        np.zeros(n),
        A_ub=-a[1:],
        b_ub=-b[1:] + 1e-12,
        A_eq=np.vstack([a[0], np.ones(n)]),
        b_eq=[0.0, 1.0],
        bounds=(0, 1),
    )
    return bool(program.status == 0)


def _dual(y: Floats, a: Floats, b: Floats) -> tuple[float, Floats]:
    p, log_sum = _softmax(y @ a)
    return float(log_sum - b @ y), a @ p - b


def _softmax(x: Floats) -> tuple[Floats, float]:
    top = x.max()
    e = np.exp(x - top)
    return e / e.sum(), float(top + np.log(e.sum()))


def _polished(y: Floats, a: Floats, b: Floats) -> Floats:
    """Newton steps on the constraints that hold with equality; the start is kept where they do not help."""
    active = np.concatenate([[True], y[1:] > _ACTIVE])
    z = np.where(active, y, 0.0)
    for _ in range(30):
        p, _log = _softmax(z @ a)
        gradient = (a @ p - b)[active]
        if np.abs(gradient).max(initial=0.0) < 1e-15:
            break
        spread = a[active] - (a[active] @ p)[:, None]
        step = np.linalg.lstsq((spread * p) @ spread.T, gradient, rcond=1e-13)[0]
        z[active] -= step
    first, last = _softmax(y @ a)[0], _softmax(z @ a)[0]
    worse = not np.isfinite(last).all() or _miss(last, a, b) > _miss(first, a, b)
    return first if worse else last


def _miss(p: Floats, a: Floats, b: Floats) -> float:
    gap = a @ p - b
    return float(max(abs(gap[0]), np.maximum(-gap[1:], 0).max(initial=0.0)))
