"""Functions turned into machine code by Numba, and the machine code kept on disk: the only file that names Numba.

Importing it takes half a second, so it is imported when a loop is first compiled or loaded.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import intrinsic, overload, register_jitable

from discreet.base.cache_folder import PRIVATE, cache_folders

log = logging.getLogger("discreet.compiling")  # without a handler its lines go to stderr
OPTIONS = {"nogil": True, "error_model": "numpy"}
DAMAGED = (OSError, EOFError, pickle.UnpicklingError)
_said: list[str] = []  # in this process


def machine_code(function: Callable[..., Any], digest: str | None, options: dict[str, Any]) -> Any:
    """The function as Numba runs it, machine code taken from disk where it lies there under this digest."""
    dispatcher = numba.njit(**OPTIONS, **options)(function)
    if hasattr(dispatcher, "_cache"):  # not with NUMBA_DISABLE_JIT
        dispatcher._cache = KeptCode(function, digest)
    return dispatcher


def register_part(function: Callable[..., Any]) -> None:
    """Let compiled functions call this one as a piece of their own."""
    register_jitable(error_model="numpy")(function)


def register_instructions(function: Callable[[Any, Any], Any], instructions: Callable[..., Any]) -> None:
    """Let compiled functions have instructions where Python calls a function of ``a`` and ``b``.

    The instructions are written as ``numba.extending.intrinsic`` takes them.
    """
    in_machine_code = intrinsic(instructions)

    def typed(a: Any, b: Any) -> Any:
        def called(a: Any, b: Any) -> Any:  # Numba compares the two signatures, annotations too
            return in_machine_code(a, b)

        return called

    overload(function, jit_options={"error_model": "numpy"})(typed)


class CodeLocator:
    """What Numba calls a locator: machine code lies in this folder under names that hold the digest."""

    def __init__(self, path: Path, digest: str, source: str, line: int) -> None:
        self._py_file = source
        self._path = path
        self._digest = digest
        self._line = line

    def get_cache_path(self) -> str:
        return str(self._path)

    def ensure_cache_path(self) -> None:
        self._path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return f"{self._digest}-{self._line}"


def _in_folder(path: Path, digest: str) -> type:
    """Numba's cache of a function in one folder."""

    class Locator(CodeLocator):
        @classmethod
        def from_function(cls, function: Any, source: str) -> CodeLocator:
            return cls(path, digest, source, function.__code__.co_firstlineno)

    class Contents(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    return type("InFolder", (FunctionCache,), {"_impl_class": Contents})


class KeptCode:
    """The machine code of one function in all folders that may be read; new code goes to the one that is writable."""

    def __init__(self, function: Callable[..., Any], digest: str | None) -> None:
        self._caches: list[Any] = []
        self._keeping: Any = None
        if digest is None:
            return
        for folder in cache_folders(Path(function.__code__.co_filename), create=True):
            cache = _in_folder(folder.path, digest)(function)
            self._caches.append(cache)
            if folder.writable:
                self._keeping = cache

    @property
    def cache_path(self) -> str | None:
        return None if self._keeping is None else str(self._keeping.cache_path)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Machine code from disk; None, once it has been said that compiling begins."""
        for cache in self._caches:
            try:
                code = cache.load_overload(signature, target)
            except DAMAGED:  # as a full disk or a loss of power leaves files
                self._forget(cache)
                continue
            if code is not None:
                return code
        self._announce()
        return None

    def save_overload(self, signature: Any, code: Any) -> None:
        if self._keeping is None:
            return
        try:
            self._keeping.save_overload(signature, code)
        except OSError as error:
            log.warning(f"discreet: machine code is not kept in {self.cache_path}: {error.strerror}")

    def _forget(self, cache: Any) -> None:
        """Files that cannot be read are written anew where that is possible, and not looked at again elsewhere."""
        try:
            cache.flush()
        except OSError:
            self._caches = [other for other in self._caches if other is not cache]
            self._keeping = None if cache is self._keeping else self._keeping

    def enable(self) -> None:
        """Numba asks for it; keeping cannot be turned on where there is no folder."""

    def disable(self) -> None:
        self._caches = []
        self._keeping = None

    def flush(self) -> None:
        if self._keeping is not None:
            self._keeping.flush()

    def _announce(self) -> None:
        """Say once in a process that compiling takes its time, and whether it has to be done again."""
        where = self.cache_path
        kept = (
            f"kept in {where}"
            if where is not None
            else "kept nowhere, as there is no private folder that can be written; NUMBA_CACHE_DIR names one"
        )
        if not _said:
            _said.append(kept)
            log.warning(f"discreet: compiling for this processor, which takes up to half a minute; {kept}")
