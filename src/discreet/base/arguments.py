"""What is given to a public function or class, looked at before any work is done.

The annotation of an argument is what is allowed: ``checked`` holds whoever calls to it, with a sentence instead of a
Python error from somewhere inside. How large a number may be is said by ``whole``, ``positive`` and their like.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.base.kinds import LARGEST, Kind, is_number, is_whole, kind_of, told
from discreet.errors import InputError, listed, nearest

Door = TypeVar("Door", bound=Callable[..., Any])


def checked(door: Door) -> Door:
    """Refuse, with a DiscreetError, arguments that a function or class does not know or that are of the wrong kind.

    A class has its making, its call and its public methods checked. Signatures stay what they are.
    """
    if not isinstance(door, type):
        return _guarded(door, door.__name__)  # type: ignore[return-value]
    for name, attribute in list(vars(door).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        title = door.__name__ if name == "__init__" else f"{door.__name__}.{name}"
        if isinstance(attribute, (classmethod, staticmethod)):
            setattr(door, name, type(attribute)(_guarded(attribute.__func__, title, door)))
        elif inspect.isfunction(attribute):
            setattr(door, name, _guarded(attribute, door.__name__ if name == "__call__" else title, door))
    return door


def _guarded(door: Callable[..., Any], title: str, owner: type | None = None) -> Callable[..., Any]:
    look = _Look(door, title, owner)

    def called(*args: Any, **named: Any) -> Any:
        look(args, named)
        return door(*args, **named)

    # With the globals of the function it stands for, because that is how doctest knows whose examples these are.
    guarded = types.FunctionType(called.__code__, door.__globals__, door.__name__, None, called.__closure__)
    return functools.update_wrapper(guarded, door)


@dataclass(frozen=True)
class _Allowed:
    """What a function takes: its arguments by place with their kinds, those by name, and which it needs."""

    placed: tuple[str, ...]
    tests: tuple[tuple[int, Kind], ...]  # of those by place, where anything is to be tested
    kinds: dict[str, Kind | None]
    needed: frozenset[str]
    alone: int  # so many by their place are enough
    more: bool  # any number by place
    others: bool  # any other by name


class _Look:
    """What one function allows, found out when it is first called."""

    def __init__(self, door: Callable[..., Any], title: str, owner: type | None) -> None:
        self.door, self.title, self.owner = door, title, owner

    @property
    def names(self) -> dict[str, Any]:
        """What annotations can mean: a class has fields of the classes it builds on, which stand in their modules."""
        homes = [] if self.owner is None else [sys.modules[kind.__module__] for kind in reversed(self.owner.__mro__)]
        return {name: value for home in homes for name, value in vars(home).items()} | self.door.__globals__

    @functools.cached_property
    def allowed(self) -> _Allowed:
        names = self.names
        known = list(inspect.signature(self.door).parameters.values())
        kinds = {p.name: kind_of(p.annotation, names) for p in known if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
        placed = [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        needed = [p.name for p in known if p.name in kinds and p.default is p.empty]
        return _Allowed(
            placed=tuple(placed),
            tests=tuple((k, kind) for k, name in enumerate(placed) if (kind := kinds[name]) is not None),
            kinds=kinds,
            needed=frozenset(needed),
            alone=len(needed) if needed == placed[: len(needed)] else len(known) + 1,
            more=any(p.kind is p.VAR_POSITIONAL for p in known),
            others=any(p.kind is p.VAR_KEYWORD for p in known),
        )

    def __call__(self, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        allowed = self.allowed
        if named or len(args) < allowed.alone:
            self._look_at_names(allowed, args, named)
        if len(args) > len(allowed.placed) and not allowed.more:
            raise InputError(self._too_many(args, list(allowed.placed)))
        for place, test in allowed.tests:
            if place < len(args) and not test.holds(args[place]):
                raise self._wrong(allowed.placed[place], test, args[place])
        for name, value in named.items():
            kind = allowed.kinds.get(name)
            if kind is not None and not kind.holds(value):
                raise self._wrong(name, kind, value)

    def _look_at_names(self, allowed: _Allowed, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        first = allowed.placed[: len(args)]
        for name in named:
            if name not in allowed.kinds and not allowed.others:
                raise InputError(f"{self.title} has no argument {name!r}; {nearest(name, in_order(self.door))}")
            if name in first:
                raise InputError(f"{self.title}: {name!r} is given twice, by its place and by its name")
        if missing := allowed.needed.difference(first, named):
            raise InputError(f"{self.title} needs {listed([n for n in in_order(self.door) if n in missing])}")

    def _wrong(self, name: str, kind: Kind, value: Any) -> InputError:
        return InputError(f"{self.title}: {told(name, value)}: give {kind.words}{kind.hint(value)}")

    def _too_many(self, args: tuple[Any, ...], positional: list[str]) -> str:
        mine = [n for n in positional if n not in ("self", "cls")]
        passed = len(args) - (len(positional) - len(mine))
        rest = [n for n in in_order(self.door) if n not in positional]
        takes = f"{len(mine)} by their place ({listed(mine)})" if mine else "no arguments by their place"
        by_name = f"; give by name: {listed(rest)}" if rest else ""
        return f"{self.title} takes {takes}, not {passed}{by_name}"


def in_order(door: Callable[..., Any]) -> list[str]:
    """The names of a function's own arguments, as they stand in its signature."""
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    own = [p.name for p in inspect.signature(door).parameters.values() if p.kind not in starred]
    return [name for name in own if name not in ("self", "cls")]


# -- how large a number may be ------------------------------------------------------------------------------------


def whole(name: str, value: Any, least: int, most: int = LARGEST) -> None:
    """Refuse a parameter that is no whole number, too small or too large."""
    if not is_whole(value) or value < least:
        raise InputError(f"{told(name, value)}: give a whole number of {least} or more")
    if value > most:
        raise InputError(f"{told(name, value)}: give a whole number of at most {most:,}")


def positive(name: str, value: Any, least: float = 0) -> None:
    """Refuse a parameter below its least value, or that is no finite number."""
    if not (is_number(value) and least <= value < float("inf")):
        raise InputError(f"{told(name, value)}: give a number of {least:g} or more")


def above(name: str, value: Any, least: float = 0) -> None:
    """Refuse a parameter that does not lie above a number, or that is not finite."""
    if not (is_number(value) and least < value < float("inf")):
        raise InputError(f"{told(name, value)}: give a number above {least:g}")


def share(name: str, value: Any) -> None:
    """Refuse a parameter that is no share."""
    if not (is_number(value) and 0 <= value <= 1):
        raise InputError(f"{told(name, value)}: give a share from 0 to 1")


def numbers(name: str, value: Any) -> NDArray[np.float64]:
    """A parameter as an array of numbers, NaN and infinity among them."""
    if not hasattr(value, "columns"):
        with suppress(TypeError, ValueError, OverflowError):
            return np.asarray(value, np.float64)
    raise InputError(f"{told(name, value)}: give numbers")


def one_of(name: str, value: Any, known: Iterable[str]) -> None:
    """Refuse a word that is not known, with the nearest one that is."""
    known = list(known)
    if not isinstance(value, str):
        raise InputError(f"{told(name, value)}: give one of {listed(known)}")
    if value not in known:
        raise InputError(f"{told(name, value)} is not known; {nearest(value, known)}")
