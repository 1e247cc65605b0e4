"""The reference: every public callable has an example that runs, and says what its parameters mean."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
from enum import Enum
from pathlib import Path
from typing import Any

import griffe
import pytest

import discreet as dc

ROOT = Path(__file__).parents[1]
THEME = ROOT / "docs" / "theme"
CALLABLES = sorted(name for name in dc.__all__ if callable(getattr(dc, name)))


def of_the_reference() -> dict[str, Any]:
    """Every class and function of the package root and of the pages of the reference, by its name."""
    names = {f"discreet.{name}" for name in CALLABLES}
    for page in (ROOT / "docs" / "api").glob("*.md"):
        names |= set(re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.M))
    parts = [name.rpartition(".") for name in sorted(names)]
    return {
        f"{home}.{word}".removeprefix("discreet."): getattr(importlib.import_module(home), word)
        for home, _, word in parts
    }


def methods_of(kind: type) -> dict[str, Any]:
    """The public methods of a class, those that it has from other classes of this package among them."""
    found: dict[str, Any] = {}
    for owner in kind.__mro__:
        if owner.__module__.startswith("discreet"):
            for word, one in vars(owner).items():
                function = one.__func__ if isinstance(one, (classmethod, staticmethod)) else one
                if inspect.isfunction(function) and not word.startswith("_"):
                    found.setdefault(word, function)
    return found


def has_example(item: Any) -> bool:
    """Whether a docstring has code with what it prints, which the run of all doctests executes."""
    return any(example.want for example in doctest.DocTestParser().get_examples(item.__doc__ or ""))


REFERENCE = of_the_reference()


@pytest.mark.parametrize("name", REFERENCE)
def test_a_public_callable_has_an_example(name: str) -> None:
    """In its own docstring; imports alone are none."""
    assert callable(REFERENCE[name])
    assert has_example(REFERENCE[name])


@pytest.mark.parametrize("name", [name for name, item in REFERENCE.items() if isinstance(item, type)])
def test_every_method_has_an_example(name: str) -> None:
    """Each public method of each public class, in its own docstring."""
    assert [word for word, method in methods_of(REFERENCE[name]).items() if not has_example(method)] == []


def test_methods_without_an_example_are_noticed() -> None:
    """The law above can fail: for class methods and inherited ones, too; code that prints nothing is no example."""

    class Parent:
        def told(self) -> None:
            """Nothing.

            >>> import math
            """

    class Child(Parent):
        @classmethod
        def made(cls) -> None:
            """Nothing."""

        def shown(self) -> None:
            """One.

            >>> 1
            1
            """

    Parent.__module__ = Child.__module__ = "discreet.made_up"
    assert {word: has_example(method) for word, method in methods_of(Child).items()} == {
        "made": False,
        "shown": True,
        "told": False,
    }
    assert len(REFERENCE) > 250
    assert sum(len(methods_of(item)) for item in REFERENCE.values() if isinstance(item, type)) > 200


@pytest.fixture(scope="module")
def theme() -> Any:
    """The module that writes the tables of parameters for the site."""
    spec = importlib.util.spec_from_file_location("discreet_parameters", THEME / "parameters.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def package() -> Any:
    """The package as the site reads it, with the tables below the docstrings."""
    names = ("dataclasses", str(THEME / "docstrings.py"), str(THEME / "parameters.py"))
    source = Path(dc.__file__).parents[1]
    return griffe.load("discreet", search_paths=[source], extensions=griffe.load_extensions(*names))


def page_item(package: Any, item: Any) -> Any:
    """What the site shows of a class, function or method, wherever it is defined."""
    return package[f"{item.__module__}.{item.__qualname__}".removeprefix("discreet.")]


def parameter_names(item: Any) -> list[str]:
    """Parameters that a user may give; members of an enumeration are not made by users, most errors take words only."""
    if isinstance(item, type) and (
        issubclass(item, Enum) or (issubclass(item, Exception) and "__init__" not in vars(item))
    ):
        return []
    names = inspect.signature(item).parameters
    return [one for one in names if one not in ("self", "cls") and not one.startswith("_")]


def table_of(package: Any, item: Any) -> list[list[str]]:
    """The rows of the table of parameters below a docstring."""
    table = page_item(package, item).docstring.value.partition("**Parameters**")[2]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| `")]


def with_methods(item: Any) -> list[Any]:
    """A callable and, of a class, its methods."""
    return [item, *(methods_of(item).values() if isinstance(item, type) else ())]


@pytest.mark.parametrize("name", REFERENCE)
def test_a_table_says_what_every_parameter_means(name: str, package: Any) -> None:
    """One row a parameter of the signature, in its order, none without a meaning; of methods, too."""
    for item in with_methods(REFERENCE[name]):
        rows = table_of(package, item)
        assert [row[0].strip(" `*") for row in rows] == parameter_names(item), item.__qualname__
        assert all(len(row) == 4 and row[3].strip() for row in rows), item.__qualname__


def test_defaults_are_in_the_table(package: Any) -> None:
    """The third column is what stands in the signature."""
    rows = table_of(package, dc.Dimension.from_hrc)
    assert [(row[0].strip(" `"), row[2].strip(" `")) for row in rows] == [
        ("source", ""),
        ("name", ""),
        ("leader", "'@'"),
        ("total", "'Total'"),
        ("labels", "None"),
    ]


def test_no_words_are_left_for_a_parameter_that_is_gone(theme: Any, package: Any) -> None:
    """Words of the reference are about parameters that exist."""
    signatures: dict[str, set[str]] = {}
    for item in REFERENCE.values():
        for one in with_methods(item):
            for key in ("any", *theme.keys_of(page_item(package, one))):
                signatures.setdefault(key, set()).update(parameter_names(one))
    for key, words in theme.WORDS.items():
        assert set(words) <= signatures.get(key, set()), key


def test_a_parameter_nobody_explains_has_no_meaning(theme: Any) -> None:
    """The law above can fail: words of one callable or sentence do not serve another."""
    code = 'def grid(d, name):\n    """Noise. At most ``d`` away. Totals differ."""\n'
    with griffe.temporary_visited_module(code) as module:
        function = module["grid"]
        assert theme.meaning(function, "d") == "At most ``d`` away."
        assert theme.meaning(function, "name") == theme.WORDS["grid"]["name"]
        assert theme.meaning(function, "name", {}) == ""  # what is not of the package root
        assert theme.meaning(function, "other") == ""
