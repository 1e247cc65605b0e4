"""The page in a real browser: the whole journey, refusal, download, keyboard only, accessibility, no outside request.

Screenshots go to the folder that DISCREET_SCREENSHOTS names, else to a temporary one.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from discreet.server import auth
from discreet.server.store import Store
from tests import servers

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
PASSWORD = "correct horse battery"
QUERY = "[table]\nmin_population = 100\nmax_small_share = 0.9"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own process, with a methodologist."""
    folder = tmp_path_factory.mktemp("browser")
    store = Store(f"sqlite:///{folder}/discreet.db")
    auth.new_user(store, "ada", "methodologist", PASSWORD)
    store.close()
    with servers.running(folder, servers.policy_text(query=QUERY, guard="warn")) as found:
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A fresh visitor, who is told of every script error and every request to elsewhere."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, base_url=address)
    made, faults = context.new_page(), []
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
    made.on("request", lambda one: faults.append(one.url) if not one.url.startswith((address, "data:")) else None)
    yield made
    context.close()
    assert not faults


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept."""
    folder = Path(os.environ.get("DISCREET_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def accessible(page: Page) -> list[str]:
    """The serious and critical violations that axe-core finds."""
    page.evaluate(f"() => {{ {AXE} }}")
    found: dict[str, Any] = page.evaluate("() => axe.run()")
    bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {[n['html'] for n in v['nodes']][:3]}" for v in bad]


def test_the_whole_journey(page: Page, pictures: Path) -> None:
    """Population, variables, layout, live verdict, table, heat map, bars, wafers, permalink, recent tables."""
    page.goto("/")
    page.locator("select[name=only_region]").select_option("R1")
    for name in ("sex", "age", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    page.get_by_label("Place of activity").select_option("wafers")
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text("396 cells asked, 100,000 allowed")
    expect(verdict).to_contain_text("4 variables are asked (those of filters among them: 'region'), 3 are allowed")
    page.locator("input[name=v_sex]").uncheck()
    expect(verdict).to_contain_text("can be made")
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_text("Only region: Region 1")).to_be_visible()
    asked = parse_qs(urlparse(page.url).query)
    assert asked == {"variables": ["activity,age"], "where": ["region=R1"], "wafers": ["activity"]}
    page.goto("/")
    for name in ("sex", "age", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    page.get_by_label("Place of activity").select_option("wafers")
    expect(verdict).to_contain_text("396 cells asked, 100,000 allowed")
    expect(verdict).to_contain_text("can be made")
    page.screenshot(path=pictures / "choose.png")
    page.get_by_role("button", name="Show the table").click()
    asked = parse_qs(urlparse(page.url).query)
    assert asked == {"variables": ["activity,age,sex"], "wafers": ["activity"]}
    table = page.get_by_role("table")
    expect(table.get_by_role("columnheader", name="Female")).to_be_visible()
    expect(table.get_by_role("rowheader", name="25-29 years")).to_be_visible()
    expect(page.get_by_role("heading", name="Persons of two regions: age by sex; Employed")).to_be_visible()
    page.get_by_role("link", name="Student").click()
    expect(page.get_by_role("heading", name="Student")).to_be_visible()
    page.screenshot(path=pictures / "table.png", full_page=True)
    page.get_by_role("link", name="Heat map").click()
    assert page.locator("table.heat td.h9").count() >= 1
    page.screenshot(path=pictures / "heat.png")
    page.get_by_role("link", name="Bars").click()
    expect(page.get_by_role("img", name="Bar chart")).to_be_visible()
    page.screenshot(path=pictures / "bars.png")
    expect(page.get_by_text("asking again tells nothing new")).to_be_visible()
    assert page.get_by_label("Permalink").input_value() == page.url
    shown = page.url
    page.goto("/")
    page.get_by_role("region", name="Recent tables").get_by_role("link").first.click()
    assert page.url == shown


def test_the_page_shows_the_numbers_of_the_api(page: Page, address: str) -> None:
    """Cell by cell."""
    page.goto("/table?variables=age,sex&rows=age&columns=sex")
    rows = page.locator("tbody tr").all()
    seen = {
        row.locator("th").inner_text(): [c.replace(",", "") for c in row.locator("td").all_inner_texts()]
        for row in rows
    }
    body = page.request.get("/api/table.csv?variables=age,sex").text()
    told = {(row["age"], row["sex"]): row["count"] for row in csv.DictReader(io.StringIO(body))}
    assert seen["0-4 years"] == [told["0-4", "M"], told["0-4", "F"], told["0-4", "Total"]]
    assert len(seen) == 22


def test_a_refusal_says_what_to_change(page: Page, pictures: Path) -> None:
    """Before the click, from the rules for queries and those for tables; and a suggestion works."""
    page.goto("/")
    for name in ("sex", "age", "region", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text("4 variables are asked, 3 are allowed")
    expect(verdict).to_contain_text("ask for fewer variables")
    page.screenshot(path=pictures / "refused.png")
    verdict.get_by_role("link", name="without activity").click()
    expect(page.get_by_role("table")).to_be_visible()
    page.goto("/")
    page.locator("input[name=v_sex]").check()
    page.locator("select[name=only_citizenship]").select_option("STL")
    expect(page.locator("#verdict")).to_contain_text("fewer than 100 people")
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_role("alert")).to_contain_text("choose a larger population")
    expect(page.get_by_role("table")).to_have_count(0)


def test_downloads_are_the_bytes_of_the_api(page: Page, tmp_path: Path) -> None:
    """Every button."""
    page.goto("/table?variables=age,sex&where=region=R2")
    links = page.locator(".downloads a").all()
    assert len(links) >= 7
    for link in links:
        with page.expect_download() as waiting:
            link.click()
        waiting.value.save_as(tmp_path / "file")
        again = page.request.get(link.get_attribute("href") or "")
        assert (tmp_path / "file").read_bytes() == again.body()
    assert waiting.value.suggested_filename.startswith("table.")


def test_the_keyboard_is_enough(page: Page) -> None:
    """Tab, space, arrows and enter do the whole journey; the first stop skips to the content."""
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    wanted = ["v_sex", "v_education"]
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()")
        if name in wanted:
            page.keyboard.press("Space")
            wanted.remove(name)
        if name == "Show the table":
            break
    assert not wanted
    expect(page.locator("#verdict")).to_contain_text("30 cells asked")
    page.keyboard.press("Enter")
    expect(page.get_by_role("table")).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == "Heat map":
            page.keyboard.press("Enter")
            break
    expect(page.locator("table.heat")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, scheme: Any, pictures: Path) -> None:
    """Form, table, heat map, bars, refusal, sign-in, fault, about; in light and dark."""
    page.emulate_media(color_scheme=scheme)
    table = "/table?variables=age,occupation,sex"
    places = ["/", table, f"{table}&view=heat", f"{table}&view=bars", "/table?variables=sex,age,region,activity",
              "/login", "/nothing", "/about"]  # fmt: skip
    for place in places:
        page.goto(place)
        assert accessible(page) == [], place
    page.goto(f"{table}&view=heat")
    page.screenshot(path=pictures / f"heat-{scheme}.png")


def test_a_narrow_screen_scrolls_only_the_table(page: Page, pictures: Path) -> None:
    """The page itself never scrolls sideways."""
    page.set_viewport_size({"width": 360, "height": 700})
    for place in ("/", "/table?variables=age,occupation"):
        page.goto(place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.screenshot(path=pictures / "narrow.png")


def test_without_script_the_form_still_works(browser: Browser, address: str) -> None:
    """Everything but the live line."""
    context = browser.new_context(java_script_enabled=False, base_url=address)
    page = context.new_page()
    page.goto("/")
    page.locator("input[name=v_sex]").check()
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_role("table")).to_be_visible()
    context.close()


def test_a_methodologist_sees_risk_and_record(page: Page, pictures: Path) -> None:
    """After signing in, and nobody else does."""
    page.goto("/method")
    assert page.url.endswith("/login")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Methodology").click()
    page.get_by_label("Variables").fill("age,sex")
    page.get_by_role("button", name="Examine").click()
    expect(page.get_by_role("img", name="Risk-utility map")).to_be_visible()
    expect(page.get_by_role("heading", name="Audit")).to_be_visible()
    assert accessible(page) == []
    page.screenshot(path=pictures / "method.png", full_page=True)
    page.get_by_role("button", name="Sign out").click()
    page.goto("/method")
    assert page.url.endswith("/login")
