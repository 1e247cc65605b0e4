"""The reference: every public callable has an example that runs, and says what its parameters mean."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

import discreet as dc

CALLABLES = sorted(name for name in dc.__all__ if callable(getattr(dc, name)))


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_callable_has_an_example(name: str) -> None:
    """In its own docstring, which the run of all doctests executes; imports alone are none."""
    item: Any = getattr(dc, name)
    examples = doctest.DocTestParser().get_examples(item.__doc__ or "")
    assert any(example.want for example in examples)
