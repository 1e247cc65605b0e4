"""Attribute-disclosure risk of whole frequency tables, before (R1) and after (R2) protection.

Equation numbers are those of [Ant16]_ (L. Antal, thesis, Manchester 2016) unless said otherwise; [PSD14]_ is its
section 3.9 (Antal, Shlomo & Elliot, PSD 2014). K cells, N units, D the zero cells before, E the zero cells after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.information import (
    Array,
    Axis,
    FloatOrArray,
    Floats,
    conditional_entropy,
    read_counts,
    same_shape,
    shaped,
    tables,
)
from discreet.risk._summary import Summary, summarise
from discreet.risk.channels import read_channel
from discreet.risk.size_terms import SizeTerm, size_rows

WEIGHTS = (0.1, 0.8, 0.1)
"""Weights of the zeros, the entropy and the size term in [PSD14]_, section 5.1."""

Empty: TypeAlias = Literal["error", "nan"]
Form: TypeAlias = Literal["thesis", "psd14"]


@dataclass(frozen=True, repr=False, eq=False)
class Risk:
    """A risk between 0 and 1 with its unweighted terms; floats for one table, arrays for a batch.

    Confidential: a function of the true counts.

    >>> r1([0, 2, 4])
    <R1 0.4472: zeros 0.3333 x 0.1, entropy 0.4206 x 0.8, size 0.7740 x 0.1>
    """

    name: str
    value: FloatOrArray
    terms: Mapping[str, FloatOrArray]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", MappingProxyType(dict(self.terms)))

    def __repr__(self) -> str:
        if isinstance(self.value, np.ndarray):
            shape = " x ".join(map(str, self.value.shape))
            known = self.value[~np.isnan(self.value)]
            span = f": {known.min():.4f} to {known.max():.4f}, mean {known.mean():.4f}" if known.size else ""
            return f"<{self.name} of {shape} tables{span}>"
        times = [f" x {w:g}" for w in self.weights] or [""] * len(self.terms)
        parts = [f"{term} {value:.4f}{w}" for (term, value), w in zip(self.terms.items(), times, strict=True)]
        return f"<{self.name} {self.value:.4f}: {', '.join(parts)}>"

    def __reduce__(self) -> tuple[type[Risk], tuple[Any, ...]]:
        return type(self), (self.name, self.value, dict(self.terms), self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON.

        >>> r1([0, 2, 4]).to_dict()["weights"]
        [0.1, 0.8, 0.1]
        """
        terms = {k: np.asarray(v).tolist() for k, v in self.terms.items()}
        return {
            "name": self.name,
            "value": np.asarray(self.value).tolist(),
            "terms": terms,
            "weights": list(self.weights),
        }


def read_weights(weights: Sequence[float], number: int = 3) -> tuple[float, ...]:
    """Weights as floats: as many as there are terms, none negative, sum 1."""
    try:
        out = tuple(float(w) for w in weights)
    except (TypeError, ValueError) as error:
        raise InputError(f"weights={weights!r} are not numbers: give {number} that sum to 1") from error
    if len(out) != number or not all(math.isfinite(w) and w >= 0 for w in out) or abs(sum(out) - 1) > 1e-9:
        raise InputError(f"weights={out}: give {number} weights, none negative, that sum to 1")
    return out


@checked
def r1(
    counts: Any,
    weights: Sequence[float] = WEIGHTS,
    *,
    axis: Axis = None,
    size: SizeTerm = "h2",
    epsilon: float = 0.5,
    empty: Empty = "error",
) -> Risk:
    r"""Attribute-disclosure risk of a whole frequency table, before protection.

    .. math:: R_1 = w_1 |D|/K + w_2 (1 - H(X)/\log K) + w_3 (1 + \tfrac12 \log N)/\sqrt N

    Equation (3.5.2), (3) of [PSD14]_. Differs from it for K = 1, where the second term is 0. ``size`` and
    ``epsilon`` choose another third term (:func:`size_term`). ``axis`` names the axes that form a table, the
    others are a batch; ``empty="nan"`` gives NaN for a table with nobody in it instead of an error.

    >>> r1([0, 2, 4])
    <R1 0.4472: zeros 0.3333 x 0.1, entropy 0.4206 x 0.8, size 0.7740 x 0.1>
    >>> r1([[0, 2, 4], [2, 2, 2]], axis=1).value.round(4)
    array([0.4472, 0.0774])
    """
    w = read_weights(weights)
    rows, batch = tables(read_counts(counts), axis)
    summary = summarise(rows)
    return weighted("R1", _before(rows, summary, size, epsilon, empty), w, batch)


