"""Filters as text: whatever the codes are, the text reads back as them, in addresses, calls and options alike."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.option_texts import filters
from discreet.data.dimension import Dimension
from discreet.data.filters import filter_text, parse_filters
from discreet.errors import InputError
from discreet.policy import Query
from discreet.server.queries import address, query_from

WORDS = st.text(st.sampled_from('ab+|;="= \t\u00a0,%&') | st.characters(exclude_categories=["Cs"]), max_size=6)
CODES = st.lists(WORDS, min_size=1, max_size=3, unique=True)
POPULATIONS = st.dictionaries(WORDS, CODES, min_size=1, max_size=3)


@given(POPULATIONS, st.sampled_from(["+", "|"]), st.sampled_from([";", "; "]), st.data())
def test_any_codes_read_back(population: dict[str, list[str]], sign: str, between: str, data: st.DataObject) -> None:
    """Text of filters is read as the same names and codes, whatever other codes the codebook knows."""
    text = filter_text(list(population.items()), sign, between)
    others = data.draw(st.lists(WORDS, max_size=3))
    known = {name: {*codes, sign.join(codes), *others} for name, codes in population.items()}
    assert parse_filters(text, sign=sign, known=known) == population
    assert parse_filters(text, sign=sign) == population


@given(POPULATIONS)
def test_options_of_the_command_line_read_back(population: dict[str, list[str]]) -> None:
    """Each --where has one code; the same quotes hold."""
    texts = [filter_text([(name, [code])], "|") for name, codes in population.items() for code in codes]
    assert filters(texts) == population


@given(CODES)
def test_addresses_and_calls_ask_the_same(codes: list[str]) -> None:
    """The address of a query and its text are read as the query."""
    query = Query.of("sex", where={"size": codes})
    sent = parse_qs(address(query), keep_blank_values=True)
    dimension = Dimension.flat("size", ["a", "b", "a+b", "100+"])
    assert query_from([dimension], sent["variables"][0], sent["where"][0]) == query
    assert Query.of("sex", where=str(query).partition(" where ")[2]) == query


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('size="a;b"', ["a;b"]),
        ('size=" a "+b', [" a ", "b"]),
        ('size="5"" pipe"', ['5" pipe']),
        ('size=5" pipe', ['5" pipe']),
        ("size=100+", ["100+"]),
        ("size=a+b", ["a", "b"]),
        ('size="a+b"', ["a+b"]),
        ("size=>=65;", [">=65"]),
        ('size=""', [""]),
    ],
)
def test_what_the_signs_mean(text: str, codes: list[str]) -> None:
    """Quotes are read where a code begins with one; a code with a plus is itself unless its pieces are codes."""
    assert parse_filters(text, sign="+", known={"size": ["a", "b", "a+b", "100+"]}) == {"size": codes}


@pytest.mark.parametrize("text", ['size="a', 'size="a"b', 'size="a" "b"', '"size"', "size", 'size="a";size=b'])
def test_half_a_filter_is_an_error(text: str) -> None:
    """A quote that is not closed or is followed by more, a name alone, a name twice."""
    with pytest.raises(InputError, match=r"quote|VARIABLE=CODE|twice"):
        parse_filters(text, sign="+")
