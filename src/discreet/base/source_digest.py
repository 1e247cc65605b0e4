"""A digest of everything that may go into a function's machine code: kept code under its name is never stale.

A function's own file is not enough: an edit of another file, whose function or constant went into the machine code,
would be run as it was.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any


def digest_of(function: Callable[..., Any]) -> str | None:
    """Twelve characters that change whenever code or constants do that may go into a function's machine code.

    None if a file cannot be read (a package in an archive, a function typed in): nobody could tell then whether what is
    kept is stale.
    """
    marks = {function.__code__.co_filename: b""}
    _collect(function.__globals__, function.__module__.split(".")[0], marks, set())
    try:
        parts = [mark or Path(name).read_bytes() for name, mark in sorted(marks.items(), key=lambda item: item[0])]
    except OSError:
        return None
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def _collect(names: dict[str, Any], package: str, marks: dict[str, bytes], seen: set[int]) -> None:
    """Note what compiled code could use of a module's names: files of other compiled functions, constants by value.

    Names of the whole module, not only those that a function uses itself: it may call one further down its file.
    """
    if id(names) in seen:
        return
    seen.add(id(names))
    for name, value in list(names.items()):
        if name.startswith("__"):
            continue
        if callable(loop := getattr(value, "py_func", None)):
            marks[loop.__code__.co_filename] = b""
            _collect(loop.__globals__, package, marks, seen)
        elif isinstance(value, ModuleType) and value.__name__.split(".")[0] == package:
            _collect(vars(value), package, marks, seen)
        elif isinstance(value, type) and issubclass(value, tuple) and value.__module__ in sys.modules:
            marks[str(sys.modules[value.__module__].__file__)] = b""
        elif (constant := _constant(value)) is not None:
            marks[f"{names.get('__name__')}.{name}"] = constant


def _constant(value: Any) -> bytes | None:
    """A value that machine code holds as it was, as bytes; None for everything else."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value.tobytes() if value.dtype != object else None
    if isinstance(value, tuple):
        parts = [_constant(part) for part in value]
        return None if None in parts else repr(parts).encode()
    return repr(value).encode() if isinstance(value, (bool, int, float, complex, str, bytes, np.generic)) else None
