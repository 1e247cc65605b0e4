"""Which method is which: a digest of its class and all its parameters, and labels that stand for one method each.

A label or a repr is not enough to go by: two masks of many cells are shown alike, and secrets are not shown at all.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from enum import Enum
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from discreet.base.files import is_file
from discreet.errors import InputError
from discreet.methods.contract import Method
from discreet.methods.keys import Secret

PURPOSE = "which results are kept"  # what is kept of a secret serves nothing else
ENVIRONMENT = "env:"
IDLE = ("progress",)  # fields that change nothing of what comes out


class _UnknownError(Exception):
    """A value of which nobody can say whether it is the same another time."""


def parameter_digest(value: Any) -> str | None:
    """The same for the same class and parameters, whatever the process; None for what cannot be told (a function).

    >>> parameter_digest([1, "a"]) == parameter_digest([1.0, "a"])
    False
    """
    state = hashlib.sha256()
    try:
        for piece in _pieces(value):
            state.update(len(piece).to_bytes(8, "big"))
            state.update(piece)
    except _UnknownError:
        return None
    return state.hexdigest()


def by_label(methods: Iterable[tuple[str, Method]]) -> dict[str, Method]:
    """Methods by their labels; two that differ under one label are an error, since one of them would be lost."""
    labelled: dict[str, Method] = {}
    for label, one in methods:
        other = labelled.setdefault(label, one)
        if other is not one and (parameter_digest(one) is None or parameter_digest(one) != parameter_digest(other)):
            raise InputError(
                f"two different methods have the label {label!r}, so one of them would be lost: give labels of your "
                "own, {label: method}"
            )
    return labelled


def _pieces(value: Any) -> Iterator[bytes]:
    """A value as bytes: its kind, then what it holds."""
    yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
    if isinstance(value, Secret):
        yield value.key(PURPOSE)
    elif isinstance(value, (str, Path)):
        yield from _text(str(value))
    elif isinstance(value, bytes):
        yield value
    elif value is None or isinstance(value, (bool, int, float, complex, np.generic, range, Enum)):
        yield repr(value).encode()
    elif isinstance(value, np.ndarray):
        yield from _array(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _pieces(key)
            yield from _pieces(item)
        yield b"end"
    elif isinstance(value, Set):
        yield from sorted(str(parameter_digest(item)).encode() for item in value)
        if any(parameter_digest(item) is None for item in value):
            raise _UnknownError
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _pieces(item)
        yield b"end"
    else:
        yield from _object(value)


def _text(text: str) -> Iterator[bytes]:
    """A text; with what stands in the file or the variable of the environment that it names."""
    yield text.encode()
    if text.startswith(ENVIRONMENT):
        yield Secret(os.environ.get(text.removeprefix(ENVIRONMENT), "").encode()).key(PURPOSE)
    elif text and is_file(Path(text)):
        yield hashlib.sha256(Path(text).read_bytes()).digest()


def _array(array: Any) -> Iterator[bytes]:
    yield f"{array.dtype} {array.shape}".encode()
    if array.dtype.hasobject:
        yield from _pieces(array.tolist())
    else:
        yield np.ascontiguousarray(array).tobytes()


def _object(value: Any) -> Iterator[bytes]:
    """A value of a class: the code of the class if it is not one of discreet's, and all fields."""
    if hasattr(value, "columns") and hasattr(value, "index") and hasattr(value, "items"):  # a frame of pandas
        yield from _pieces([np.asarray(value.index), *((name, np.asarray(column)) for name, column in value.items())])
    elif hasattr(value, "index") and hasattr(value, "to_numpy"):  # a series
        yield from _pieces([np.asarray(value.index), value.to_numpy()])
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        if not type(value).__module__.startswith("discreet."):
            for kind in type(value).__mro__[:-1]:
                for name, item in vars(kind).items():
                    if code := getattr(item, "__code__", None):
                        yield name.encode()
                        yield from _code(code)
        for field in dataclasses.fields(value):
            if field.name not in IDLE:
                yield field.name.encode()
                yield from _pieces(getattr(value, field.name))
    else:
        raise _UnknownError


def _code(code: CodeType) -> Iterator[bytes]:
    """What a function does, so far as it stands in it: a method that was rewritten is another."""
    yield code.co_code
    yield repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant).encode()