@checked
def r1_star(
    counts: Any, *, axis: Axis = None, size: SizeTerm = "h2", epsilon: float = 0.5, empty: Empty = "error"
) -> Risk:
    r"""R1 without weights: the root mean square of its three terms, equation (3.5.4).

    >>> round(r1_star([0, 2, 4]).value, 4)
    0.5438
    """
    rows, batch = tables(read_counts(counts), axis)
    return _starred("R1*", _before(rows, summarise(rows), size, epsilon, empty), batch)


@checked
def r2(
    before: Any,
    after: Any,
    weights: Sequence[float] = WEIGHTS,
    *,
    form: Form = "thesis",
    axis: Axis = None,
    size: SizeTerm = "h2",
    epsilon: float = 0.5,
    empty: Empty = "error",
    channel: Any = None,
) -> Risk:
    r"""Attribute-disclosure risk of a frequency table F after it was perturbed to G.

    .. math:: R_2 = w_1 (|D|/K)^{|D \cup E|/|D \cap E|} + w_2 (1 - H(X)/\log K)(1 - H(X|Y)/H(X)) + w_3 (\ldots)

    Equation (3.6.6), never above R1. H(X|Y) is :func:`discreet.information.conditional_entropy_perturbed`. The first
    term is 0 if no zero cell stayed zero. If H(X) = 0 the last factor is 1: nothing could be hidden (the thesis is
    silent). ``form="psd14"`` multiplies by H(X|Y)/H(X) instead, as (5) of [PSD14]_ prints, and then takes 0 if
    H(X) = 0 and, as its Tables 3 and 5 do, if the perturbed table is all zeros; it grows with what the perturbation
    hides, so use it only to compare with that paper.

    ``channel`` is Pr(Y = c_j | X = c_i) where it is known, as after a pre-tabular method (section 3.6.5: ``channel`` of
    :func:`discreet.moves`, or the matrix of PRAM); K x K, cells in the order of the flat table, for one table.

    >>> r2([0, 2, 4], [0, 3, 3])
    <R2 0.2790: zeros 0.3333 x 0.1, entropy 0.2103 x 0.8, size 0.7740 x 0.1>
    """
    w = read_weights(weights)
    terms, batch = _after_of(before, after, form, axis, (size, epsilon, empty), channel)
    return weighted("R2", terms, w, batch)


@checked
def r2_star(
    before: Any,
    after: Any,
    *,
    form: Form = "thesis",
    axis: Axis = None,
    size: SizeTerm = "h2",
    epsilon: float = 0.5,
    empty: Empty = "error",
    channel: Any = None,
) -> Risk:
    r"""R2 without weights: the root mean square of its terms (section 3.6.4), never above R1* in the thesis form.

    >>> round(r2_star([0, 2, 4], [0, 3, 3]).value, 4)
    0.5015
    """
    terms, batch = _after_of(before, after, form, axis, (size, epsilon, empty), channel)
    return _starred("R2*", terms, batch)


@checked
def line_risks(counts: Any, weights: Sequence[float] = WEIGHTS) -> list[Floats]:
    """R1 of every line along every axis: for each axis an array of the shape without it; NaN where nobody is.

    A row of a matrix is a line along axis 1, so the risks of the rows come second.

    >>> columns, rows = line_risks([[0, 2, 4], [2, 2, 2]])
    >>> rows.round(4)
    array([0.4472, 0.0774])
    """
    w = read_weights(weights)
    array = np.atleast_1d(read_counts(counts))
    x = array.astype(np.float64)
    each = x * np.log(np.maximum(x, 1.0))
    return [_lines(array, each, axis, w) for axis in range(array.ndim)]


def _lines(array: Array, each: Floats, axis: int, w: tuple[float, ...]) -> Floats:
    cells = array.shape[axis]
    n = array.sum(axis=axis, dtype=np.float64)
    n = np.where(n > 0, n, np.nan)
    filled = np.count_nonzero(array, axis=axis)
    log_n = np.log(n)
    out: Floats = w[0] * (1.0 - filled / cells) + w[2] * (1.0 + 0.5 * log_n) / np.sqrt(n)
    if cells > 1:
        entropy = np.where(filled > 1, log_n - each.sum(axis=axis) / n, 0.0)
        out += w[1] * np.clip(1.0 - entropy / math.log(cells), 0.0, 1.0)
    return out


