"""Loops as machine code where that pays: the one decorator of the house.

Compiling a loop takes seconds, loading it from disk tenths of one, and running it uncompiled some microseconds a step.
So a loop that can say how many steps a call will take runs small work as plain Python, to the same bits, and is
compiled or loaded once the work is larger or has added up. How many steps a sparse elimination takes is known only when
it is done; such a loop is left where it takes longer than was thought, and begun again as machine code. Machine code is
kept on disk, under names that hold a digest of all sources that went into it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar, overload

from discreet.base.cache_folder import cache_folders
from discreet.base.source_digest import digest_of

Function = TypeVar("Function", bound=Callable[..., Any])
Steps = Callable[..., float]

STEP = 2e-6  # seconds of one step as Python
TO_COMPILE = 2.0  # seconds that a loop may run as Python in a process, while its machine code is not on disk
TO_LOAD = 0.05  # the same, where it is
TO_IMPORT = 0.6  # and this much more while the compiler is not loaded: what loading it and the first loop takes
TOO_LONG = 2.0  # a loop that can begin again is left after so many times what it may take

_always: ContextVar[bool] = ContextVar("always", default=False)
_pending: list[Callable[[], None]] = []  # pieces of loops that the compiler has not been told of
_loops: list[Loop] = []  # all that have been decorated
_lock = threading.RLock()


@overload
def compiled(function: Function, /) -> Function: ...
@overload
def compiled(
    *, steps: Steps | None = None, restarts: bool = False, reorder_sums: bool = False
) -> Callable[[Function], Function]: ...
def compiled(
    function: Any = None, /, *, steps: Steps | None = None, restarts: bool = False, reorder_sums: bool = False
) -> Any:
    """Machine code that runs without the interpreter's lock and divides by zero as NumPy does.

    ``steps``: of the same arguments, about how often the innermost lines will run; a loop without it is never Python.
    Only for loops whose result has the same bits as Python: whole numbers, and + − * / of numbers in a fixed order.
    ``restarts``: the loop changes none of its arguments but the last one, an array that it looks at all the time and
    that asks it to stop; so it may be left where it takes longer than ``steps`` told, and begun again.
    ``reorder_sums`` lets sums be added up in another order, which vector instructions need; NaN and infinity keep
    their meaning. The result of such a function may differ in its last bits between processors.
    """
    options: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}} if reorder_sums else {}
    if function is None:
        return lambda later: Loop(later, options, steps, restarts)
    return Loop(function, options, steps, restarts)


def compiled_part(function: Function) -> Function:
    """A piece of compiled functions, called by them alone: it costs less to compile, as nothing else could call it.

    Called from Python it runs as Python.
    """
    function.py_func = function  # type: ignore[attr-defined]

    def register() -> None:
        from discreet.base.machine_code import register_part

        register_part(function)

    _pending.append(register)
    return function


def compiled_as(instructions: Callable[..., Any]) -> Callable[[Function], Function]:
    """A piece that compiled functions have as these instructions of the processor, and Python as it is written."""

    def decorated(function: Function) -> Function:
        function.py_func = function  # type: ignore[attr-defined]

        def register() -> None:
            from discreet.base.machine_code import register_instructions

            register_instructions(function, instructions)

        _pending.append(register)
        return function

    return decorated


@contextmanager
def always_compiled() -> Iterator[None]:
    """Inside no loop runs as Python, however small the work: to fill the folder of machine code, and to compare."""
    token = _always.set(True)
    try:
        yield
    finally:
        _always.reset(token)


def loops_of(package: str) -> list[Loop]:
    """The loops of a package, as far as its modules have been imported."""
    return [loop for loop in _loops if loop.__module__.split(".")[0] == package]


def is_in_memory(loop: Callable[..., Any]) -> bool:
    """Whether a loop is machine code already, so that nothing has to be compiled or loaded for it."""
    return isinstance(loop, Loop) and (loop._machine_code is not None or _always.get())


class _TooLongError(Exception):
    """A loop takes longer as Python than it may."""


class _Watched:
    """The array by which a loop is asked to stop; looking at it ends the loop when its time as Python is up."""

    def __init__(self, asked: Any, until: float) -> None:
        self._asked = asked
        self._until = until

    def __getitem__(self, place: int) -> Any:
        if time.thread_time() > self._until:
            raise _TooLongError
        return self._asked[place]

    def __setitem__(self, place: int, number: Any) -> None:
        self._asked[place] = number


class Loop:
    """A function that runs as Python or as machine code, whichever is sooner done."""

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], steps: Steps | None, restarts: bool = False
    ) -> None:
        self.py_func = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function
        self._options = options
        self._steps = steps
        self._restarts = restarts
        self._machine_code: Any = None
        self._spent = 0.0
        self._patience: float | None = None
        _loops.append(self)

    def __call__(self, *arguments: Any) -> Any:
        code = self._machine_code
        if code is not None:
            return code(*arguments)
        if self._steps is None or _always.get():
            return self.machine_code(*arguments)
        if self._spent + STEP * self._steps(*arguments) > self._allowed():
            return self.machine_code(*arguments)
        try:
            return self._as_python(*arguments)
        except _TooLongError:
            return self.machine_code(*arguments)

    @property
    def machine_code(self) -> Any:
        """The function as the compiler has it; compiled for the kinds of arguments it is called with."""
        with _lock:
            if self._machine_code is None:
                from discreet.base.machine_code import machine_code

                while _pending:
                    _pending.pop()()
                self._machine_code = machine_code(self.py_func, digest_of(self.py_func), self._options)
        return self._machine_code

    @property
    def stats(self) -> Any:
        """Of the compiler: how often machine code was loaded from disk."""
        return self.machine_code.stats

    @property
    def kept_in(self) -> str | None:
        """The folder in which its machine code is kept for other processes; None if there is none."""
        return None if self._machine_code is None else self._machine_code._cache.cache_path

    @property
    def _numba_type_(self) -> Any:
        """What lets one compiled function call another."""
        return self.machine_code._numba_type_

    def _as_python(self, *arguments: Any) -> Any:
        import numpy as np

        began = time.thread_time()  # not the clock: whatever else runs here makes compiling slower, too
        if self._restarts:
            arguments = (*arguments[:-1], _Watched(arguments[-1], began + TOO_LONG * self._allowed() - self._spent))
        try:
            with np.errstate(all="ignore"):  # as machine code, which does not look
                return self.py_func(*arguments)
        finally:
            self._spent += time.thread_time() - began

    def _allowed(self) -> float:
        """Seconds that this loop may take as Python in this process."""
        if self._patience is None:
            self._patience = TO_LOAD if self.on_disk else TO_COMPILE
        return self._patience if "numba" in sys.modules else self._patience + TO_IMPORT

    @property
    def on_disk(self) -> bool:
        """Whether there is machine code in a folder, for whatever kinds of arguments."""
        digest = digest_of(self.py_func)
        if digest is None:
            return False
        source = Path(self.py_func.__code__.co_filename)
        names = f"{source.stem}.{self.py_func.__qualname__}-{digest}-*.nbi"
        return any(next(folder.path.glob(names), None) is not None for folder in cache_folders(source))
