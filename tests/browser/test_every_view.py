"""Every view of the demonstration's two data sets: drawn, accessible, within the screen, without a word in the console.

Each is seen on a wide screen and a telephone, in light and dark; with DISCREET_SCREENSHOTS it is kept as a picture.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from discreet import datasets
from discreet.policy import read_policy
from discreet.server import auth, languages
from discreet.server.counting import cube
from discreet.server.record.store import Store
from tests import servers
from tests.browser.conftest import visiting
from tests.browser.looking import PASSWORD, accessible

ABOUT = "/census/table?variables=age,education&rows=age&columns=education"
PAY = "/earnings/table?variables=county,sex&measure=pay&statistic=mean"
VIEWS = {
    "catalogue": "/",
    "catalogue-nothing": "/?q=nothing+of+this",
    "choose": "/census/",
    "choose-measure": "/earnings/",
    "table": "/census/table?variables=age,sex",
    "table-wide": "/earnings/table?variables=county,occupation&rows=county&columns=occupation",
    "table-hierarchy": "/earnings/table?variables=occupation,sex&measure=pay&statistic=mean",
    "table-layers": "/census/table?variables=age,activity,sex&rows=age&columns=activity&layers=sex",
    "table-nested": "/census/table?variables=age,activity,sex&rows=age,sex&columns=activity",
    "table-one": "/census/table?variables=education",
    "table-mean": PAY,
    "chart-pyramid": "/census/table?variables=age,sex&view=pyramid",
    "map": f"{PAY}&view=map",
    "refusal": "/census/table?variables=sex&where=citizenship=STL",
    "too-many": "/census/table?variables=sex,age,region,activity",
    "typo": "/census/table?variables=agee,sex",
    "not-found": "/census/nothing",
    "no-data-set": "/cencus/table?variables=sex",
    "embed": "/census/embed?variables=age,sex",
    "about": "/census/about",
    "sign-in": "/census/login",
}
CHARTS = {
    "bars": "Bars",
    "stacked": "Stacked bars",
    "lines": "Lines",
    "multiples": "Small multiples",
    "grid": "Heat map",
}
Scheme = Literal["light", "dark"]
SCREENS: tuple[tuple[int, Scheme], ...] = ((1280, "light"), (1280, "dark"), (390, "dark"), (390, "light"))
BY_SCREEN = ("color-contrast", "scrollable-region-focusable", "target-size")  # what a screen or scheme may change
KEPT = bool(os.environ.get("DISCREET_SCREENSHOTS"))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Both data sets of the demonstration, of fewer people, under its policies."""
    folder = tmp_path_factory.mktemp("views")
    (folder / "secret.key").write_bytes(b"of the pictures of every view")
    (folder / "secret.key").chmod(0o600)
    texts = {}
    for name, template, people in (
        ("census", "demo.toml", datasets.census(30_000)),
        ("earnings", "demo_earnings.toml", datasets.earnings(30_007)),
    ):
        text = resources.files("discreet.server").joinpath(template).read_text(encoding="utf-8")
        texts[name] = text.replace("SECRET_FILE", (folder / "secret.key").as_posix())
        (folder / f"{name}.toml").write_text(texts[name])
        cube.build(people, folder / "cubes" / name, read_policy(folder / f"{name}.toml"))
    store = Store(f"sqlite:///{folder}/discreet.db")
    auth.new_user(store, "ada", "methodologist", PASSWORD)
    store.close()
    options = ["--policy-for", "earnings=earnings.toml", "--embed", "https://news.example"]
    with servers.running(folder, texts["census"], *options, data=folder / "cubes", seconds=300) as found:
        yield found


@pytest.fixture(scope="module")
def visitor(browser: Browser, address: str) -> Iterator[Page]:
    """One visitor of all views: what a page needs is fetched once."""
    with visiting(browser, address, viewport={"width": 1280, "height": 844}) as page:
        yield page


