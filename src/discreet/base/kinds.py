"""Annotations read as kinds of value: what an argument may be, in code and in words."""

from __future__ import annotations

import ast
import inspect
import math
import os
import types
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeGuard, TypeVar, Union, get_args, get_origin

import numpy as np

from discreet.errors import listed, nearest

Unbounded = Annotated[float, "may be infinite"]
"""A number that may be infinite; a plain ``float`` may not."""

LARGEST = 1 << 128  # no whole number is meant to be larger; seeds may have 128 bits

HINTS = {
    "Table": "; of a frame: Table.of(frame, ...) if its rows are cells, tabulate(Microdata.of(frame, ...)) if records",
    "Microdata": "; make it of a frame or file: Microdata.of(data, dimensions=[...])",
    "Protected": "; protect a Table first: protect(table, method); a publication is read by Release.read_csv(path)",
    "Release": "; a Protected makes one: .release()",
    "function": "; a method is e.g. Suppress(Threshold(3)), a rule Threshold(3), made with its parameters",
}


@dataclass(frozen=True)
class Kind:
    """What a value may be: a test, and the words for it."""

    holds: Callable[[Any], bool]
    words: str
    choices: tuple[str, ...] = ()

    def hint(self, value: Any) -> str:
        """What to do instead."""
        if self.choices and isinstance(value, str):
            return f"; {nearest(value, self.choices)}"
        if "text" in self.words and isinstance(value, (str, list, tuple, dict)):
            if "\\ud" in ascii(value):
                return "; a lone surrogate is half a character"
            if isinstance(value, (list, tuple)) and any(is_whole(item) for item in value):
                return "; a column called by a number is named as text: '0'"
        fitting = [name for name in HINTS if f"a {name}" in self.words]
        if fitting == ["function"] and not isinstance(value, (str, type)):  # not a name or class of ours
            return ""
        return HINTS[fitting[0]] if fitting else ""


def told(name: str, value: Any) -> str:
    """An argument as it may be repeated in a message: a short value itself, of anything else its kind.

    >>> told("n", 3.5), told("table", [1, 2])
    ('n=3.5', 'table (a list)')
    """
    if value is None or isinstance(value, (bool, float)) or (is_whole(value) and abs(value) < 1e15):
        return f"{name}={value}"
    if isinstance(value, str) and len(value) <= 40:
        return f"{name}={value!a}"
    if isinstance(value, type):
        return f"{name} (the class {value.__name__})"
    kind = type(value).__name__
    return f"{name} ({'an' if kind[:1] in 'AEIOUaeiou' else 'a'} {kind})"


def is_whole(value: Any) -> bool:
    """A whole number; True and False are none."""
    if type(value) is int:  # by far the most
        return abs(value) < LARGEST
    return not isinstance(value, (bool, np.bool_)) and isinstance(value, Integral) and abs(int(value)) < LARGEST


def is_number(value: Any) -> bool:
    """A real number, finite or not, but not NaN."""
    if type(value) is float:
        return value == value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:  # a whole number past every float
        return False


def is_text(value: Any) -> bool:
    """Text that can be written down: no lone surrogates, which are half of a character."""
    if not isinstance(value, str):
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def is_function(value: Any) -> TypeGuard[Callable[..., Any]]:
    """Something to call, made with its parameters: a class is not."""
    return callable(value) and not isinstance(value, type)


def _is_array(value: Any) -> bool:
    if type(value) is np.ndarray:
        return True
    if hasattr(value, "columns"):  # a frame has names and kinds of columns, which an array has not
        return False
    return isinstance(value, (np.ndarray, list, tuple)) or hasattr(value, "__array__")


def _is_finite(value: Any) -> bool:
    return is_number(value) and not math.isinf(value)


def _is_path(value: Any) -> bool:
    return isinstance(value, os.PathLike)


NOTHING = Kind(lambda value: value is None, "None")
PLAIN: dict[Any, Kind] = {
    None: NOTHING,
    type(None): NOTHING,
    int: Kind(is_whole, "a whole number"),
    float: Kind(_is_finite, "a finite number"),
    Unbounded: Kind(is_number, "a number"),
    bool: Kind(_is_flag, "True or False"),
    str: Kind(is_text, "text"),
    bytes: Kind(lambda value: isinstance(value, bytes), "bytes"),
    np.ndarray: Kind(_is_array, "an array"),
}


