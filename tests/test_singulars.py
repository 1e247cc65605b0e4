"""Messages of what is read have their singular: no number stands before a noun and a verb in the plural alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "discreet"
ROOMS = ("sheets", "in_place", "tables", "data", "cli")
_PLURAL = re.compile(
    r"\{[^{}]+:,\} (?:\w+ )?(?:cells|rows|lines|columns|entries|records|codes|totals|numbers|labels|percentages)"
    r"(?: of the \w+)? (?:are|have|hold|stand|repeat|do not|lie|follow)\b"
)


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_counted_is_named_by_one_function(room: str) -> None:
    """``many`` of ``discreet.errors``, with the verb where there is one."""
    lines = [line for path in (ROOT / room).rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    plural = [line for line in lines if _PLURAL.search(line) and not re.search(r"> 1 else| of \{[^{}]+:,\} ", line)]
    assert plural == []
