"""What stands in an address: bounded in length, each parameter known and given once, no control characters.

A parameter that is not read, or of which one value silently wins, would answer another question than was asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import parse_qsl

from discreet.errors import InputError, nearest

MOST_ADDRESS = 8000  # bytes of path and query: more than any table of a codebook needs
MOST_PARAMETERS = 500
HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
MOST_SHOWN = 60  # characters of a name that a message repeats


def check_parameters(query: str, known: Collection[str]) -> None:
    """Raise ``InputError`` for a parameter that is unknown, repeated, or holds a control character.

    >>> check_parameters("variables=sex&where=age=5-9", ["variables", "where"])
    >>> check_parameters("variables=sex&where=a=1&where=b=2", ["variables", "where"])
    Traceback (most recent call last):
    ...
    discreet.errors.InputError: the parameter 'where' is given twice; several filters are separated by ';' in one
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_PARAMETERS)
    except ValueError:
        raise InputError(f"the address has more than {MOST_PARAMETERS} parameters") from None
    seen: set[str] = set()
    for name, value in pairs:
        if has_control(name) or has_control(value):
            raise InputError("the address holds a control character, which no name or code has")
        if name not in known:
            shown = name[:MOST_SHOWN]
            more = nearest(shown, known) if known else "none is read here"
            raise InputError(f"unknown parameter {shown!r}; {more}")
        if name in seen:
            more = "; several filters are separated by ';' in one" if name == "where" else ""
            raise InputError(f"the parameter {name!r} is given twice{more}")
        seen.add(name)


def has_control(text: str) -> bool:
    """Whether a text holds a control character, such as NUL, which a database may refuse.

    >>> has_control("a\\x00"), has_control("Tirol & Wien, 100+")
    (True, False)
    """
    return any(character < " " or "\x7f" <= character <= "\x9f" for character in text)


def ill_formed(address: bytes, host: str) -> tuple[int, str] | None:
    """Status and reason for an address or host that no route need look at; None for a good one.

    >>> ill_formed(b"/table?variables=sex", "tables.example.org:8000")
    >>> ill_formed(b"/" + bytes(9000), "x")
    (414, 'the address has more than 8,000 bytes')
    """
    if len(address) > MOST_ADDRESS:
        return 414, f"the address has more than {MOST_ADDRESS:,} bytes"
    if not address.isascii():
        return 400, "an address is ASCII; other characters are written with % signs"
    if host and not HOST.fullmatch(host):
        return 400, "the Host header is not the name of a host"
    return None