@checked
def small_cell_share(counts: Any, *, largest: int = 2, axis: Axis = None) -> FloatOrArray:
    """Share of cells that hold 1 to ``largest`` units (section 3.5.1: ones and twos); zeros are not small.

    >>> small_cell_share([0, 1, 2, 7])
    0.5
    """
    rows, batch = tables(read_counts(counts), axis)
    return shaped(((rows > 0) & (rows <= largest)).mean(axis=1), batch)


@checked
def mean_cell_size(counts: Any, *, axis: Axis = None) -> FloatOrArray:
    """Units per cell, N/K (section 3.5.1).

    >>> mean_cell_size([0, 1, 2, 7])
    2.5
    """
    rows, batch = tables(read_counts(counts), axis)
    return shaped(rows.mean(axis=1, dtype=np.float64), batch)


def _before(rows: Array, summary: Summary, size: str, epsilon: float, empty: str) -> dict[str, Floats]:
    if empty not in ("error", "nan"):
        raise InputError(f"empty={empty!r}: {nearest(str(empty), ('error', 'nan'))}")
    nobody = summary.total <= 0
    if empty == "error" and nobody.any():
        raise InputError("a table has nobody in it (N = 0) and so no risk: drop it, or ask for empty='nan'")
    entropy = np.zeros_like(summary.total)
    if summary.cells > 1:
        entropy = np.clip(1.0 - summary.entropy / math.log(summary.cells), 0.0, 1.0)
    terms = {"zeros": summary.zeros / summary.cells, "entropy": entropy}
    terms["size"] = size_rows(rows, summary.total, size, epsilon)
    if nobody.any():
        terms = {name: np.where(nobody, np.nan, term) for name, term in terms.items()}
    return terms


def _after_of(
    before: Any, after: Any, form: str, axis: Axis, options: tuple[str, float, str], channel: Any
) -> tuple[dict[str, Floats], tuple[int, ...]]:
    if form not in ("thesis", "psd14"):
        raise InputError(f"unknown form {form!r}: {nearest(str(form), ('thesis', 'psd14'))}")
    f_array, g_array = read_counts(before, "before"), read_counts(after, "after")
    same_shape(f_array, g_array)
    (f, batch), (g, _) = tables(f_array, axis), tables(g_array, axis)
    summary = summarise(f, g)
    terms = _before(f, summary, *options)
    none_left = summary.both == 0
    power = summary.either / np.where(none_left, 1.0, summary.both)
    terms["zeros"] = np.where(
        none_left, 0.0 * terms["zeros"], terms["zeros"] ** power
    )  # 0 * NaN keeps an empty table's NaN
    conditional = summary.conditional if channel is None else _known(f, channel, axis)
    factor = hidden_factor(summary.entropy, conditional, form)
    if form == "psd14":  # the paper's own figures have no second term where rounding leaves nobody
        factor = np.where(summary.after > 0, factor, 0.0)
    terms["entropy"] = terms["entropy"] * factor
    return terms, batch


def _known(f: Array, channel: Any, axis: Axis) -> Floats:
    """H(X|Y) of one table whose channel is known."""
    if axis is not None:
        raise InputError("channel= is that of one table: leave axis out and give the tables one by one")
    if not f.any():
        return np.zeros(1)
    counts = f[0].astype(np.float64)
    return np.array([conditional_entropy(counts[:, None] * read_channel(channel, counts))])


def hidden_factor(entropy: Floats, conditional: Floats, form: str) -> Floats:
    """What the perturbation leaves of the entropy term: 1 - H(X|Y)/H(X), or H(X|Y)/H(X) in the PSD14 form."""
    certain = entropy <= 0
    share = np.clip(conditional / np.where(certain, 1.0, entropy), 0.0, 1.0)
    factor: Floats = np.where(certain, 1.0, 1.0 - share) if form == "thesis" else np.where(certain, 0.0, share)
    return factor


def weighted(name: str, terms: dict[str, Floats], w: tuple[float, ...], batch: tuple[int, ...]) -> Risk:
    """The weighted sum of terms that hold one number per table."""
    value = sum((a * term for a, term in zip(w, terms.values(), strict=True)), np.zeros(1))
    return Risk(name, shaped(value, batch), {k: shaped(t, batch) for k, t in terms.items()}, w)


def _starred(name: str, terms: dict[str, Floats], batch: tuple[int, ...]) -> Risk:
    value = np.sqrt(sum((term**2 for term in terms.values()), np.zeros(1)) / 3.0)
    return Risk(name, shaped(value, batch), {k: shaped(t, batch) for k, t in terms.items()})
