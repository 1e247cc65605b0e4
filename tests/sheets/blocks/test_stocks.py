"""Stocks and flows: what is a stock is found, what is one by chance is read, and each message says how to go on."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli import run
from discreet.errors import InputError
from discreet.sheets.blocks.stocks import LEAST_IN_TIME, fitting_stocks
from discreet.sheets.reading_sheets import read_table

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")


def with_stock(flows: np.ndarray, start: int, others: np.ndarray, *, before: bool) -> np.ndarray:
    """Columns with a stock first, at the beginning of each row or at its end, and two flows behind it."""
    change = np.cumsum(flows[:, 0] - flows[:, 1])
    stock = start + (np.concatenate([[0], change[:-1]]) if before else change)
    return np.column_stack([stock, flows, others]).astype(float)


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(4, 12), st.integers(0, 5), st.booleans())
def test_a_stock_is_among_the_columns_that_fit(data: st.DataObject, rows: int, more: int, before: bool) -> None:
    """However small its flows, if three steps have both."""
    count = st.integers(1, 40)
    flows = np.array(data.draw(st.lists(st.tuples(count, count), min_size=rows, max_size=rows)))
    others = np.array(data.draw(st.lists(st.lists(count, min_size=more, max_size=more), min_size=rows, max_size=rows)))
    values = with_stock(flows, 500, others.reshape(rows, more), before=before)
    fits = fitting_stocks(values, np.zeros(values.shape, bool))
    assert 0 in {one.column for one in fits}


@pytest.mark.parametrize(("rows", "columns", "mean"), [(4, 12, 2), (4, 12, 30), (5, 12, 8), (6, 12, 8), (5, 12, 2)])
def test_numbers_of_no_stock_seldom_count_as_evidence(rows: int, columns: int, mean: int) -> None:
    """Many random tables of few rows have columns that fit; few of them fit beyond chance."""
    draw = np.random.default_rng(20)
    tables = [draw.poisson(mean, (rows, columns)).astype(float) for _ in range(300)]
    fits = [fitting_stocks(values, np.zeros(values.shape, bool)) for values in tables]
    beyond = [any(one.bits >= LEAST_IN_TIME for one in own) for own in fits]
    assert np.mean(beyond) <= 0.25
    if mean == 2:
        assert np.mean(beyond) < 0.1 < np.mean([bool(own) for own in fits])


@pytest.mark.parametrize(("rows", "columns", "mean"), [(6, 4, 8), (8, 8, 8), (8, 12, 30), (12, 12, 8)])
def test_stocks_without_a_name_count_as_evidence(rows: int, columns: int, mean: int) -> None:
    """In tables in which chance shows none."""
    draw = np.random.default_rng(21)
    for _ in range(100):
        flows, others = draw.poisson(mean, (rows, 2)), draw.poisson(mean, (rows, columns - 3))
        values = with_stock(flows, 500, others, before=False)
        fits = [one for one in fitting_stocks(values, np.zeros(values.shape, bool)) if one.column == 0]
        assert max(one.bits for one in fits) >= LEAST_IN_TIME


def sheet(path: Path, headers: list[str], values: np.ndarray, labels: tuple[str, ...] = MONTHS) -> Path:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["Period", *headers])
    for label, row in zip(labels, values.astype(int).tolist(), strict=False):
        book.worksheets[0].append([label, *row])
    book.save(path)
    return path


def test_a_stock_by_its_name_is_refused_however_little_shows_it(tmp_path: Path) -> None:
    """Twelve columns, four rows and flows of one or two; the message names what settles it, and that works."""
    draw = np.random.default_rng(22)
    flows = np.array([[1, 2], [2, 1], [1, 1], [2, 2]])
    values = with_stock(flows, 31, draw.integers(20, 60, (4, 5)), before=False)
    headers = ["Caseload", "New", "Left", *(f"Group {sign}" for sign in "PQRST")]
    path = sheet(tmp_path / "t.xlsx", headers, values)
    with pytest.raises(InputError, match="column B is a stock") as error:
        read_table(path)
    words = str(error.value)
    for option in ("--leave", "--measure"):
        flags = words[words.index(f"{option} ") :].partition(")")[0]
        assert run(
            ["protect", str(path), "--hide-under", "3", "--force", "--total", "column=", *shlex.split(flags)]
        ) in (0, 3)
    plain = sheet(tmp_path / "p.xlsx", [f"Group {sign}" for sign in "ABCPQRST"], values)
    read = read_table(plain, total={"column": None})
    assert any("may be stocks" in sentence for sentence in read.assumed)


def test_rows_of_places_need_more_to_be_a_stock(tmp_path: Path) -> None:
    """Months follow each other, areas do not."""
    draw = np.random.default_rng(23)
    values = with_stock(draw.poisson(9, (5, 2)), 200, draw.poisson(30, (5, 1)), before=True)
    headers = ["White", "Black", "Red", "Green"]
    with pytest.raises(InputError, match="is a stock"):
        read_table(sheet(tmp_path / "t.xlsx", headers, values), total={"column": None})
    total = np.column_stack([values, values.sum(axis=1)])
    added = sheet(tmp_path / "a.xlsx", [*headers, "Total"], total)
    assert read_table(added).dimensions[1].total == "Total"
    places = ("Abbey", "Brook", "Castle", "Dene", "Elm")
    assert (
        read_table(sheet(tmp_path / "p.xlsx", headers, values, places), total={"column": None}).table.n == values.sum()
    )
