"""Uniform numbers that belong to a set of records: cell keys, mixed by a keyed function before they are used.

A cell key is the sum modulo 2**64 of the keys of its records ([JOS15]_ section 3.2, after Fraser and Wooton 2005).
Sums of keys add up over cells, and noise must not: every sum goes through SipHash-2-4 under a secret first. The same
set of records gets the same number in every table, in every order, after a reload, and after an edit of another record.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import whole
from discreet.data.dimension import Dimension
from discreet.engines.protocol import SECRET_BYTES
from discreet.errors import InputError
from discreet.tables.layout import Layout
from discreet.tables.table import Table

_ENVIRONMENT = "env:"
_CHUNK = 1 << 14  # cells mixed at a time, so that the work stays in the processor's cache


@dataclass(frozen=True, eq=False, repr=False)
class Secret:
    """A secret that shows in no repr and goes into no pickle.

    >>> Secret(b"sixteen bytes or more")
    Secret(...)
    """

    _value: bytes

    def key(self, purpose: str) -> bytes:
        """16 bytes that only the holder of the secret can know, different for every purpose."""
        return hmac.digest(self._value, b"discreet " + purpose.encode(), "sha256")[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value, other._value)

    def __hash__(self) -> int:
        return hash(Secret)

    def __repr__(self) -> str:
        return "Secret(...)"

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise InputError("a secret is not pickled: name an environment variable instead (secret='env:NAME')")


def read_secret(secret: str | bytes | Secret | None) -> str | Secret | None:
    """What a method keeps of a secret: wrapped, or the name of the environment variable that holds it ("env:NAME")."""
    if secret is None or isinstance(secret, Secret):
        return secret
    if isinstance(secret, str) and secret.startswith(_ENVIRONMENT):
        return secret
    return _wrapped(secret.encode() if isinstance(secret, str) else bytes(secret))


def _wrapped(value: bytes) -> Secret:
    if len(value) < SECRET_BYTES:
        raise InputError(
            f"the secret has {len(value)} bytes; give at least {SECRET_BYTES}, or the name of an "
            "environment variable (secret='env:NAME')"
        )
    return Secret(value)


def open_secret(secret: str | bytes | Secret | None) -> Secret:
    """The secret itself, read from the environment where a method keeps the name of a variable."""
    kept = read_secret(secret)
    if isinstance(kept, Secret):
        return kept
    if kept is None:  # the record keys are the secret then
        return Secret(b"discreet: no secret of its own")
    name = kept.removeprefix(_ENVIRONMENT)
    if not os.environ.get(name):
        raise InputError(f"the environment variable {name!r}, which should hold the secret, is not set")
    return _wrapped(os.environ[name].encode())


# -- SipHash-2-4 of one 64-bit word -----------------------------------------------------------------------------


def mix(words: Array, key: bytes) -> NDArray[np.uint64]:
    """SipHash-2-4 (Aumasson and Bernstein 2012) of 64-bit words under a 16-byte key, word by word.

    >>> hex(int(mix(np.array([0x0706050403020100], np.uint64), bytes(range(16)))[0]))
    '0x93f5f5799a932462'
    """
    flat = np.ascontiguousarray(words, np.uint64).ravel()
    out = np.empty_like(flat)
    k0, k1 = np.frombuffer(key, "<u8").astype(np.uint64)
    for start in range(0, flat.size, _CHUNK):
        out[start : start + _CHUNK] = _siphash(flat[start : start + _CHUNK], k0, k1)
    return out.reshape(words.shape)


def _siphash(m: NDArray[np.uint64], k0: np.uint64, k1: np.uint64) -> NDArray[np.uint64]:
    start = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v = [np.full(m.shape, k ^ np.uint64(c), np.uint64) for c, k in zip(start, (k0, k1, k0, k1), strict=True)]
    spare = np.empty_like(m)
    for block in (m, np.uint64(8 << 56)):  # the word, then its length
        v[3] ^= block
        for _ in range(2):
            _round(v, spare)
        v[0] ^= block
    v[2] ^= np.uint64(0xFF)
    for _ in range(4):
        _round(v, spare)
    out: NDArray[np.uint64] = v[0] ^ v[1] ^ v[2] ^ v[3]
    return out


def _round(v: list[NDArray[np.uint64]], spare: NDArray[np.uint64]) -> None:
    for a, b, left in ((0, 1, 13), (2, 3, 16), (0, 3, 21), (2, 1, 17)):
        v[a] += v[b]
        _rotate(v[b], left, spare)
        v[b] ^= v[a]
        if left in (13, 17):
            _rotate(v[a], 32, spare)


def _rotate(x: NDArray[np.uint64], left: int, spare: NDArray[np.uint64]) -> None:
    np.right_shift(x, np.uint64(64 - left), out=spare)
    np.left_shift(x, np.uint64(left), out=x)
    x |= spare


def unit_interval(words: Array) -> Floats:
    """Words as numbers in [0, 1), from their upper 53 bits.

    >>> unit_interval(np.array([0, 2**63], np.uint64)).tolist()
    [0.0, 0.5]
    """
    out: Floats = (np.asarray(words, np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return out


# -- numbers for the cells of a table ---------------------------------------------------------------------------


def read_source(seed: int | None, secret: str | bytes | Secret | None) -> str | Secret | None:
    """What a method keeps of its secret, after a look at both: noise comes from a seed or from keys, not from both."""
    if seed is not None:
        whole("seed", seed, 0)
    if seed is not None and secret is not None:
        raise InputError("a seed takes the place of cell keys, so a secret would do nothing: give one of the two")
    return read_secret(secret)


def uniforms(
    table: Table,
    *,
    seed: int | None = None,
    secret: str | bytes | Secret | None = None,
    purpose: str = "count",
    inner: bool = False,
    only: Array | None = None,
    statistic: str = "key",
) -> Floats:
    """A number in [0, 1) for every published (or inner) cell: from cell keys, or from a seed and the cell's codes.

    Without a seed the table must have cell keys. With one, a cell's number depends on the seed and on the finest codes
    it stands for, so that it too is the same in other margins and orders of the same variables. ``only`` gives the
    positions of the cells that are wanted, ``statistic`` names the sums of keys that are used.
    """
    if seed is not None:
        words = category_keys(table.layout, inner=inner)
        return unit_interval(mix(words if only is None else words[only], seed_key(seed, purpose)))
    if statistic not in table.statistics:
        raise InputError(
            "the table has no cell keys: give a seed, or microdata with record keys (a key column, or a "
            "unit and a secret)"
        )
    keys = table.statistic(statistic).inner if inner else table.statistic(statistic).cells
    return unit_interval(mix(keys if only is None else keys[only], open_secret(secret).key(purpose)))


def amount_uniforms(amounts: Floats, *, seed: int | None, secret: str | bytes | Secret | None, purpose: str) -> Floats:
    """A number in [0, 1) for every amount, the same wherever it stands."""
    key = seed_key(seed, purpose) if seed is not None else open_secret(secret).key(purpose)
    return unit_interval(mix(np.ascontiguousarray(amounts, np.float64).view(np.uint64), key))


def zero_uniforms(
    table: Table, only: Array, *, seed: int | None, secret: str | bytes | Secret | None, inner: bool = False
) -> Floats:
    """Numbers for empty cells, which have no records to take a key from: category keys under the secret."""
    key = seed_key(seed, "zero") if seed is not None else open_secret(secret).key("zero")
    return unit_interval(mix(category_keys(table.layout, inner=inner)[only], key))


def category_uniforms(layout: Layout, secret: str | bytes | Secret, purpose: str) -> Floats:
    """A number in [0, 1) for every published cell from its codes under the secret, whatever its value or records."""
    return unit_interval(mix(category_keys(layout), open_secret(secret).key(purpose)))


def generator(uniform: Floats) -> np.random.Generator:
    """A generator for what a group of cells decides together, fixed by the numbers of its cells."""
    words = (np.asarray(uniform) * 2.0**53).astype(np.uint64)
    return np.random.default_rng(np.bitwise_xor.reduce(words) if words.size else 0)


def seed_key(seed: int, purpose: str) -> bytes:
    """16 bytes from a seed."""
    whole("seed", seed, 0)
    return hashlib.sha256(f"discreet {purpose} {seed}".encode()).digest()[:16]


def category_keys(layout: Layout, *, inner: bool = False) -> NDArray[np.uint64]:
    """A key for every cell from the names of its dimensions and finest codes; a total adds nothing.

    A group and the single code it consists of have the same key, and so have a cell and the same cell of a table with
    more dimensions, where those stand at their totals.
    """
    if not inner:
        out = np.zeros(len(layout), np.uint64)
        for k, dimension in enumerate(layout.dimensions):
            out += _code_keys(dimension)[layout.codes[:, k]]
        return out
    grid = np.zeros((1,) * len(layout.shape), np.uint64)
    for k, dimension in enumerate(layout.dimensions):
        leaves = _code_keys(dimension)[[dimension.position[leaf] for leaf in dimension.leaves]]
        grid = grid + leaves.reshape([-1 if j == k else 1 for j in range(len(layout.shape))])
    flat: NDArray[np.uint64] = grid.ravel()
    return flat if layout.possible is None else flat[layout.inner]


def _code_keys(dimension: Dimension) -> NDArray[np.uint64]:
    return np.array([_code_key(dimension, code) for code in dimension.codes], np.uint64)


def _code_key(dimension: Dimension, code: str) -> int:
    leaves = dimension.leaves_of(code)
    if len(leaves) == len(dimension.leaves) and min(leaves.values()) > 0:
        return 0
    text = "\x1f".join([dimension.name, *sorted(f"{sign:+d}{leaf}" for leaf, sign in leaves.items())])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
