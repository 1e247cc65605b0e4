"""Entropy, conditional entropy and divergences: numbers from vectors of counts or of probabilities.

Natural logarithms unless ``bits=True``; 0 log 0 = 0 throughout. Every function takes an array-like, or any object
with a method ``.array()``, and reads the whole array as one table; ``axis`` names the axes that form a table when the
others count a batch of tables. Equation numbers are those of [Ant16]_, L. Antal's thesis (Manchester, 2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.base.arguments import checked
from discreet.base.kinds import Unbounded
from discreet.errors import InputError, nearest

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Axis: TypeAlias = int | tuple[int, ...] | None
FloatOrArray: TypeAlias = Any
"""A float for one table, a float64 array for a batch of tables."""

_EXACT = 2**53  # above it a float64 no longer holds every integer


@checked
def read_values(values: Any, name: str = "the table") -> Floats:
    """Non-negative finite numbers as a float64 array; anything else is an error before anything is computed.

    >>> read_values([0, 2.5])
    array([0. , 2.5])
    """
    return _checked(values, name).astype(np.float64, copy=False)


@checked
def read_counts(counts: Any, name: str = "the table") -> Array:
    """Non-negative whole numbers as an integer array (not copied when it already is one).

    >>> read_counts([0.0, 2.0])
    array([0, 2])
    """
    array = _checked(counts, name)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        if np.any(np.rint(array) != array):
            raise InputError(
                f"{name} has numbers that are not whole: give counts of units (weighted totals are not counts)"
            )
        if array.max() >= _EXACT:
            raise InputError(
                f"{name} has a number of 2**53 or more: no count is as large; look for a missing-value code"
            )
        return array.astype(np.int64)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:
        return array.astype(np.int64)  # _checked has seen that it fits
    return array


def _checked(values: Any, name: str) -> Array:
    method = getattr(values, "array", None)
    array = method() if callable(method) else values
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise InputError(f"{name} has masked entries: fill them first, every cell needs a number")
    try:
        array = np.asarray(array)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        array = np.asarray("")  # raised below, outside this clause: NumPy's own message quotes the entry
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} cannot be read as an array of numbers: give numbers of one shape, none missing")
    if array.size == 0:
        raise InputError(f"{name} has no cells: give at least one")
    if array.dtype.kind == "b":
        return array
    low, high = array.min(), array.max()  # NaN wins both: no temporary array for a batch of millions
    if not (np.isfinite(low) and np.isfinite(high)):
        raise InputError(
            f"{name} has NaN or infinite entries: every cell needs a finite number (fill or drop them first)"
        )
    if low < 0:
        raise InputError(f"{name} has negative entries: counts are 0 or more")
    if array.dtype.kind in "iu" and int(high) >= _EXACT:
        raise InputError(f"{name} has a number of 2**53 or more: no count is as large; look for a missing-value code")
    return array


@checked
def same_shape(before: Array, after: Array) -> None:
    """Raise unless the two arrays have the same shape."""
    if before.shape != after.shape:
        raise InputError(
            f"before has shape {before.shape} and after {after.shape}: give two arrays of one shape, cell by cell"
        )


@checked
def tables(array: Array, axis: Axis) -> tuple[Array, tuple[int, ...]]:
    """The array as (tables, cells) and the shape of the batch; a view where NumPy can give one.

    >>> rows, batch = tables(np.ones((4, 3, 2)), axis=(1, 2))
    >>> rows.shape, batch
    ((4, 6), (4,))
    """
    if axis is None:
        return array.reshape(1, -1), ()
    axes = (axis,) if isinstance(axis, int | np.integer) else tuple(axis)
    inside = [int(a) + array.ndim if a < 0 else int(a) for a in axes]
    if not inside or len(set(inside)) < len(inside) or not all(0 <= a < array.ndim for a in inside):
        raise InputError(f"axis={axis} does not fit an array of {array.ndim} dimensions: give distinct axes that exist")
    outside = [a for a in range(array.ndim) if a not in inside]
    batch = tuple(array.shape[a] for a in outside)
    return array.transpose(*outside, *inside).reshape(math.prod(batch), -1), batch


@checked
def shaped(values: Floats, batch: tuple[int, ...]) -> FloatOrArray:
    """One number per table back in the batch's shape; a plain float when there is no batch."""
    return values.reshape(batch) if batch else float(values[0])