def kind_of(annotation: Any, names: Mapping[str, Any]) -> Kind | None:
    """The kind that an annotation names, or None if it allows anything; ``names`` are those of its module.

    >>> kind_of("int | None", {}).words
    'a whole number or None'
    """
    if isinstance(annotation, str):
        return _of_tree(ast.parse(annotation, mode="eval").body, names)
    return _of_object(annotation)


def _of_tree(node: ast.expr, names: Mapping[str, Any]) -> Kind | None:
    if isinstance(node, ast.BinOp):
        return _either([_of_tree(node.left, names), _of_tree(node.right, names)])
    text = ast.unparse(node)
    try:
        return _of_object(eval(text, dict(names)))
    except NameError:  # imported for the type checker only
        if isinstance(node, ast.Subscript):
            return _of_tree(node.value, names)
    return _named(text.rpartition(".")[2])


def _of_object(annotation: Any) -> Kind | None:
    if isinstance(annotation, str):
        return _named(annotation)
    try:
        if annotation in PLAIN:
            return PLAIN[annotation]
    except TypeError:
        return None
    origin, inside = get_origin(annotation), get_args(annotation)
    if annotation in (Any, object, inspect.Parameter.empty) or isinstance(annotation, TypeVar):
        return None
    if origin in (Union, types.UnionType):
        return _either([_of_object(part) for part in inside])
    if origin is Literal:
        return Kind(
            lambda value: isinstance(value, type(inside[0])) and value in inside,
            f"one of {listed(inside)}",
            tuple(i for i in inside if isinstance(i, str)),
        )
    if origin is Annotated:
        return _of_object(inside[0])
    plain = origin or annotation
    if plain is np.ndarray:
        return PLAIN[np.ndarray]
    if isinstance(plain, type):
        return _of_class(plain, inside)
    return None


def _of_class(kind: type, inside: tuple[Any, ...]) -> Kind | None:
    if getattr(kind, "_is_protocol", False):
        return None
    if kind.__name__ == "Callable":
        return Kind(is_function, "a function")
    if issubclass(kind, os.PathLike):
        return Kind(_is_path, "a path")
    if issubclass(kind, Mapping):
        return _pairs(*(_of_object(part) for part in inside)) if len(inside) == 2 else _pairs(None, None)
    if issubclass(kind, Collection) and not issubclass(kind, (str, bytes)):
        items = [_of_object(part) for part in inside if part is not Ellipsis]
        return _several(_either(items) if items else None, sized=True)
    if kind.__name__ in ("Iterable", "Iterator"):
        return _several(_of_object(inside[0]) if inside else None, sized=False)
    return Kind(lambda value: isinstance(value, kind), f"a {kind.__name__}")


def _several(item: Kind | None, *, sized: bool) -> Kind:
    def holds(value: Any) -> bool:
        if type(value) in (list, tuple):  # by far the most, and tables are full of them
            return item is None or all(map(item.holds, value))
        if isinstance(value, str) and item is None and not sized:
            return True  # each letter an item
        if not sized and not isinstance(value, (list, tuple)):  # perhaps good for one pass only
            return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, type))
        if isinstance(value, (str, bytes, type, Mapping, Set)) or hasattr(value, "columns"):  # a frame is no list
            return False
        if not (hasattr(value, "__iter__") and hasattr(value, "__len__")):
            return False
        return item is None or all(map(item.holds, value))

    return Kind(holds, "a list" if item is None else f"a list (each {item.words})")


def _pairs(key: Kind | None, item: Kind | None) -> Kind:
    def holds(value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        return (key is None or all(map(key.holds, value))) and (item is None or all(map(item.holds, value.values())))

    words = " to ".join(kind.words if kind else "anything" for kind in (key, item)) if key or item else ""
    return Kind(holds, f"a dict ({words})" if words else "a dict")


def _named(name: str) -> Kind:
    """A class that is not loaded here: known by its name."""
    plain = {kind.__name__: allowed for kind, allowed in PLAIN.items() if isinstance(kind, type)}
    if name in plain:
        return plain[name]
    return Kind(lambda value: any(c.__name__ == name for c in type(value).__mro__), f"a {name}")


def _either(kinds: Sequence[Kind | None]) -> Kind | None:
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    words = list(dict.fromkeys(word for kind in known for word in kind.words.split(" or ")))
    if len(known) == 1:
        return known[0]
    choices = tuple(c for kind in known for c in kind.choices)
    tests = tuple(kind.holds for kind in known)

    def holds(value: Any) -> bool:
        for test in tests:  # noqa: SIM110 - a generator costs more than the tests
            if test(value):
                return True
        return False

    return Kind(holds, " or ".join(words), choices)
