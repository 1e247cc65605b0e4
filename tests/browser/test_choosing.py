"""Choosing a table in a real browser: the whole journey, refusals, the keyboard alone, without script."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Browser, Page, expect


def test_the_whole_journey(page: Page, pictures: Path) -> None:
    """Population, variables, layout, live verdict, table, permanent link, recent tables."""
    page.goto("/")
    page.locator("select[name=only_region]").select_option("R1")
    for name in ("sex", "age", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    page.get_by_label("Place of activity").select_option("layers")
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text("396 cells asked, 100,000 allowed")
    expect(verdict).to_contain_text("4 variables are asked (those of filters among them: 'region'), 3 are allowed")
    page.locator("input[name=v_sex]").uncheck()
    expect(verdict).to_contain_text("can be made")
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_text("Population: region: Region 1")).to_be_visible()
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    asked = parse_qs(urlparse(page.url).query)
    assert asked == {"variables": ["activity,age"], "where": ["region=R1"], "layers": ["activity"]}
    page.goto("/")
    for name in ("sex", "age", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    page.get_by_label("Place of activity").select_option("layers")
    expect(verdict).to_contain_text("396 cells asked, 100,000 allowed")
    expect(verdict).to_contain_text("can be made")
    page.screenshot(path=pictures / "choose.png")
    page.get_by_role("button", name="Show the table").click()
    table = page.get_by_role("grid")
    expect(table.get_by_role("columnheader", name="Female")).to_be_visible()
    expect(table.get_by_role("rowheader", name="25-29 years")).to_be_visible()
    asked = parse_qs(urlparse(page.url).query)
    assert asked == {"variables": ["activity,age,sex"], "layers": ["activity"]}
    expect(page.get_by_text("asking again tells nothing new")).to_be_visible()
    assert page.get_by_label("Permanent link").input_value() == page.url
    shown = page.url
    page.goto("/")
    page.get_by_role("region", name="Recent tables").get_by_role("link").first.click()
    assert page.url == shown


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
    expect(page.get_by_role("grid")).to_be_visible()
    page.goto("/")
    page.locator("input[name=v_sex]").check()
    page.locator("select[name=only_citizenship]").select_option("STL")
    expect(page.locator("#verdict")).to_contain_text("fewer than 100 people")
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_role("alert")).to_contain_text("choose a larger population")
    expect(page.get_by_role("table")).to_have_count(0)


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
    expect(page.get_by_role("grid")).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.parentElement.textContent.trim()") == "Shade by size":
            page.keyboard.press("Space")
            break
    expect(page.locator("table.shaded")).to_be_visible()


def test_without_script_the_form_still_works(browser: Browser, address: str) -> None:
    """Everything but the live line."""
    context = browser.new_context(java_script_enabled=False, base_url=address)
    page = context.new_page()
    page.goto("/")
    page.locator("input[name=v_sex]").check()
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_role("table")).to_be_visible()
    context.close()
