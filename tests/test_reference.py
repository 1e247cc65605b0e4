"""The reference: every public callable has an example that runs, and says what its parameters mean."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import re
from enum import Enum
from pathlib import Path
from typing import Any

import griffe
import pytest

import discreet as dc

THEME = Path(__file__).parents[1] / "docs" / "theme"
RESULTS = ("Audit", "Protected", "RiskReport", "RUMap")  # what users call methods of, the most
CALLABLES = sorted(name for name in dc.__all__ if callable(getattr(dc, name)))


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_callable_has_an_example(name: str) -> None:
    """In its own docstring, which the run of all doctests executes; imports alone are none."""
    item: Any = getattr(dc, name)
    examples = doctest.DocTestParser().get_examples(item.__doc__ or "")
    assert any(example.want for example in examples)


@pytest.mark.parametrize("name", RESULTS)
def test_every_method_of_a_result_has_an_example(name: str) -> None:
    """In its docstring or that of its class: summary, to_dict, plot and their like."""
    kind = getattr(dc, name)
    methods = {word for word, one in vars(kind).items() if inspect.isfunction(one) and not word.startswith("_")}
    parser = doctest.DocTestParser()
    of_class = "".join(example.source for example in parser.get_examples(kind.__doc__ or ""))
    own = {word for word in methods if parser.get_examples(getattr(kind, word).__doc__ or "")}
    assert methods
    assert methods - own - set(re.findall(r"\.(\w+)\(", of_class)) == set()


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


def page_item(package: Any, name: str) -> Any:
    """What the site shows of a public name, wherever it is defined."""
    module = getattr(dc, name).__module__
    return package[f"{module}.{name}".removeprefix("discreet.")]


def parameter_names(name: str) -> list[str]:
    """Parameters that a user may give; members of an enumeration are not made by users, most errors take words only."""
    item = getattr(dc, name)
    is_class = isinstance(item, type)
    if is_class and (issubclass(item, Enum) or (issubclass(item, Exception) and "__init__" not in vars(item))):
        return []
    return [one for one in inspect.signature(item).parameters if not one.startswith("_")]


@pytest.mark.parametrize("name", CALLABLES)
def test_a_table_says_what_every_parameter_means(name: str, package: Any) -> None:
    """One row a parameter of the signature, in its order, none without a meaning."""
    table = page_item(package, name).docstring.value.partition("**Parameters**")[2]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| `")]
    assert [row[0].strip(" `*") for row in rows] == parameter_names(name)
    assert all(len(row) == 4 and row[3].strip() for row in rows)


def test_no_words_are_left_for_a_parameter_that_is_gone(theme: Any) -> None:
    """Words of the reference are about parameters that exist."""
    signatures = {name: parameter_names(name) for name in CALLABLES}
    everywhere = {one for names in signatures.values() for one in names}
    assert set(theme.WORDS["any"]) <= everywhere
    for name, words in theme.WORDS.items():
        assert name == "any" or set(words) <= set(signatures[name]), name


def test_a_parameter_nobody_explains_has_no_meaning(theme: Any) -> None:
    """The law above can fail: words of one callable or sentence do not serve another."""
    code = 'def grid(d, name):\n    """Noise. At most ``d`` away. Totals differ."""\n'
    with griffe.temporary_visited_module(code) as module:
        function = module["grid"]
        assert theme.meaning(function, "d") == "At most ``d`` away."
        assert theme.meaning(function, "name") == theme.WORDS["grid"]["name"]
        assert theme.meaning(function, "name", {}) == ""  # what is not of the package root
        assert theme.meaning(function, "other") == ""