def on_screen(page: Page, width: int, scheme: Scheme) -> None:
    """The page as wide, and in light or dark."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})


def settled(page: Page, path: str) -> None:
    """A page when all of it is there, on the first screen."""
    on_screen(page, *SCREENS[0])
    page.goto(path)
    if page.locator("#viewer").count():
        expect(page.locator("body[data-viewer=ready]")).to_be_visible()
        if page.locator(".chart-frame:visible").count():
            expect(page.locator(".chart-frame[data-drawn]")).to_be_visible(timeout=30_000)


def looked_at(page: Page, name: str, pictures: Path, *, seen_before: bool = False) -> None:
    """A view is clean and no wider than the screen, on every screen; the page is not loaded again.

    Of one that was ``seen_before``, but for its chart, only what a screen may change is looked at.
    """
    for width, scheme in SCREENS:
        on_screen(page, width, scheme)
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width, timeout=10_000)
        if (width, scheme) == SCREENS[0] and not seen_before:
            assert accessible(page, all_of_them=True) == [], name
        elif (width, scheme) == (390, "dark"):
            assert accessible(page, all_of_them=True, rules=BY_SCREEN) == [], (name, "dark")
        if KEPT:
            page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png", full_page=True)


def english_left(page: Page, language: str) -> list[str]:
    """What a page of another language says in English: whole pieces of text that the catalogue translates otherwise."""
    held = languages.translations_of(language)
    pieces = {piece.strip() for line in page.locator("body").inner_text().splitlines() for piece in line.split("\t")}
    return sorted(one for one in pieces if len(one) > 3 and held.get(one, held["rules"].get(one, one)) != one)


@pytest.mark.parametrize("name", VIEWS)
def test_every_view(visitor: Page, pictures: Path, name: str) -> None:
    """By its address."""
    settled(visitor, VIEWS[name])
    if name == "map":  # areas that are not shown are no light ones
        expect(visitor.locator("#chart text", has_text="Skerry ×")).to_be_visible()
        expect(visitor.locator(".chart-text")).to_contain_text("Map of County; Sex: Total.")
        visitor.locator(".picks").get_by_label("Sex").select_option("Women")
        expect(visitor.locator(".chart-text")).to_contain_text("Map of County; Sex: Women.")
        expect(visitor.locator("#chart text", has_text="Pay in a year: mean (euros)")).to_be_visible()
    looked_at(visitor, name, pictures)


def test_every_chart_of_a_table(visitor: Page, pictures: Path) -> None:
    """Chosen by its button, which is then pressed and in the address; a shaded table among them."""
    settled(visitor, ABOUT)
    for kind, button in CHARTS.items():
        visitor.get_by_role("button", name=button, exact=True).click()
        expect(visitor.locator(f".chart-frame[data-drawn={kind}]")).to_be_visible(timeout=30_000)
        expect(visitor.get_by_role("button", name=button, exact=True)).to_have_attribute("aria-pressed", "true")
        assert f"view={kind}" in visitor.url
        looked_at(visitor, f"chart-{kind}", pictures, seen_before=kind != "bars")
        if kind in ("bars", "stacked", "lines"):
            expect(visitor.locator("#chart text", has_text="Doctorate ×")).to_be_visible()
        if kind in ("stacked", "multiples", "grid"):
            assert {"Age", "Number of people"} <= set(visitor.locator("#chart text").all_text_contents())
        if kind in ("bars", "stacked", "multiples", "grid"):
            expect(visitor.locator("#chart text").get_by_text("×", exact=True).first).to_be_visible()
        if kind == "multiples":  # a panel without a number is left out, and named
            expect(visitor.locator(".chart-text")).to_contain_text("No number is shown of: Doctorate; Not stated;")
            expect(visitor.locator("#chart text", has_text="Doctorate")).to_have_count(0)
    settled(visitor, f"{ABOUT}&view=heat")
    looked_at(visitor, "shaded", pictures)


def test_the_switches_of_a_table(visitor: Page, pictures: Path) -> None:
    """Likely ranges, percentages, and a group that is folded."""
    settled(visitor, VIEWS["table"])
    box = visitor.locator(".grid-box:not(.paper)")
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight")  # a few rows below the edge would not be seen
    visitor.get_by_label("Likely ranges").check()
    visitor.locator("#numbers").select_option("row")
    looked_at(visitor, "table-ranges", pictures)
    visitor.emulate_media(media="print")
    expect(visitor.get_by_role("button", name="Save this table")).to_be_hidden()
    expect(visitor.locator("#viewer td .number").first).to_be_visible()
    visitor.screenshot(path=pictures / "print.png", full_page=True)
    visitor.emulate_media(media="screen")
    settled(visitor, VIEWS["table-hierarchy"])
    visitor.get_by_role("button", name="Fold Managers").click()
    looked_at(visitor, "table-folded", pictures)


@pytest.mark.parametrize("name", ["catalogue", "choose-measure", "table", "table-mean", "map"])
def test_everything_that_opens(visitor: Page, pictures: Path, name: str) -> None:
    """With all that can be unfolded: code, citation, explanations, the form below a table, its groups."""
    settled(visitor, VIEWS[name])
    visitor.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    looked_at(visitor, f"{name}-open", pictures)


def test_an_open_tree_of_categories(visitor: Page, pictures: Path) -> None:
    """With a measure and a variable picked, and a search in the tree."""
    settled(visitor, "/earnings/")
    visitor.get_by_text("Pay in a year: median (euros)", exact=True).click()
    expect(visitor.locator("[data-variable=band] .why")).to_contain_text("bands of its medians")
    visitor.get_by_text("Pay in a year: mean (euros)", exact=True).click()
    visitor.get_by_role("checkbox", name="Sex").check()
    expect(visitor.get_by_text("This table can be made.")).to_be_visible()
    visitor.locator("[data-filter=county] .opener").click()
    visitor.locator("[data-filter=county]").get_by_role("searchbox").fill("city")
    expect(visitor.locator("[data-filter=county]").get_by_text("Capital City")).to_be_visible()
    looked_at(visitor, "choose-tree", pictures)


@pytest.mark.parametrize("language", [code for code in languages.LANGUAGES if code != "en"])
def test_no_english_is_left_over(browser: Browser, address: str, pictures: Path, language: str) -> None:
    """No sentence of the catalogue stands in English on a page of another language, before and after scripts ran."""
    with visiting(browser, address, locale=language) as page:
        for name in ("catalogue", "choose-measure", "table", "table-mean", "refusal", "typo", "no-data-set", "about"):
            settled(page, VIEWS[name])
            assert english_left(page, language) == [], name
            if KEPT:
                page.screenshot(path=pictures / f"{name}-{language}.png", full_page=True)


@pytest.mark.parametrize(("width", "letters"), [(320, 100), (390, 150)])
def test_small_screens_and_large_letters(browser: Browser, address: str, width: int, letters: int) -> None:
    """Nothing is to be scrolled sideways but tables and charts in their boxes: in the language of the longest words."""
    with visiting(browser, address, locale="de") as page:
        for name in (
            "catalogue",
            "choose-measure",
            "table",
            "table-nested",
            "chart-pyramid",
            "map",
            "too-many",
            "about",
        ):
            settled(page, VIEWS[name])
            page.set_viewport_size({"width": width, "height": 700})
            page.evaluate("size => (document.documentElement.style.fontSize = `${size}%`)", letters)
            page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
            page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width, timeout=10_000)


def test_without_script(browser: Browser, address: str, pictures: Path) -> None:
    """There are numbers and links, a measure and variables are picked, and a refusal has its reason."""
    with visiting(browser, address, java_script_enabled=False) as page:
        for name in ("table-mean", "refusal", "choose-measure"):
            page.goto(VIEWS[name])
            page.screenshot(path=pictures / f"no-script-{name}.png", full_page=True)
        page.get_by_label("Pay in a year: mean (euros)").check()
        page.get_by_role("checkbox", name="County").check()
        page.get_by_role("button", name="Show the table").click()
        assert page.url.endswith("/earnings/table?variables=county&measure=pay&statistic=mean")
        expect(page.get_by_role("cell").first).to_be_visible()


def test_the_methodologists_page(visitor: Page, pictures: Path) -> None:
    """Of a table, and in another language; last, because the visitor has signed in."""
    visitor.goto("/census/method")
    visitor.get_by_label("Name").fill("ada")
    visitor.get_by_label("Password").fill(PASSWORD)
    visitor.get_by_role("button", name="Sign in").click()
    settled(visitor, "/census/method?variables=age,sex")
    looked_at(visitor, "method", pictures)
    visitor.goto("/census/method?variables=age,sex&lang=de")
    assert english_left(visitor, "de") == []