@checked
def xlogx(x: Floats) -> Floats:
    """x log x with 0 log 0 = 0.

    >>> xlogx(np.array([0.0, 1.0]))
    array([0., 0.])
    """
    return x * np.log(np.where(x > 0, x, 1.0))


def _distributions(rows: Floats, name: str) -> Floats:
    total = rows.sum(axis=1, keepdims=True)
    if np.any(total <= 0):
        raise InputError(f"{name} sums to 0, so it has no distribution: drop empty tables first")
    out: Floats = rows / total
    return out


@checked
def entropy(values: Any, *, axis: Axis = None, bits: bool = False) -> FloatOrArray:
    r"""Entropy of a distribution, or of counts divided by their sum.

    .. math:: H(X) = -\sum_i p_i \log p_i

    Equation (3.3.1) of [Ant16]_.

    >>> round(entropy([0, 2, 4]), 4), entropy([1, 1, 1, 1], bits=True)
    (0.6365, 2.0)
    """
    rows, batch = tables(read_values(values), axis)
    h = np.maximum(-xlogx(_distributions(rows, "the table")).sum(axis=1), 0.0)
    return shaped(h / _unit(bits), batch)


def _unit(bits: bool) -> float:
    return math.log(2) if bits else 1.0


@checked
def joint_entropy(joint: Any, *, bits: bool = False) -> float:
    r"""Entropy H(X, Y, ...) of a joint table, one axis a variable (section 3.3 of [Ant16]_).

    >>> joint_entropy([[1, 1], [1, 1]], bits=True)
    2.0
    """
    return float(entropy(joint, bits=bits))


@checked
def conditional_entropy(joint: Any, *, given: int | tuple[int, ...] = -1, bits: bool = False) -> float:
    r"""H(X | Y) of a joint table, where the axes in ``given`` are Y and the others X.

    .. math:: H(X|Y) = H(X, Y) - H(Y)

    Equations (3.3.2) and (3.3.3) of [Ant16]_.

    >>> conditional_entropy([[2, 1], [0, 1]], bits=True)  # columns are Y: one is certain, one is a coin
    0.5
    """
    array = read_values(joint)
    _, shape = tables(array, given)  # the batch axes are X; refuses axes that do not exist
    axes = (given,) if isinstance(given, int) else tuple(given)
    x_axes = tuple(a for a in range(array.ndim) if a not in {g % array.ndim for g in axes})
    if not shape:
        return 0.0  # no X left: nothing is unknown
    return max(joint_entropy(array, bits=bits) - float(entropy(array.sum(axis=x_axes), bits=bits)), 0.0)


@checked
def mutual_information(joint: Any, *, given: int | tuple[int, ...] = -1, bits: bool = False) -> float:
    r"""I(X; Y) = H(X) - H(X | Y) of a joint table; ``given`` names the axes of Y.

    >>> mutual_information([[1, 0], [0, 1]], bits=True)
    1.0
    """
    array = read_values(joint)
    axes = (given,) if isinstance(given, int) else tuple(given)
    unknown = conditional_entropy(array, given=given, bits=bits)
    return max(float(entropy(array.sum(axis=axes), bits=bits)) - unknown, 0.0)


