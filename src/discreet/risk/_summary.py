"""What every whole-table measure needs of a batch: sizes, zeros, entropies. NumPy for few cells, compiled for many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.information import Array, Floats, perturbed_rows, xlogx

JIT_CELLS = 4_000_000
"""From this many cells on the compiled loops win over NumPy even when they must first be loaded from disk."""

LOOKUP = 1 << 22
"""The compiled loops look x log x up: tables with counts from here on go the NumPy way."""

_BLOCK = 1 << 18  # cells NumPy handles at a time: its temporaries then stay near the cache


@dataclass(frozen=True)
class Summary:
    """One number per table. ``after``, ``both``, ``either`` and ``conditional`` are empty without a perturbed table."""

    cells: int
    zeros: Floats
    total: Floats
    entropy: Floats
    after: Floats
    both: Floats
    either: Floats
    conditional: Floats


def summarise(f: Array, g: Array | None = None) -> Summary:
    """Zeros |D|, N, H(X) of each row of ``f``; with ``g`` also M, |D∩E|, |D∪E| and H(X|Y) by (3.6.5).

    >>> s = summarise(np.array([[0, 2, 4]]), np.array([[0, 3, 3]]))
    >>> s.zeros.item(), round(s.entropy.item(), 4), round(s.conditional.item(), 4)
    (1.0, 0.6365, 0.3183)
    """
    many = f.size >= JIT_CELLS and f.shape[0] > 1
    top = max(int(a.max()) for a in (f, g) if a is not None) if many else 0
    if many and top < LOOKUP:
        from discreet.risk import _kernels  # numba takes half a second to import: only when it pays

        out = _kernels.summaries(f, g, top)
    else:
        step = max(1, _BLOCK // f.shape[1])
        blocks = [_block(f[i : i + step], None if g is None else g[i : i + step]) for i in range(0, f.shape[0], step)]
        out = np.concatenate(blocks, axis=1)
    empty = np.empty(0)
    zeros, total, entropy, *rest = out
    return Summary(f.shape[1], zeros, total, entropy, *(rest or [empty] * 4))


def _block(f: Array, g: Array | None) -> Floats:
    x = f.astype(np.float64)
    n = x.sum(axis=1)
    positive = np.where(n > 0, n, 1.0)
    zero = f == 0
    zeros = zero.sum(axis=1)
    h = np.maximum(np.log(positive) - xlogx(x).sum(axis=1) / positive, 0.0)
    h[f.shape[1] - zeros <= 1] = 0.0  # exactly: R2 asks whether H(X) is 0
    if g is None:
        return np.stack([zeros, n, h])
    y = g.astype(np.float64)
    m = y.sum(axis=1)
    both, either = zero & (g == 0), zero | (g == 0)
    conditional = perturbed_rows(x, y, positive[:, None], m[:, None])
    return np.stack([zeros, n, h, m, both.sum(axis=1), either.sum(axis=1), np.where(m > 0, conditional, h)])
