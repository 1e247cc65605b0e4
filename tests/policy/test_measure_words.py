"""What an answer is about: subject, unit and labels, in every format that has a place for them."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.formats import to_bytes, write
from discreet.policy import Query, parse_policy

POLICY = """
[query]
max_dimensions = 3
[guard]
action = "refuse"
[[method]]
name = "cell-key"
d = 5
v = 3
seed = 3
[measures.pay]
label = "Pay in a year"
unit = "euros"
statistics = ["mean", "sum", "median", "per-hours"]
noise = { flex = 20000, seed = 3 }
bands = "band"
edges = [0, 10000, 15000, 20000, 25000, 30000, 35000, 40000, 50000, 60000, 80000, 120000, 1000000]
[measures.hours]
statistics = ["sum"]
noise = { flex = 2000, seed = 3 }
"""
SUFFIXES = (".csv", ".notes.csv", ".px", ".json", ".xlsx", ".html", ".parquet")


@pytest.fixture(scope="module")
def employees() -> dc.Microdata:
    """Employees with labels and units."""
    return dc.datasets.earnings(4000)


def asked(employees: dc.Microdata, variables: str, **query: str) -> dc.Release:
    return dc.policy.answer(employees, Query.of(variables, **query), parse_policy(POLICY))


@pytest.mark.parametrize(
    ("query", "subject", "unit"),
    [
        ({}, "Number of people, by County and Sex", "people"),
        ({"measure": "pay"}, "Pay in a year: sum (euros), by County and Sex", "euros"),
        ({"measure": "pay", "statistic": "mean"}, "Pay in a year: mean (euros), by County and Sex", "euros"),
        ({"measure": "pay", "statistic": "median"}, "Pay in a year: median (euros), by County and Sex", "euros"),
        ({"measure": "pay", "statistic": "per-hours"}, "Pay in a year per hours (euros), by County and Sex", "euros"),
        ({"measure": "hours"}, "hours: sum, by County and Sex", ""),
        ({"statistic": "percent"}, "Number of people: percent of the table, by County and Sex", "percent"),
        (
            {"statistic": "rate-sex"},
            "Number of people: per 1,000 of the total of Sex, by County and Sex",
            "per 1,000",
        ),
    ],
)
def test_an_answer_says_what_it_is(employees: dc.Microdata, query: dict[str, str], subject: str, unit: str) -> None:
    """Measure, statistic, unit and variables, whatever is asked."""
    words = asked(employees, "county:level 1,sex", **query).words
    assert words.subject == subject
    assert [words.unit(name) for name in asked(employees, "county:level 1,sex", **query).values] == [unit]


def test_a_unit_of_the_codebook_is_taken_where_the_policy_states_none(employees: dc.Microdata) -> None:
    """What the policy says comes first."""
    book = employees.codebook
    named = replace(book, magnitudes=tuple(replace(one, unit=f"{one.name} unit") for one in book.magnitudes))
    data = replace(employees, codebook=named)
    assert asked(data, "sex", measure="hours").words.units == {"hours": "hours unit"}
    assert asked(data, "sex", measure="pay").words.units == {"pay": "euros"}


def test_the_population_is_told_in_labels(employees: dc.Microdata) -> None:
    """In the subject and in the note."""
    release = asked(employees, "sex", where="county=C", measure="pay", statistic="mean")
    assert release.words.subject == "Pay in a year: mean (euros), by Sex; County = Capital region"
    assert "Population: County = Capital region." in release.notes


def test_every_format_has_title_unit_and_labels(employees: dc.Microdata) -> None:
    """Where the format has its place for them; plain CSV has codes alone."""
    release = asked(employees, "county:level 1,sex", measure="pay", statistic="mean")
    title = "Earnings of employees. Pay in a year: mean (euros), by County and Sex"
    stat = json.loads(to_bytes(release, "json-stat"))
    assert (stat["label"], stat["dimension"]["county"]["label"]) == (title, "County")
    category = stat["dimension"]["measure"]["category"]
    assert category["label"] == {"mean pay": "Pay in a year: mean"}
    assert category["unit"]["mean pay"]["label"] == "euros"
    px = to_bytes(release, "px").decode()
    for line in (f'TITLE="{title}"', 'CONTENTS="Pay in a year: mean"', 'UNITS="euros"', 'STUB="County"',
                 'VARIABLECODE("County")="county"', 'SUBJECT-AREA="Earnings of employees"'):  # fmt: skip
        assert f"\n{line};" in px, line
    book = openpyxl.load_workbook(io.BytesIO(to_bytes(release, "xlsx")))
    assert book["About"]["A1"].value == title
    sheet = book.worksheets[1]
    assert (sheet["A1"].value, sheet["A3"].value, sheet["B3"].value) == (
        "Pay in a year: mean (euros)", "County", "Sex",
    )  # fmt: skip
    page = to_bytes(release, "html").decode()
    assert f"<h1>{title}</h1>" in page
    assert "<caption>Pay in a year: mean (euros)</caption>" in page
    assert '<th scope="col">County by Sex</th>' in page
    noted = to_bytes(release, "csv-notes").decode()
    for line in (f"# title: {title}", "# unit: euros", "# variable: county = County"):
        assert line in noted.split("\r\n")
    head, first = to_bytes(release, "sdmx-csv").decode().splitlines()[:2]
    assert "UNIT_MEASURE" in head.split(",")
    assert title in first
    assert first.endswith(",euros")
    columns = json.loads(to_bytes(release, "csvw"))["tableSchema"]["columns"]
    assert [one.get("dc:title") for one in columns] == ["County", "Sex", "Pay in a year: mean", None]
    assert [one.get("schema:unitText") for one in columns] == [None, None, "euros", None]
    field = pq.read_schema(io.BytesIO(to_bytes(release, "parquet"))).field("mean pay")
    assert (field.metadata[b"label"], field.metadata[b"unit"]) == (b"Pay in a year: mean", b"euros")
    assert not re.search("euro|County", to_bytes(release, "csv").decode())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_labels_do_not_hide_the_names(employees: dc.Microdata, tmp_path: Path, suffix: str) -> None:
    """Whoever reads a file back has the names of variables and measures that the query had."""
    release = asked(employees, "county:level 1,sex,age", measure="pay", statistic="mean")
    path = write(release, tmp_path / f"t{suffix}")
    again = dc.Release.read(path, measures=1 if suffix.endswith("csv") else None)
    assert [d.name for d in again.dimensions] == ["county", "sex", "age"]
    assert [*again.values] == ["mean pay"]
    assert len(again) == len(release)
