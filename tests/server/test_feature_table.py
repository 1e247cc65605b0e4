"""The table of features beside other portals: what it says of discreet is what a test shows, row by row."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.server.languages import LANGUAGES, translations_of
from tests import servers

ROOT = Path(__file__).parents[2]
HERE = "server/test_feature_table.py"
NO = "–"
SHOWN_BY: dict[str, tuple[str, ...]] = {
    "any table of the records, made when it is asked": (
        "server/test_api.py::test_the_three_doors_give_the_same_bytes",
        "browser/test_choosing.py::test_the_whole_journey",
    ),
    "each table judged and protected when it is made": (
        "server/test_refusals.py::test_every_refusal_is_recorded",
        "server/guarding/test_guard.py::test_a_verdict_is_one_of_protected_counts",
    ),
    "protects against differences to earlier answers": (
        "server/guarding/test_guard.py::test_populations_that_differ_by_a_few_people_are_flagged",
        "server/guarding/test_guard.py::test_two_questions_at_the_same_moment_are_not_both_answered",
    ),
    "what is no longer possible is closed, with the reason": (
        "server/views/test_choices.py::test_what_is_offered_leads_to_an_allowed_table_and_what_is_closed_does_not",
        "browser/test_choosing.py::test_a_level_that_is_too_fine_is_closed",
    ),
    "nearest allowed tables with a refusal": (
        "server/pages/test_nearest_tables.py::test_what_is_offered_is_answered",
        "browser/test_choosing.py::test_a_refusal_leads_to_tables_that_are_allowed",
    ),
    "given for most areas where a few fail": (
        "policy/test_area_release.py::test_the_table_is_given_for_the_other_areas_and_names_those",
    ),
    "likely range of each number from the protection": (
        "methods/test_likely.py::test_a_range_holds_the_truth_nine_times_in_ten",
        "browser/test_viewer.py::test_ranges_are_told_where_one_reads",
    ),
    "sampling errors": ("policy/test_statistics.py::test_weighted_counts_and_their_standard_errors",),
    "sums, means, medians of amounts": (
        "policy/test_statistics.py::test_a_sum_is_the_method_on_the_table",
        "policy/test_statistics.py::test_means_and_ratios_are_protected_numbers_divided",
        "policy/test_statistics.py::test_quantiles_come_from_protected_bands",
        "server/views/test_page_measures.py::test_a_chosen_measure_is_in_the_address_and_in_the_numbers",
    ),
    "search in variables and categories": (
        "browser/test_choosing.py::test_variables_are_found_by_their_words",
        "browser/test_choosing.py::test_a_tree_of_many_categories",
    ),
    "rows, columns, layers moved by drag and by keys": (
        "browser/test_viewer.py::test_variables_are_moved_with_the_keyboard_and_by_drag",
    ),
    "percentages, sorting, folding in the page": (
        "browser/test_viewer.py::test_percentages_are_of_protected_numbers_and_have_ranges",
        "browser/test_viewer.py::test_rows_are_sorted_within_their_groups",
        "browser/test_viewer.py::test_groups_fold_and_unfold",
    ),
    "charts in the page": ("browser/test_charts.py::test_every_chart_names_all_categories_and_is_told_in_words",),
    "maps in the page": ("browser/test_charts.py::test_a_map_of_areas",),
    "own groups of categories as rows": (
        "browser/test_viewer.py::test_a_reader_makes_groups_of_categories",
        "methods/test_likely.py::test_the_range_of_a_sum_holds_the_truth_nine_times_in_ten",
    ),
    "several periods of the data in one table": (f"{HERE}::test_periods_are_a_variable",),
    "CSV, Excel": (
        "browser/test_result.py::test_downloads_are_the_bytes_of_the_api",
        f"{HERE}::test_every_format_that_is_named_is_served",
    ),
    "JSON-stat, SDMX, PX": (
        f"{HERE}::test_every_format_that_is_named_is_served",
        "server/portals/test_pxweb.py::test_the_dataset_is_json_stat",
        "server/portals/test_sdmx.py::test_a_small_dataflow_is_the_table_of_its_variables",
    ),
    "code for this table in the page": ("browser/test_take_away.py::test_the_code_gives_this_table",),
    "interface for programs without an account": ("server/test_api.py::test_the_three_doors_give_the_same_bytes",),
    "the table's address is permanent and needs no account": (
        "server/test_languages.py::test_a_permanent_link_of_the_first_version_still_leads_to_its_table",
    ),
    "short links": ("server/pages/test_short_links.py::test_a_short_address_leads_to_the_table_with_its_layout",),
    "saved tables": ("browser/test_choosing.py::test_a_table_is_saved_in_the_browser",),
    "languages of the page": (f"{HERE}::test_the_number_of_languages_is_that_of_the_table",),
    "works without script": (
        "browser/test_viewer.py::test_without_script_all_cells_are_on_pages",
        "browser/test_choosing.py::test_without_script_the_form_still_works",
    ),
    "open source": (f"{HERE}::test_the_licence_is_an_open_one",),
}


def claims() -> dict[str, str]:
    """Each row of the table with what it says of discreet."""
    lines = (ROOT / "docs" / "server.md").read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("| | discreet |"))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first + 2 :]]
    return {row[0]: row[1] for row in rows[: next(n for n, row in enumerate(rows) if len(row) < 3)]}


def test_every_claim_has_a_test_and_nothing_that_is_tested_is_denied() -> None:
    """So that a row cannot be added, or turned into a yes, without something that shows it."""
    assert {name for name, said in claims().items() if said != NO} == set(SHOWN_BY)
    assert len(claims()) > len(SHOWN_BY)  # what it does not do is in the table, too


@pytest.mark.parametrize("claim", SHOWN_BY)
def test_what_shows_a_claim_is_there(claim: str) -> None:
    """A function of that name in that file; whether it passes is seen where it runs."""
    for place in SHOWN_BY[claim]:
        file, name = place.split("::")
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, place


def test_periods_are_a_variable() -> None:
    """Of records that have one, in a table with others."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"year": rng.choice(["2024", "2025"], 900), "sex": rng.choice(["f", "m"], 900)})
    policy = dc.policy.parse_policy('[[method]]\nname = "random-round"\nbase = 5\nseed = 1')
    years, sexes = dc.Dimension.flat("year", ["2024", "2025"]), dc.Dimension.flat("sex", ["f", "m"])
    book = dc.Codebook(dimensions=(years, sexes))
    release = dc.answer(dc.Microdata.read(people, book), "year, sex", policy)
    assert len(release) == 9


def test_every_format_that_is_named_is_served(tmp_path: Path) -> None:
    """CSV, Excel, JSON-stat, SDMX-CSV and PX of one table, to somebody without an account."""
    assert claims()["JSON-stat, SDMX, PX"] == "all three"
    begins = {".csv": b"sex", ".xlsx": b"PK", ".json": b"{", ".sdmx.csv": b"STRUCTURE", ".px": b"CHARSET"}
    with servers.client(tmp_path) as client:
        for suffix, beginning in begins.items():
            answer = client.get(f"/api/table{suffix}?variables=sex")
            assert answer.status_code == 200
            assert answer.content.lstrip(b"\xef\xbb\xbf").startswith(beginning), suffix


def test_the_number_of_languages_is_that_of_the_table() -> None:
    """Each with a catalogue."""
    assert claims()["languages of the page"] == str(len(LANGUAGES))
    assert all(translations_of(code) for code in LANGUAGES if code != "en")


def test_the_licence_is_an_open_one() -> None:
    """As the package states it, and the text is there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] in ("MIT", "BSD-3-Clause", "Apache-2.0", "EUPL-1.2", "GPL-3.0-or-later")
    assert (ROOT / "LICENSE").is_file()
