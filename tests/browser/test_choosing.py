"""Choosing a table in a real browser: the whole journey, what is still possible, trees, keyboard, without script."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import accessible


def restrict(page: Page, variable: str, category: str) -> None:
    """Choose a category of a filter in its tree."""
    page.locator(f"[data-filter={variable}] .opener").click()
    page.locator(f"[data-filter={variable}] .tree").get_by_text(category, exact=True).click()


def test_the_whole_journey(page: Page, pictures: Path) -> None:
    """Variables, population, what is still possible, the live line, the table, its address, recent tables."""
    page.goto("/")
    for name in ("age", "activity"):
        page.locator(f"input[name=v_{name}]").check()
    restrict(page, "region", "Region 1")
    verdict, chosen = page.locator("#verdict"), page.get_by_role("list", name="Chosen")
    expect(verdict).to_contain_text("132 cells asked, 100,000 allowed")
    expect(verdict).to_contain_text("can be made")
    expect(chosen).to_contain_text("Region: Region 1")
    sex = page.locator("[data-variable=sex]")
    expect(sex).to_contain_text("More than 3 variables are not allowed.")
    sex.get_by_role("checkbox").click(force=True)  # nothing lets a visitor build what is refused then
    expect(sex.get_by_role("checkbox")).not_to_be_checked()
    expect(page.locator("[data-filter=sex]")).to_contain_text("More than 3 variables are not allowed.")
    page.screenshot(path=pictures / "choose.png")
    chosen.get_by_role("button", name="Remove Region: Region 1").click()
    expect(page.locator("[data-variable=sex]")).not_to_contain_text("not allowed")
    sex.get_by_role("checkbox").check()
    expect(verdict).to_contain_text("396 cells asked, 100,000 allowed")
    page.get_by_role("button", name="Show the table").click()
    asked = parse_qs(urlparse(page.url).query)
    assert asked == {"variables": ["activity,age,sex"]}
    expect(page.get_by_role("heading", level=1)).to_have_text("Current activity status × Age × Sex")
    shown = page.url
    page.goto("/")
    page.get_by_role("region", name="Recent tables").get_by_role("link", name="Current activity").click()
    assert page.url == shown


def test_the_table_is_changed_in_its_own_page(page: Page) -> None:
    """What was chosen is chosen still."""
    page.goto("/table?variables=age,sex&where=region=R1")
    page.get_by_role("link", name="Change the table").click()
    expect(page.locator("input[name=v_age]")).to_be_checked()
    expect(page.locator("[data-filter=region] .opener")).to_contain_text("Region 1")
    page.locator("input[name=v_age]").uncheck()
    expect(page.locator("#verdict")).to_contain_text("3 cells asked")
    page.get_by_role("button", name="Show the table").click()
    expect(page).to_have_url(page.url.split("/table")[0] + "/table?variables=sex&where=region=R1")


def test_a_changed_table_is_shown_as_the_one_before(page: Page) -> None:
    """As a chart, with its variables where the reader has moved them."""
    page.goto("/table?variables=age,education,sex")
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    page.get_by_role("group", name="Layers", exact=True).get_by_role("button").press("ArrowUp")
    page.get_by_role("button", name="Bars", exact=True).click()
    page.get_by_role("link", name="Change the table").click()
    page.locator("input[name=v_age]").uncheck()
    expect(page.locator("#verdict")).to_contain_text("can be made")
    page.get_by_role("button", name="Show the table").click()
    expect(page.locator(".chart-frame[data-drawn=bars]")).to_be_visible()
    asked = parse_qs(urlparse(page.url).query)
    assert (asked["variables"], asked["columns"], asked["view"]) == (["education,sex"], ["sex,education"], ["bars"])


def test_who_comes_back_finds_what_was_chosen(page: Page) -> None:
    """Variables, population and a rate, which the form had offered while it was filled."""
    page.goto("/")
    restrict(page, "region", "Region 1")
    page.get_by_text("per 1,000 of the total of Region").click()
    page.locator("input[name=v_age]").check()
    expect(page.locator("#verdict")).to_contain_text("can be made")
    page.get_by_role("button", name="Show the table").click()
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    page.get_by_role("button", name="Bars", exact=True).click()
    shown = page.url
    page.go_back()
    expect(page.locator("input[name=v_age]")).to_be_checked()
    expect(page.locator("[data-filter=region] .opener")).to_contain_text("Region 1")
    expect(page.get_by_label("per 1,000 of the total of Region")).to_be_checked()
    expect(page.locator("#verdict")).to_contain_text("can be made")
    page.go_forward()
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    assert page.url == shown


def test_variables_are_found_by_their_words(page: Page) -> None:
    """Of the name, of the definition and of any category; without capitals and accents."""
    page.goto("/")
    finder, cards = page.get_by_label("Find a variable or category"), page.locator(".card:visible")
    for text, titles in (
        ("EDUC", ["Educational attainment"]),
        ("machine operators", ["Occupation"]),
        ("five years", ["Age"]),
        ("prôfessionals", ["Occupation"]),
    ):
        finder.fill(text)
        expect(cards.locator(".tick span")).to_have_text(titles)
    finder.fill("no such thing")
    expect(cards).to_have_count(0)
    expect(page.get_by_text("No variable or category has these words.")).to_be_visible()
    finder.fill("")
    expect(cards).to_have_count(7)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_tree_of_many_categories(villages_page: Page, width: int, scheme: str, pictures: Path) -> None:
    """Folded, searched, several picked; coarser levels have words; the address has the codes."""
    page = villages_page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto("/")
    detail = page.get_by_label("Detail of Municipality")
    expect(detail.locator("option")).to_have_text(["Provinces (4)", "Districts (40)", "All categories (600)"])
    page.locator("input[name=v_sex]").check()
    page.locator("[data-filter=municipality] .opener").click()
    tree = page.locator("[data-filter=municipality] .tree")
    expect(tree.locator("li")).to_have_count(4)
    tree.get_by_role("button", name="Categories of Province 1").click()
    expect(tree.locator("li")).to_have_count(14)
    page.get_by_role("searchbox", name="Find a category").fill("village 59")
    expect(tree.locator("li")).to_have_count(16)  # 59, 159 ... 559 and 590 to 599
    tree.get_by_text("Village 59", exact=True).click()
    page.get_by_role("searchbox", name="Find a category").fill("village 24")
    tree.get_by_text("Village 24", exact=True).click()
    expect(page.locator("[data-filter=municipality] .opener")).to_contain_text("Village 59; Village 24")
    expect(page.locator("#verdict")).to_contain_text("6 cells asked")
    page.screenshot(path=pictures / f"tree-{width}-{scheme}.png")
    assert accessible(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Escape")
    expect(tree).to_be_hidden()
    page.get_by_role("button", name="Show the table").click()
    assert parse_qs(urlparse(page.url).query)["where"] == ["municipality=m024+m059"]


def test_a_level_that_is_too_fine_is_closed(villages_page: Page) -> None:
    """The finest that is allowed is taken, and the others say why they are not."""
    page = villages_page
    page.goto("/")
    page.locator("input[name=v_job]").check()
    detail = page.get_by_label("Detail of Municipality")
    expect(detail).to_have_value("level 2")
    expect(detail.locator("option").nth(2)).to_be_disabled()
    expect(detail.locator("option").nth(2)).to_have_attribute("title", "18,631 cells are asked, 5,000 are allowed.")
    page.locator("input[name=v_municipality]").check()
    expect(page.locator("#verdict")).to_contain_text("can be made")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_refusal_leads_to_tables_that_are_allowed(page: Page, width: int, scheme: str, pictures: Path) -> None:
    """Before the click and after it, each one click away."""
    page.set_viewport_size({"width": width, "height": 860})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto("/")
    page.locator("input[name=v_sex]").check()
    restrict(page, "citizenship", "Stateless")
    expect(page.locator("#verdict")).to_contain_text("Fewer than 100 people")
    expect(page.locator("#verdict")).to_contain_text("Everyone instead of Stateless")
    page.screenshot(path=pictures / f"refused-{width}-{scheme}.png")
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_role("alert")).to_contain_text("choose a larger population")
    expect(page.locator("table, [role=grid]")).to_have_count(0)
    assert accessible(page) == []
    page.locator("#verdict").get_by_role("link", name="Everyone instead of Stateless").click()
    expect(page.locator("table:visible, [role=grid]:visible").first).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_slip_in_the_address_is_answered_in_the_page(page: Page, width: int, pictures: Path) -> None:
    """With the nearest table as a link."""
    page.set_viewport_size({"width": width, "height": 860})
    page.goto("/table?variables=agee,sexx&lang=es")
    expect(page.get_by_role("alert")).to_contain_text("¿quiso decir “Age”?")
    page.screenshot(path=pictures / f"slip-{width}.png")
    assert accessible(page) == []
    page.get_by_role("link", name="Age × Sex").click()
    expect(page.locator("table:visible, [role=grid]:visible").first).to_be_visible()


def test_a_form_without_a_variable_says_what_is_missing(page: Page, browser: Browser, address: str) -> None:
    """In its place, and what is chosen stays; without script too."""
    page.goto("/")
    restrict(page, "region", "Region 1")
    expect(page.locator(".measures")).to_contain_text("per 1,000 of the total of Region")
    page.get_by_role("button", name="Show the table").click()
    expect(page.get_by_role("alert")).to_have_text("Choose at least one variable.")
    expect(page.locator("[name=v_region]")).to_be_focused()
    assert page.url.endswith("/")
    assert accessible(page) == []
    page.locator("[name=v_age]").check()
    expect(page.locator("#verdict")).to_contain_text("can be made")
    context = browser.new_context(java_script_enabled=False, base_url=address)
    plain = context.new_page()
    plain.goto("/")
    plain.locator("select[name=only_region]").select_option("R2")
    plain.get_by_role("button", name="Show the table").click()
    expect(plain.get_by_role("alert")).to_have_text("Choose at least one variable.")
    expect(plain.locator("select[name=only_region]")).to_have_value("R2")
    context.close()


def test_without_script_the_form_still_works(browser: Browser, address: str) -> None:
    """Everything but search, trees and the live line: one category of a filter, a table, a refusal that helps."""
    context = browser.new_context(java_script_enabled=False, base_url=address)
    page = context.new_page()
    page.goto("/")
    page.locator("input[name=v_sex]").check()
    page.locator("select[name=only_region]").select_option("R2")
    page.get_by_role("button", name="Show the table").click()
    expect(page.locator("table:visible, [role=grid]:visible").first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sex · Region: Region 2")
    page.goto("/table?variables=sex&where=citizenship=STL")
    page.get_by_role("link", name="Everyone instead of Stateless").click()
    expect(page.locator("table:visible, [role=grid]:visible").first).to_be_visible()
    context.close()


def test_a_table_is_saved_in_the_browser(page: Page) -> None:
    """Saved, found on the first page, removed; the history is forgotten when asked."""
    page.goto("/table?variables=age,sex")
    page.get_by_role("button", name="Save this table").click()
    expect(page.get_by_role("button", name="Saved", exact=True)).to_have_attribute("aria-pressed", "true")
    for name in ("education", "citizenship"):
        page.goto(f"/table?variables={name}")
    page.goto("/")
    saved, recent = (page.get_by_role("region", name=name) for name in ("Saved tables", "Recent tables"))
    expect(saved.get_by_role("link")).to_have_text(["Age × Sex"])
    expect(recent.get_by_role("link")).to_have_text(["Citizenship", "Educational attainment", "Age × Sex"])
    assert accessible(page) == []
    recent.get_by_role("button", name="Forget recent tables").click()
    expect(recent).to_be_hidden()
    saved.get_by_role("link", name="Age × Sex").click()
    page.get_by_role("link", name="Change the table").click()
    expect(page.locator("#change")).to_have_attribute("open", "")
    page.goto("/")
    saved.get_by_role("button", name="Remove Age × Sex").click()
    expect(saved).to_be_hidden()
