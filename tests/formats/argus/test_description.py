"""Descriptions (.rda): what they say of each variable, and one line about what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import (
    InputError,
)  # fmt: skip
from discreet.formats import argus
from discreet.formats.argus.description import parse_description


def test_a_description_says_what_each_variable_is(folder: Path) -> None:
    """Place, purpose, missing codes, decimals; keywords without a use here are passed over."""
    about = argus.read_description(folder / "firms.rda")
    assert about.separator == ""
    assert [(v.name, v.kinds, v.start, v.width) for v in about.variables][:3] == [
        ("Branch", ("category",), 1, 3),
        ("Area", ("category",), 4, 2),
        ("Firm", ("holding",), 6, 2),
    ]
    branch, area = about.of_kind("category")
    assert (branch.levels, branch.missing, area.total, area.missing) == ((1, 2), ("999",), "All", ("99",))
    assert about.one("request").requests == ("1", "2")  # type: ignore[union-attr]
    assert about.one("shadow") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Sex 1 1\n<RECODEBLE>", r"x.rda, line 2: unknown keyword <RECODEBLE>; did you mean 'RECODEABLE'"),
        ("<RECODEABLE>", "line 1: <RECODEABLE> stands before the first variable"),
        ("Sex 1\n<RECODEABLE>", "line 1: the variable named here needs its first column and width"),
        ("<SEPARATOR> ;\nSex\n<RECODEABLE>", "line 2: the variable named here needs its width"),
        ("<SEPARATOR>\nSex 1\n", "line 1: <SEPARATOR> needs a value"),
        ('<SEPARATOR> "ab"\nSex 1\n', "line 1: <SEPARATOR> is a single visible sign"),
        ("<SPSS>\nSex 1 1\n<RECODEABLE>", "line 1: .*SPSS"),
        ("Pay 1 5\n<NUMERIC>", "no variable is <RECODEABLE>"),
        ("Sex 1 3\n<RECODEABLE>\n<HIERLEVELS> 1 1", "line 3: <HIERLEVELS> of 'Sex' add up to 2, not 3"),
        ("Sex 1 3\n<RECODEABLE>\n<DECIMALS> x", "line 3: <DECIMALS> takes whole numbers"),
        ("Sex 1 3\n<RECODEABLE>\n<TOTCODE>", "line 3: <TOTCODE> needs a value"),
        ("Sex 1 1\n<RECODEABLE>\nSex 2 1", "more than one variable is called 'Sex'"),
        ("Sex 1 1" + "0" * 40 + "\n<RECODEABLE>", "needs its first column and width"),
    ],
)
def test_a_wrong_description_is_named_with_its_line(text: str, says: str) -> None:
    """The file, the line, and what to write instead."""
    with pytest.raises(InputError, match=says):
        parse_description(text, Path("x.rda"))
