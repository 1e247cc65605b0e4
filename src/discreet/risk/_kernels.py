"""Compiled loops for batches of millions of cells; imported only when such a batch arrives.

Each thread takes a range of tables (``nogil``), which needs no threading layer and so is safe inside a server.
x log x of counts comes from a lookup table; the logarithms of (3.6.5), whose arguments are products of counts, from a
series that the compiler turns into vector instructions (libm's log would take two thirds of the time).
"""

from __future__ import annotations

import math

import numpy as np

from discreet.base.compiled import compiled
from discreet.base.parallel import over_ranges
from discreet.information import Array, Floats

_LOG_2 = math.log(2.0)
_FRACTION, _ONE = 0x000FFFFFFFFFFFFF, 0x3FF0000000000000  # bits of a float64: its fraction, and the exponent of 1.0


@compiled(reorder_sums=True)
def sum_xlogx(size: Floats, fraction: Floats, exponent: Floats) -> float:
    """Sum of x log x over whole numbers x >= 0; log x = e log 2 + 2 artanh((z - 1)/(z + 1)) with x = z 2^e."""
    bits = fraction.view(np.int64)
    for i in range(size.size):
        fraction[i] = max(size[i], 1.0)
    for i in range(size.size):
        exponent[i] = float(np.int32((bits[i] >> 52) - 1023))
        bits[i] = (bits[i] & _FRACTION) | _ONE
    total = 0.0
    for i in range(size.size):
        high = fraction[i] > 1.4142135623730951
        z = 0.5 * fraction[i] if high else fraction[i]
        e = exponent[i] + 1.0 if high else exponent[i]
        s = (z - 1.0) / (z + 1.0)  # at most 0.172: eleven terms of the series reach the last bit
        q = s * s
        p = 1 / 13 + q * (1 / 15 + q * (1 / 17 + q * (1 / 19 + q / 21)))
        p = 1.0 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * p)))))
        total += size[i] * (e * _LOG_2 + 2.0 * s * p)
    return total


@compiled(reorder_sums=True)
def _conditional(
    f: Array, g: Array, lookup: Floats, t: int, n: float, m: float, size: Floats, fraction: Floats, exponent: Floats
) -> float:
    """(3.6.5) for table t, as collapsed in information.conditional_entropy_perturbed; the last three are work space."""
    moved, up_x, up_y, log_x, log_y = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(size.size):
        x, y = int(f[t, i]), int(g[t, i])
        gap = x * m - y * n
        up = 1.0 if gap < 0.0 else 0.0  # no branch: which cells went up cannot be predicted
        up_x += up * x
        up_y += up * y
        log_x += up * lookup[x]
        log_y += up * lookup[y]
        moved += max(gap, 0.0)
        size[i] = abs(gap)
    minus = sum_xlogx(size, fraction, exponent)
    plus = (log_y - up_y * math.log(m)) / m - (log_x - up_x * math.log(n)) / n
    # the gaps are |p-q| in units of 1/(NM) and add up to 2 R: the share of log(NM) is taken back here
    r = moved / (n * m)
    spread = minus / (n * m) - 2.0 * r * math.log(n * m)
    hidden: float = (r * math.log(r) if r > 0.0 else 0.0) - spread + plus
    return max(hidden, 0.0)


@compiled(reorder_sums=True)
def _before(f: Array, lookup: Floats, start: int, stop: int, out: Floats) -> None:
    """Zeros, N and H(X) of the tables start..stop into out[0:3]."""
    cells = f.shape[1]
    for t in range(start, stop):
        zeros, n, total = 0, 0, 0.0
        for i in range(cells):
            x = int(f[t, i])
            zeros += x == 0
            n += x
            total += lookup[x]
        out[0, t] = zeros
        out[1, t] = n
        out[2, t] = max(math.log(n) - total / n, 0.0) if n > 0 and cells - zeros > 1 else 0.0


@compiled(reorder_sums=True)
def _both(f: Array, g: Array, lookup: Floats, start: int, stop: int, out: Floats) -> None:
    """The same, then M, |D and E|, |D or E| and H(X|Y) into out[3:7]."""
    cells = f.shape[1]
    size, fraction, exponent = np.empty(cells), np.empty(cells), np.empty(cells)
    for t in range(start, stop):
        zeros, both, either, n, m, total = 0, 0, 0, 0, 0, 0.0
        for i in range(cells):
            x, y = int(f[t, i]), int(g[t, i])
            a, b = x == 0, y == 0
            zeros += a
            both += a & b
            either += a | b
            n += x
            m += y
            total += lookup[x]
        h = max(math.log(n) - total / n, 0.0) if n > 0 and cells - zeros > 1 else 0.0
        out[0, t], out[1, t], out[2, t] = zeros, n, h
        out[3, t], out[4, t], out[5, t] = m, both, either
        out[6, t] = h
        if n > 0 and m > 0:
            out[6, t] = _conditional(f, g, lookup, t, float(n), float(m), size, fraction, exponent)


def summaries(f: Array, g: Array | None, top: int) -> Floats:
    """One column a table: zeros, N, H(X) and, with ``g``, M, |D and E|, |D or E|, H(X|Y). No count is above ``top``."""
    f = np.ascontiguousarray(f)
    if g is not None:  # one compiled version a type, so both get the same
        dtype = np.result_type(f, g)
        f, g = np.ascontiguousarray(f, dtype=dtype), np.ascontiguousarray(g, dtype=dtype)
    x = np.arange(top + 1, dtype=np.float64)
    lookup = x * np.log(np.maximum(x, 1.0))
    out = np.empty((3 if g is None else 7, f.shape[0]))

    def run(start: int, stop: int) -> None:
        if g is None:
            _before(f, lookup, start, stop, out)
        else:
            _both(f, g, lookup, start, stop, out)

    over_ranges(run, f.shape[0])
    return out
