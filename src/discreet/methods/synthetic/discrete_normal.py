"""The discrete normal law, drawn exactly: whole numbers in, whole numbers out, no floating point in between.

Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy", algorithms 1 to 3. A draw that is
rounded from a float has holes and heaps in its last bits, which formal privacy does not allow.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

BLOCK = 32  # bytes that one call of HMAC-SHA-256 gives


@dataclass
class KeyedBits:
    """Uniform whole numbers from HMAC-SHA-256 in counter mode: the same key gives the same numbers."""

    key: bytes
    counter: int = 0
    bits: int = 0
    held: int = 0

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, not including, the limit: bits until they are below it."""
        wide = (limit - 1).bit_length()
        while True:
            if (number := self._take(wide)) < limit:
                return number

    def _take(self, wide: int) -> int:
        while self.held < wide:
            block = hmac.digest(self.key, self.counter.to_bytes(8, "big"), "sha256")
            self.bits = self.bits << 8 * BLOCK | int.from_bytes(block, "big")
            self.held += 8 * BLOCK
            self.counter += 1
        self.held -= wide
        number = self.bits >> self.held
        self.bits &= (1 << self.held) - 1
        return number


def bernoulli_exp(bits: KeyedBits, numerator: int, denominator: int) -> bool:
    """True with chance exp(-numerator/denominator). Algorithm 1."""
    while numerator > denominator:
        if not _below_one(bits, 1, 1):
            return False
        numerator -= denominator
    return _below_one(bits, numerator, denominator)


def _below_one(bits: KeyedBits, numerator: int, denominator: int) -> bool:
    """True with chance exp(-x), x at most 1: of coins of chance x, x/2, x/3, ... an even number comes true in a row."""
    k = 1
    while bits.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


def discrete_laplace(bits: KeyedBits, scale: int) -> int:
    """A whole number x with chance in proportion to exp(-|x|/scale). Algorithm 2, for a whole scale."""
    while True:
        rest = bits.below(scale)
        if not bernoulli_exp(bits, rest, scale):
            continue
        times = 0
        while bernoulli_exp(bits, 1, 1):
            times += 1
        size = rest + scale * times
        negative = bits.below(2) == 1
        if not (negative and size == 0):
            return -size if negative else size


def discrete_normal(bits: KeyedBits, v: Fraction) -> int:
    """A whole number x with chance in proportion to exp(-x**2/(2 v)). Algorithm 3."""
    scale = math.isqrt(v.numerator // v.denominator) + 1
    while True:
        size = discrete_laplace(bits, scale)
        # (|x| - v/scale)**2 / (2 v) in whole numbers
        gap = abs(abs(size) * scale * v.denominator - v.numerator)
        if bernoulli_exp(bits, gap * gap, 2 * v.numerator * v.denominator * scale * scale):
            return size


def draws(key: bytes, v: Fraction) -> Iterator[int]:
    """Independent draws without end.

    >>> import itertools
    >>> len(list(itertools.islice(draws(b"a key", Fraction(3)), 5)))
    5
    """
    bits = KeyedBits(key)
    while True:
        yield discrete_normal(bits, v)
