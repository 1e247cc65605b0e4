"""Loops as machine code: the one decorator of the house, with a cache on disk that notices edits in other files.

Numba keeps what it has compiled beside the source and looks at the time stamp of a function's *own* file only: an edit
of another file, whose function or constant went into the machine code, would be run as it was. So each function is kept
under a name that holds a digest of its file, of the files of all compiled functions it could call, and of constants.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def compiled(function: Function, /) -> Function: ...
@overload
def compiled(*, reorder_sums: bool = False) -> Callable[[Function], Function]: ...
def compiled(function: Any = None, /, *, reorder_sums: bool = False) -> Any:
    """Machine code that runs without the interpreter's lock and divides by zero as NumPy does.

    ``reorder_sums`` lets sums be added up in another order, which vector instructions need; NaN and infinity keep
    their meaning. The result of such a function may differ in its last bits between processors.
    """
    options: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}} if reorder_sums else {}
    if function is None:
        return lambda later: _machine_code(later, options)
    return _machine_code(function, options)


def compiled_part(function: Function) -> Function:
    """A piece of compiled functions, called by them alone: it costs less to compile, as nothing else could call it.

    Called from Python it runs as Python.
    """
    from numba.extending import register_jitable  # takes half a second

    function.py_func = function  # type: ignore[attr-defined]
    return register_jitable(error_model="numpy")(function)  # type: ignore[no-any-return]


def _machine_code(function: Function, options: dict[str, Any]) -> Function:
    import numba  # takes half a second

    options = {"nogil": True, "error_model": "numpy", **options}
    digest = digest_of(function)
    in_every_process = numba.njit(**options)
    if digest is None:
        return in_every_process(function)  # type: ignore[no-any-return]
    function.__qualname__ += f"_{digest}"
    try:
        kept: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to keep it in: a read-only install without a home
        kept = in_every_process(function)
    return kept


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