@checked
def conditional_entropy_perturbed(before: Any, after: Any, *, axis: Axis = None, bits: bool = False) -> FloatOrArray:
    r"""What the perturbed table leaves unknown of the cell of a unit: H(X | Y) in O(K).

    Equation (3.6.5) of [Ant16]_, (3.6.4) when the sums are equal. With p = F/N, q = G/M and R = sum of the positive
    p - q, its three sums collapse to

    .. math:: H(X|Y) = R\log R - \sum_i |p_i-q_i| \log |p_i-q_i| + \sum_{p_i<q_i} (q_i \log q_i - p_i \log p_i).

    0 when F and G are proportional. The thesis is silent on a perturbed table of zeros only: such a Y is
    constant, so H(X | Y) = H(X).

    >>> round(conditional_entropy_perturbed([0, 2, 4], [0, 3, 3]), 4)
    0.3183
    """
    f_array, g_array = read_values(before, "before"), read_values(after, "after")
    same_shape(f_array, g_array)
    (f, batch), (g, _) = tables(f_array, axis), tables(g_array, axis)
    n, m = f.sum(axis=1, keepdims=True), g.sum(axis=1, keepdims=True)
    if np.any(n <= 0):
        raise InputError("before sums to 0, so it has no distribution: drop empty tables first")
    return shaped(perturbed_rows(f, g, n, m) / _unit(bits), batch)


@checked
def perturbed_rows(f: Floats, g: Floats, n: Floats, m: Floats) -> Floats:
    """(3.6.5) for rows already checked; n and m are the row sums as columns, n > 0."""
    p, q = f / n, g / np.where(m > 0, m, 1.0)
    # cross products of whole numbers are exact, so equal shares differ by exactly 0
    gap = (f * m - g * n) / (n * np.where(m > 0, m, 1.0))
    moved = np.where(gap > 0, gap, 0.0).sum(axis=1)
    h = xlogx(moved) - xlogx(np.abs(gap)).sum(axis=1)
    h += np.where(gap < 0, xlogx(q) - xlogx(p), 0.0).sum(axis=1)
    nothing = (m <= 0)[:, 0]
    if nothing.any():
        h[nothing] = -xlogx(p[nothing]).sum(axis=1)
    out: Floats = np.maximum(h, 0.0)
    return out


@dataclass(frozen=True)
class FDivergence:
    """A convex f with f(1) = 0, and its two limits: f(0) and the slope of f at infinity ([Ant16]_ section 3.3)."""

    name: str
    f: Callable[[Floats], Floats]
    at_zero: float
    slope: float


FAMILY = {
    d.name: d
    for d in (
        FDivergence("kl", lambda x: x * np.log(x), at_zero=0.0, slope=math.inf),
        FDivergence("reverse_kl", lambda x: -np.log(x), at_zero=math.inf, slope=0.0),
        FDivergence("chi2", lambda x: (x - 1.0) ** 2, at_zero=1.0, slope=math.inf),
        # the thesis writes 1 - sqrt(x), equal on distributions; this form is also right for unequal sums
        FDivergence("hellinger2", lambda x: 0.5 * (1.0 - np.sqrt(x)) ** 2, at_zero=0.5, slope=0.5),
        FDivergence("tv", lambda x: 0.5 * np.abs(x - 1.0), at_zero=0.5, slope=0.5),
    )
}


@checked
def f_divergence(
    p: Any, q: Any, kind: str | FDivergence = "kl", *, counts: bool = False, axis: Axis = None
) -> FloatOrArray:
    r"""The f-divergence of P from Q.

    .. math:: D_f(P \| Q) = \sum_i q_i f(p_i / q_i), \quad 0 f(0/0) = 0, \quad 0 f(c/0) = c \lim_{x\to\infty} f(x)/x

    [Ant16]_ section 3.3. Each side is divided by its own sum; ``counts=True`` applies f to the counts as they are
    (section 3.4), where ``kl`` of unequal sums may be negative. Kinds: kl, reverse_kl, chi2, hellinger2, tv.

    >>> f_divergence([1, 3], [2, 2], "chi2"), f_divergence([1, 1], [2, 0], "kl")
    (0.25, inf)
    """
    if isinstance(kind, str) and kind not in FAMILY:
        raise InputError(f"unknown divergence {kind!r}: {nearest(kind, FAMILY)}")
    member = FAMILY[kind] if isinstance(kind, str) else kind
    a, b, batch = _pair(p, q, counts, axis)
    both = (a > 0) & (b > 0)
    ratio = np.divide(a, b, out=np.ones_like(a), where=both)
    with np.errstate(invalid="ignore"):  # 0 * inf, replaced by the limit on the next lines
        terms = np.where(both, b * member.f(ratio), 0.0)
        terms = np.where((a == 0) & (b > 0), b * member.at_zero, terms)
        terms = np.where((a > 0) & (b == 0), a * member.slope, terms)
    return shaped(terms.sum(axis=1), batch)


