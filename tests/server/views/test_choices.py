"""What may still be added to a choice: what is offered leads to an allowed table, what is closed never does."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import discreet as dc
from discreet.errors import Refused
from discreet.policy import Policy, Query
from discreet.policy.answering import check_query
from discreet.policy.sections import CatalogueRules, QueryRules
from discreet.server.languages import LANGUAGES
from discreet.server.views.choices import IN_FILTER, IN_TABLE, Choices
from tests import servers

AREA = dc.Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S", "S2": "S", "S3": "S"})
FLAT = [dc.Dimension.flat(name, ["a", "b", "c"]) for name in ("sex", "job", "age")]
KNOWN = [AREA, *FLAT]
METHOD = (("random-round", {"seed": 1}),)
POLICIES = {
    "two variables": QueryRules(max_dimensions=2, max_filters=1),
    "few cells": QueryRules(max_dimensions=3, max_filters=2, max_cells=40),
    "forbidden": QueryRules(max_dimensions=3, forbidden=(("sex", "job"),)),
    "required": QueryRules(max_dimensions=2, required={"job": ("sex",), "age": ("sex", "job")}),
    "no filters": QueryRules(max_dimensions=4, max_filters=0),
    "one variable": QueryRules(max_dimensions=1, max_filters=1),
    "disallowed": QueryRules(disallowed=("age",)),
}


def allowed(query: Query, policy: Policy) -> bool:
    try:
        check_query(query.resolved(KNOWN), policy)
    except Refused:
        return False
    return True


def all_queries(policy: Policy) -> list[Query]:
    """Every table of the codebook that the rules allow, with one code of each level as a filter."""
    options: list[list[tuple[str, str, str]]] = []
    for d in KNOWN:
        levels = [level for level in d.levels if level != "total"]
        options.append(
            [("", d.name, "")]
            + [("shown", d.name, level) for level in levels]
            + [("only", d.name, d.level(level)[0]) for level in levels]
        )
    queries = []
    for parts in itertools.product(*options):
        shown = {name: what for kind, name, what in parts if kind == "shown"}
        only = {name: what for kind, name, what in parts if kind == "only"}
        if shown:
            queries.append(Query.of(shown, where=only or None))
    return [query for query in queries if allowed(query, policy)]


@pytest.mark.parametrize("rules", POLICIES.values(), ids=POLICIES)
def test_what_is_offered_leads_to_an_allowed_table_and_what_is_closed_does_not(rules: QueryRules) -> None:
    """For every choice that is part of an allowed table: tried against all tables of the codebook."""
    policy = Policy(query=rules, methods=METHOD)
    choices, reachable = Choices(KNOWN, policy), all_queries(policy)
    assert reachable
    shown = [set(query.variables) for query in reachable]
    only = [{(name, codes) for name, codes in query.where} for query in reachable]
    parts = {(query.variables[:k], query.where[:j]) for query in reachable for k in range(3) for j in range(2)}
    for variables, where in sorted(parts):
        for one in choices.options(variables, where):
            others = {pair for pair in variables if pair[0] != one.name}
            for level, reason in one.levels.items():
                wanted = {*others, (one.name, level)}
                possible = any(
                    wanted <= table and set(where) <= filters for table, filters in zip(shown, only, strict=True)
                )
                assert (reason == "") == (possible and one.name not in dict(where)), (variables, where, one, level)
            for level, reason in one.filters.items():
                code = next(d for d in KNOWN if d.name == one.name).level(level)[:1]
                wanted_only = {*(pair for pair in where if pair[0] != one.name), (one.name, code)}
                possible = any(
                    set(variables) <= table and wanted_only <= filters
                    for table, filters in zip(shown, only, strict=True)
                )
                assert (reason == "") == (possible and one.name not in dict(variables)), (variables, where, one, level)


def test_a_catalogue_closes_what_it_does_not_hold() -> None:
    """By variable and by level."""
    policy = Policy(methods=METHOD, catalogue=CatalogueRules(tables=(("area:level 1", "sex"), ("job",))))
    options = {one.name: one for one in Choices(KNOWN, policy).options((("sex", "sex"),), ())}
    assert options["area"].levels["level 1"] == ""
    assert "catalogue" in options["area"].levels["area"]
    assert "catalogue" in options["job"].levels["job"]


def test_a_variable_is_shown_or_restricts() -> None:
    """Not both, and the reason says so."""
    choices = Choices(KNOWN, Policy(query=QueryRules(max_dimensions=4, max_filters=2), methods=METHOD))
    options = {one.name: one for one in choices.options((("sex", "sex"),), (("area", ("N",)),))}
    assert set(options["sex"].filters.values()) == {IN_TABLE}
    assert set(options["area"].levels.values()) == {IN_FILTER}


def test_the_page_asks_for_what_is_possible(tmp_path: Path) -> None:
    """Nothing is counted or recorded; the reasons are in the language of the reader."""
    with servers.client(tmp_path) as client:
        told = client.get("/choices?v_sex=1&v_age=1&only_region=R1").json()
        assert told["cells"] == 66
        assert (told["chosen"], told["most"]) == (3, 3)
        assert told["variables"]["activity"]["levels"] == {"activity": "More than 3 variables are not allowed."}
        assert told["variables"]["sex"]["levels"] == {"sex": ""}
        german = client.get("/choices?v_sex=1&v_age=1&only_region=R1", headers={"Accept-Language": "de"}).json()
        assert german["variables"]["activity"]["levels"] == {"activity": "Mehr als 3 Merkmale sind nicht erlaubt."}
        assert client.get("/choices?v_nothing=1").status_code == 422
        assert client.app.state.service.store.last_answers(10) == []  # type: ignore[attr-defined]


def test_several_categories_are_one_filter(tmp_path: Path) -> None:
    """Where the policy allows it; codes with signs of addresses are quoted."""
    text = servers.policy_text(query="nested_only = false")
    with servers.client(tmp_path, text) as client:
        there = client.get("/go", params={"v_sex": "1", "only_age": '95-99+"100+"'}).headers["location"]
        assert there == "/table?variables=sex&where=age=%22100%2B%22%2B95-99"
        page = client.get(there)
        assert page.status_code == 200
        assert "Age: 100+ years, 95-99 years" in page.text
        assert "Several categories can be picked together" in page.text
        assert "Several categories can be picked together" in client.get("/").text


def test_groups_of_ones_own_stay_in_every_address_of_a_table(tmp_path: Path) -> None:
    """The permanent link, other languages and the form; what is written in them is never taken for HTML."""
    groups = 'sex:"<b>All</b>; ""mine"""=F%2BM'
    with servers.client(tmp_path) as client:
        page = client.get(f"/table?variables=sex&groups={groups}").text
        assert page.count("groups=sex:%22%3Cb%3EAll%3C%2Fb%3E;+%22%22mine%22%22%22=F%2BM") >= 2
        assert "<b>All" not in page
        assert page.count("&amp;groups=sex:%22%3Cb%3EAll") >= len(LANGUAGES)
        field = 'name="groups" value="sex:&#34;&lt;b&gt;All&lt;/b&gt;; &#34;&#34;mine&#34;&#34;&#34;=F+M"'
        assert field in page
        there = client.get(f"/go?v_sex=1&v_age=1&groups={groups}", follow_redirects=False).headers["location"]
        assert there.startswith("/table?variables=age,sex&groups=sex:%22%3Cb%3EAll")
        assert client.get("/api/table.csv?variables=sex&groups=sex:A=F%2BM").status_code == 422  # nothing to ask for


def test_the_page_says_where_groups_of_ones_own_are_made(tmp_path: Path) -> None:
    """Beside the table; and offers several categories only where the policy does."""
    with servers.client(tmp_path) as client:
        page = client.get("/").text
        assert "Groups of your own are made beside the finished table" in page
        assert "Several categories can be picked together" not in page
