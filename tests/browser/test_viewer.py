"""The viewer of a table in a real browser: layout, folding, sorting, percentages, ranges, keys, and 100,000 cells."""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

import discreet as dc
from discreet.server.counting import cube
from tests import servers
from tests.browser.looking import accessible

AREAS = {f"A{d:02}{k:02}": f"D{d:02}" for d in range(25) for k in range(40)}
ROUNDED = '[[method]]\nname = "random-round"\nbase = 5\n'
Scheme = Literal["light", "dark"]
SCREENS: tuple[tuple[Scheme, int], ...] = (("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390))
LARGE = "/table?variables=age,area,sex&rows=area&columns=age,sex"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of 1,000 areas in 25 districts by age and sex: a table of about 100,000 cells."""
    folder = tmp_path_factory.mktemp("viewer")
    rng = np.random.default_rng(5)
    n = 200_000
    ages = [f"{a}-{a + 2} years" for a in range(0, 90, 3)]
    frame = pd.DataFrame(
        {
            "area": rng.choice(list(AREAS), n),
            "age": rng.choice(ages, n),
            "sex": rng.choice(["f", "m"], n),
            "key": rng.integers(0, 2**31, n),
        }
    )
    dimensions = (
        dc.Dimension.from_parents("area", AREAS),
        dc.Dimension.flat("age", ages),
        dc.Dimension.flat("sex", ["f", "m"], labels={"f": "Women", "m": "Men"}),
    )
    book = dc.Codebook(dimensions=dimensions, key="key", title="People of 25 districts")
    cube.build(dc.Microdata.read(frame, book), folder / "cube")
    with servers.running(folder, servers.policy_text(method=ROUNDED), data=folder / "cube") as found:
        yield found


def ready(page: Page, place: str) -> None:
    """The page with its viewer."""
    page.goto(place)
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()


def told(page: Page, query: str) -> dict[tuple[str, ...], int]:
    """The numbers of the API by the codes of their cells."""
    rows = csv.reader(io.StringIO(page.request.get(f"/api/table.csv?{query}").text()))
    next(rows)
    return {tuple(row[:-2]): int(row[-2]) for row in rows}


def number(page: Page, row: int, column: int) -> int:
    """What stands in a cell."""
    text = page.locator(f"td[data-r='{row}'][data-c='{column}'] .number").inner_text()
    return int(text.replace(",", ""))


def test_a_table_opens_on_its_totals_and_names_everything(page: Page, pictures: Path) -> None:
    """Total first in rows, columns and layers; the heading names the variables and the layer."""
    ready(page, "/table?variables=age,area,sex&rows=age&columns=area&layers=sex")
    expect(page.get_by_role("heading", level=2).first).to_have_text(
        "People of 25 districts: age × area; sex: Total", use_inner_text=True
    )
    assert page.locator("#viewer tbody th").first.inner_text().startswith("Total")
    numbers = told(page, "variables=age,area,sex")
    assert number(page, 0, 0) == numbers["Total", "Total", "Total"]
    page.locator(".axes select").select_option(label="Women")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("sex: Women")
    assert number(page, 0, 0) == numbers["Total", "Total", "f"]
    page.screenshot(path=pictures / "viewer.png")


def test_100000_cells_are_drawn_as_they_come_into_sight(page: Page, pictures: Path) -> None:
    """Few elements whatever the size, the whole number of rows and columns told, and the last cell is right."""
    ready(page, LARGE)
    grid = page.get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == str(1026 + 2)
    assert grid.get_attribute("aria-colcount") == str(31 * 3 + 1)
    assert page.locator("#viewer td").count() < 3_000
    numbers = told(page, "variables=age,area,sex")
    assert len(numbers) == 1026 * 93
    page.locator("td[data-r='0'][data-c='0']").focus()
    start = time.monotonic()
    page.keyboard.press("Control+End")
    last = page.locator("td[data-r='1025'][data-c='92']")
    expect(last).to_be_focused()
    assert time.monotonic() - start < 20
    assert int(last.locator(".number").inner_text()) == numbers["A2439", "87-89 years", "m"]
    head = page.locator("#viewer thead tr").last.locator("th").last
    assert head.is_visible()
    page.screenshot(path=pictures / "viewer-large.png")
    page.keyboard.press("Control+Home")
    expect(page.locator("td[data-r='0'][data-c='0']")).to_be_focused()


def test_groups_fold_and_unfold(page: Page) -> None:
    """By mouse and by keys; what is below is gone, the group and its number stay. A column of a group sorts, too."""
    ready(page, "/table?variables=area,sex")
    grid = page.get_by_role("grid")
    page.get_by_role("button", name="Fold D00").click()
    assert grid.get_attribute("aria-rowcount") == str(1026 - 40 + 1)
    expect(page.get_by_role("button", name="Unfold D00")).to_have_attribute("aria-expanded", "false")
    names = page.locator("#viewer tbody th .name").all_inner_texts()
    assert names[:3] == ["Total", "D00", "D01"]
    page.locator("th[data-r='1'][data-c='-1']").focus()
    page.keyboard.press("Enter")
    assert grid.get_attribute("aria-rowcount") == str(1026 + 1)
    ready(page, "/table?variables=area,sex&rows=sex&columns=area")
    expect(page.locator(".grid-box.more-right:not(.more-below)")).to_be_visible()  # there is more than is in sight
    head = page.locator("th[data-r='-1'][data-c='1']")
    page.locator("td[data-r='0'][data-c='1']").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    page.keyboard.press("Space")
    expect(head.get_by_role("button", name="Unfold D00")).to_be_visible()
    assert grid.get_attribute("aria-colcount") == str(1026 - 40 + 1)
    page.keyboard.press("Control+End")
    expect(page.locator(".grid-box.more-right")).to_have_count(0)


def test_rows_are_sorted_within_their_groups(page: Page) -> None:
    """Down, up, and as it was; the total stays on top."""
    ready(page, "/table?variables=age,sex")
    before = page.locator("#viewer tbody th .name").all_inner_texts()
    button = page.get_by_role("columnheader", name="Women").get_by_role("button")
    button.click()
    expect(page.get_by_role("columnheader", name="Women")).to_have_attribute("aria-sort", "descending")
    shown = [number(page, r, 1) for r in range(6)]
    assert shown[1:] == sorted(shown[1:], reverse=True)
    assert page.locator("#viewer tbody th .name").first.inner_text() == "Total"
    page.get_by_role("columnheader", name="Women").get_by_role("button").click()
    shown = [number(page, r, 1) for r in range(6)]
    assert shown[1:] == sorted(shown[1:])
    page.get_by_role("columnheader", name="Women").get_by_role("button").click()
    assert page.locator("#viewer tbody th .name").all_inner_texts() == before


def test_percentages_are_of_protected_numbers_and_have_ranges(page: Page) -> None:
    """Of the row, the column and the table; the range follows from both ranges."""
    ready(page, "/table?variables=age,sex")
    numbers = told(page, "variables=age,sex")
    part, row = numbers["0-2 years", "f"], numbers["0-2 years", "Total"]
    wholes = {"row": row, "column": numbers["Total", "f"], "total": numbers["Total", "Total"]}
    for kind, whole in wholes.items():
        page.get_by_label("Show").select_option(kind)
        cell = page.locator("td[data-r='1'][data-c='1']")
        expect(cell.locator(".number")).to_have_text(f"{100 * part / whole:.1f} %")
    page.get_by_label("Show").select_option("row")
    page.get_by_label("Likely ranges").check()
    low, high = 100 * (part - 4) / (row + 4), 100 * (part + 4) / (row - 4)
    low, high = math.floor(10 * low) / 10, math.ceil(10 * high) / 10  # what is written holds all of the range
    expect(page.locator("td[data-r='1'][data-c='1'] .range")).to_have_text(f"{low:.1f}–{high:.1f} %")
    expect(page.locator("td[data-r='1'][data-c='0'] .number")).to_have_text("100.0 %")


def test_a_reader_makes_groups_of_categories(page: Page, pictures: Path) -> None:
    """By picking: sums of what is shown, with a range that holds; in table, chart, CSV, address; foldable; removed."""
    ready(page, "/table?variables=age,area&rows=age&layers=area")
    numbers = told(page, "variables=age,area")
    picked = ["0-2 years", "3-5 years", "9-11 years"]
    page.get_by_text("Group categories", exact=True).click()
    panel = page.locator(".grouping")
    panel.get_by_role("button", name="Add the group").press("Enter")
    expect(panel.get_by_role("status")).to_contain_text("at least two")
    for label in picked:
        panel.get_by_role("checkbox", name=label, exact=True).check()
    panel.get_by_label("Name of the group").fill('Small; "mine" = 3+')
    page.screenshot(path=pictures / "groups.png", full_page=True)
    panel.get_by_label("Name of the group").press("Enter")
    names = page.locator("#viewer tbody th .name")
    expect(names.nth(1)).to_have_text('Small; "mine" = 3+')
    assert names.nth(2).inner_text() == "6-8 years"
    expected = sum(numbers["Total", one] for one in picked)
    assert number(page, 1, 0) == expected
    page.get_by_label("Likely ranges").check()
    expect(page.locator("td[data-r='1'][data-c='0'] .range")).to_have_text(
        f"{expected - 10:,}–{expected + 10:,}"  # of random rounding to base 5, by Hoeffding
    )
    assert page.evaluate("document.activeElement.closest('.options') !== null")
    panel.get_by_label("Variable").select_option("area")
    panel.get_by_label("Find a category").fill("D0")
    panel.get_by_role("button", name="Pick all that are listed").click()
    panel.get_by_role("button", name="Add the group").click()
    page.locator(".axes select").select_option(label="D00 and 9 more")
    districts = [f"D{d:02}" for d in range(10)]
    assert number(page, 1, 0) == sum(numbers[area, one] for one in picked for area in districts)
    page.reload()
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    assert number(page, 1, 0) == expected
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV as it is shown").click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    total = str(numbers["Total", "Total"])
    assert rows[:3] == [["age", "Number of people"], ["Total", total], ['Small; "mine" = 3+', str(expected)]]
    page.get_by_role("button", name="Unfold Small").click()
    assert names.all_inner_texts()[1:5] == ['Small; "mine" = 3+', *picked]
    page.get_by_role("button", name="Fold Small").click()
    page.get_by_role("button", name="Bars", exact=True).click()
    expect(page.locator(".chart-text")).to_contain_text("Greatest: Small;", use_inner_text=True)
    page.get_by_role("button", name="Table", exact=True).click()
    page.get_by_text("Group categories", exact=True).click()
    assert accessible(page) == []
    page.get_by_role("button", name="Remove age: Small").click()
    assert names.nth(1).inner_text() == "0-2 years"
    assert "Small" not in page.url


def test_ranges_are_told_where_one_reads(page: Page, pictures: Path) -> None:
    """On hover, on focus, to screen readers, and in all cells by a switch; wide ones are marked, lines too."""
    ready(page, "/table?variables=area,age")
    value = number(page, 0, 0)
    words = f"{value:,}; likely {value - 4:,} to {value + 4:,}"
    cell = page.locator("td[data-r='0'][data-c='0']")
    expect(cell.locator(".unseen")).to_have_text(words)
    cell.hover()
    expect(page.get_by_role("tooltip")).to_have_text(words)
    assert page.locator("td .range").count() == 0
    page.get_by_label("Likely ranges (90 %)").check()
    expect(cell.locator(".range")).to_have_text(f"{value - 4:,}–{value + 4:,}")
    assert page.locator("td.wide-range .unsure").count() > 10
    assert page.locator("#viewer tbody th .grade").count() == page.locator("#viewer tbody tr:not(.spacer)").count()
    expect(page.locator(".legend")).to_contain_text("range wide beside the number")
    page.screenshot(path=pictures / "viewer-ranges.png")


def test_variables_are_moved_with_the_keyboard_and_by_drag(page: Page) -> None:
    """Rows, columns and layers change, the address with them, and a table never loses its rows."""
    ready(page, "/table?variables=age,sex")
    chip = page.get_by_role("button", name="sex", exact=True)
    chip.focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("group", name="Rows", exact=True).get_by_role("button")).to_have_count(2)
    assert "rows=age,sex" in page.url
    expect(page.get_by_role("button", name="sex", exact=True)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    assert "rows=sex,age" in page.url
    grid = page.get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == str(31 * 3 + 1)
    page.get_by_role("button", name="age", exact=True).drag_to(page.get_by_role("group", name="Layers", exact=True))
    assert "layers=age" in page.url
    page.reload()
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    expect(page.get_by_role("group", name="Layers", exact=True).get_by_role("button", name="age")).to_be_visible()
    page.get_by_role("button", name="sex", exact=True).press("ArrowDown")
    expect(page.get_by_role("group", name="Rows", exact=True).get_by_role("button")).to_have_count(1)


def test_all_of_a_table_is_on_paper(page: Page) -> None:
    """In blocks of columns, each with the heads of its rows; on the screen it is as before."""
    ready(page, "/table?variables=age,sex&rows=sex&columns=age")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("innerWidth") == 1200
    blocks = page.locator(".paper table")
    assert blocks.count() > 2
    heads = [blocks.nth(n).locator("thead th").all_inner_texts()[1:] for n in range(blocks.count())]
    assert [name for some in heads for name in some] == ["Total", *(f"{a}-{a + 2} years" for a in range(0, 90, 3))]
    numbers = told(page, "variables=age,sex")
    shown = [blocks.nth(n).locator("tbody tr").nth(2).locator(".number").all_inner_texts() for n in range(len(heads))]
    men = [numbers[name, "m"] for some in heads for name in some]
    assert [int(text.replace(",", "")) for some in shown for text in some] == men
    expect(page.locator(".grid-box:not(.paper)")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.locator(".grid-box:not(.paper)")).to_be_visible()
    assert blocks.count() == 0


@pytest.mark.parametrize(
    ("name", "place"), [("one", "/table?variables=area"), ("two", "/table?variables=age,sex"), ("three", LARGE)]
)
def test_the_viewer_is_accessible_and_fits_the_screen(page: Page, name: str, place: str, pictures: Path) -> None:
    """By axe-core, with one, two and three variables; only the table scrolls sideways."""
    ready(page, place)
    page.get_by_label("Shade by size").check()
    page.get_by_label("Likely ranges").check()
    assert accessible(page) == []
    for scheme, width in SCREENS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.wait_for_function(  # heads of rows leave room for numbers on a screen that has become narrow
            "width => document.querySelector('td.whole').offsetLeft < 0.75 * width", arg=width
        )
        page.screenshot(path=pictures / f"viewer-{name}-{width}-{scheme}.png")
    assert accessible(page, rules=["color-contrast"]) == []  # at last it is dark and narrow


def test_without_script_all_cells_are_on_pages(browser: Browser, address: str) -> None:
    """Links instead of what is left out; the last page has the last area."""
    context = browser.new_context(java_script_enabled=False, base_url=address)
    page = context.new_page()
    page.goto(LARGE)
    expect(page.get_by_role("table")).to_be_visible()
    pages = page.get_by_role("navigation", name="Pages")
    assert pages.get_by_role("link").count() == 6 * 3
    pages.get_by_role("link").last.click()
    assert page.locator("tbody th").last.inner_text() == "A2439"
    expect(page.get_by_role("navigation", name="Pages").get_by_role("link").last).to_have_attribute(
        "aria-current", "page"
    )
    context.close()