def _pair(p: Any, q: Any, counts: bool, axis: Axis) -> tuple[Floats, Floats, tuple[int, ...]]:
    p_array, q_array = read_values(p, "before"), read_values(q, "after")
    same_shape(p_array, q_array)
    (a, batch), (b, _) = tables(p_array, axis), tables(q_array, axis)
    if not counts:
        a, b = _distributions(a, "before"), _distributions(b, "after")
    return a, b, batch


@checked
def kl(p: Any, q: Any, *, counts: bool = False, axis: Axis = None, bits: bool = False) -> FloatOrArray:
    """Relative entropy D(P || Q), infinite if Q is 0 where P is not ([Ant16]_ section 3.3); ``kl(q, p)`` for D(Q || P).

    >>> round(kl([0, 2, 4], [0, 3, 3]), 4), round(kl([1, 1], [2, 1], counts=True), 4)
    (0.0566, -0.6931)
    """
    return f_divergence(p, q, "kl", counts=counts, axis=axis) / _unit(bits)


@checked
def chi2(p: Any, q: Any, *, counts: bool = False, axis: Axis = None) -> FloatOrArray:
    """Sum of (p - q)^2 / q, section 3.3 of [Ant16]_.

    >>> chi2([1, 3], [2, 2], counts=True)
    1.0
    """
    return f_divergence(p, q, "chi2", counts=counts, axis=axis)


@checked
def hellinger(p: Any, q: Any, *, counts: bool = False, axis: Axis = None) -> FloatOrArray:
    r"""Hellinger distance, of distributions (at most 1) or of counts (at most sqrt((N + M) / 2)).

    .. math:: HD = \| \sqrt P - \sqrt Q \|_2 / \sqrt 2

    Sections 3.3, 3.4 and 3.8 of [Ant16]_.

    >>> round(hellinger([0, 2, 4], [0, 3, 3], counts=True), 4), hellinger([1, 0], [0, 5])
    (0.294, 1.0)
    """
    a, b, batch = _pair(p, q, counts, axis)
    return shaped(hellinger_of_rows(a, b), batch)


@checked
def hellinger_of_rows(p: Any, q: Any) -> Floats:
    """The same of rows that were looked at."""
    gap = np.sqrt(p)
    gap -= np.sqrt(q)
    gap *= gap
    distance: Floats = np.sqrt(0.5 * gap.sum(axis=1))
    return distance


@checked
def lp_distance(p: Any, q: Any, *, order: Unbounded = 2.0, counts: bool = False, axis: Axis = None) -> FloatOrArray:
    """The L_p norm of P - Q, order 1 or more, ``math.inf`` for the largest deviation. Section 3.3 of [Ant16]_.

    >>> lp_distance([1, 3], [2, 2], order=1)
    0.5
    """
    if not order >= 1:
        raise InputError(f"order={order} is not a norm: give 1 or more (math.inf for the largest deviation)")
    a, b, batch = _pair(p, q, counts, axis)
    return shaped(np.linalg.norm(a - b, ord=order, axis=1), batch)


@checked
def total_variation(p: Any, q: Any, *, counts: bool = False, axis: Axis = None) -> FloatOrArray:
    """Half the L_1 distance: the largest difference of the probabilities of any event.

    >>> total_variation([1, 3], [2, 2])
    0.25
    """
    return lp_distance(p, q, order=1.0, counts=counts, axis=axis) / 2
