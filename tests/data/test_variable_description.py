"""Variables in words: read from a codebook, written back, completed by what holds for all, and never counted with."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.data.codebook import Codebook, parse_codebook
from discreet.data.dimension import Dimension
from discreet.data.variable_description import VariableDescription
from tests import servers

BOOK = """
title = "Firms"
source = "Business register"
universe = "Firms with employees"
date = "2024"

[[dimension]]
name = "nace"
label = "Economic activity"
definition = "The class of the main activity."
source = "Survey"
level_labels = { "level 1" = "Sections" }
prefix = { codes = ["A01", "A02", "B05"], lengths = [1] }

[[dimension]]
name = "size"
codes = ["small", "large"]
"""


def test_a_codebook_describes_its_variables() -> None:
    """What one variable states, else what the data state; reading what was written gives the same."""
    book = parse_codebook(BOOK)
    for one in (book, parse_codebook(book.to_toml())):
        nace, size = one.dimensions
        assert nace.title == "Economic activity"
        assert nace.description == VariableDescription(
            "Economic activity", "The class of the main activity.", "Firms with employees", "Survey", "2024",
            {"level 1": "Sections"},
        )  # fmt: skip
        assert size.title == "size"
        assert size.description.texts == {
            "universe": "Firms with employees", "source": "Business register", "date": "2024",
        }  # fmt: skip
    assert book.to_toml().count("Business register") == 1


def test_words_do_not_make_another_variable() -> None:
    """Two dimensions of the same codes are equal, whatever is said of them."""
    plain = Dimension.flat("size", ["small", "large"])
    described = parse_codebook(BOOK).dimension("size")
    assert plain == described
    assert hash(plain) == hash(described)


def test_a_label_is_of_a_level_that_exists() -> None:
    """A slip is an error with its line and the nearest name."""
    with pytest.raises(dc.InputError, match=r"line 7.*no level 'level 2'.*'level 1'"):
        parse_codebook(BOOK.replace('"level 1" =', '"level 2" ='), source="book.toml")


def test_the_census_says_what_its_variables_are() -> None:
    """Every variable has a label and a definition, and the data a universe, a source and a date."""
    for dimension in dc.datasets.census(100).dimensions:
        assert {"label", "definition", "universe", "source", "date"} <= set(dimension.description.texts)


def test_metadata_tell_the_words_and_the_hierarchy(tmp_path: Path) -> None:
    """What a page or a program needs to show a variable before it is asked."""
    with servers.client(tmp_path) as client:
        told = {v["name"]: v for v in client.get("/api/metadata").json()["variables"]}
    assert told["activity"]["label"] == "Current activity status"
    assert told["activity"]["universe"].startswith("Persons aged 15 to 74")
    assert told["age"]["universe"] == "All usual residents"
    assert told["age"]["parents"] == {}


def test_descriptions_are_kept_in_less_detail() -> None:
    """At a level, and with a category for missing values."""
    book = parse_codebook(BOOK)
    assert book.dimension("nace").at_level("level 1").title == "Economic activity"
    more = Codebook(dimensions=book.dimensions, missing={"size": "unknown"})
    assert more.dimension("size").description.source == "Business register"
