"""Options written as text, read as values: names, filters, totals, TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from discreet.errors import InputError


def total_of(texts: Sequence[str]) -> str | dict[str, str | None] | None:
    """``["sex=All", "year="]`` as {"sex": "All", "year": None}, ``["All"]`` as "All".

    >>> total_of(["sex=All", "year="]), total_of(["All"])
    ({'sex': 'All', 'year': None}, 'All')
    """
    parts = [item.partition("=") for item in texts]
    plain = [name.strip() for name, equals, _ in parts if not equals]
    if len(plain) > 1 or (plain and len(parts) > 1):
        raise InputError("--total takes one CODE for all dimensions, or DIMENSION=CODE for each of some")
    if twice := [name for name in (part[0].strip() for part in parts) if sum(p[0].strip() == name for p in parts) > 1]:
        raise InputError(f"--total names the total of {twice[0]!r} twice; a dimension has one")
    return plain[0] if plain else {name.strip(): code.strip() or None for name, _, code in parts} or None


def missing_of(texts: Collection[str]) -> str | dict[str, str] | None:
    """``["area=unknown"]`` as {"area": "unknown"}, ``["unknown"]`` as "unknown", nothing as None.

    >>> missing_of(["sex=unknown", "age=99"]), missing_of(["unknown"]), missing_of([])
    ({'sex': 'unknown', 'age': '99'}, 'unknown', None)
    """
    parts = [text.partition("=") for text in texts]
    plain = [name for name, equals, _ in parts if not equals]
    if plain and len(parts) > 1:
        raise InputError("--missing takes one CODE for all dimensions, or DIMENSION=CODE for each of some")
    return plain[0] if plain else {name.strip(): code.strip() for name, _, code in parts} or None


def names_of(text: str) -> list[str]:
    """``"county, sex"`` as ["county", "sex"]."""
    return [name.strip() for name in text.split(",") if name.strip()]


def value_of(text: str) -> Any:
    """A TOML value, or plain text where it is none.

    >>> value_of("3"), value_of("[1, 2]"), value_of("value")
    (3, [1, 2], 'value')
    """
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        if text[:1] in '"[{':
            raise InputError(f"cannot read the value {text!r}; write it as in TOML") from None
        return text


def filters(
    where: Sequence[str], codebook: Path | None = None, by: Sequence[str] | None = None
) -> dict[str, list[str]] | None:
    """``["region=N", "region=S"]`` as {"region": ["N", "S"]}; without a codebook only those of ``by`` are known."""
    from discreet.data.filters import parse_filters

    codes_of = parse_filters(where, repeat=True, form="--where takes DIMENSION=CODE")
    for name in codes_of if codebook is None and by is not None else ():
        if name not in (by or ()):
            raise InputError(
                f"--where {name}=...: without a codebook only the dimensions of the table are known; add it to "
                "--by, or give a codebook that describes it (--codebook)"
            )
    return codes_of or None
