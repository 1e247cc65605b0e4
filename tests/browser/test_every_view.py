"""Every view of the demonstration's two data sets: drawn, accessible, within the screen, without a word in the console.

Each is taken as a picture on a wide screen and a telephone, in light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from discreet import datasets
from discreet.policy import read_policy
from discreet.server import auth, cube, languages
from discreet.server.store import Store
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
    "table-hierarchy": "/earnings/table?variables=occupation,sex&measure=pay&statistic=median",
    "table-layers": "/census/table?variables=age,activity,sex&rows=age&columns=activity&layers=sex",
    "table-nested": "/census/table?variables=age,activity,sex&rows=age,sex&columns=activity",
    "table-one": "/census/table?variables=education",
    "table-mean": PAY,
    "shaded": f"{ABOUT}&view=heat",
    **{f"chart-{kind}": f"{ABOUT}&view={kind}" for kind in ("bars", "stacked", "lines", "multiples", "grid")},
    "chart-pyramid": "/census/table?variables=age,sex&view=pyramid",
    "map": f"{PAY}&view=map",
    "refusal": "/census/table?variables=sex&where=citizenship=STL",
    "too-many": "/census/table?variables=sex,age,region,activity",
    "typo": "/census/table?variables=agee,sex",
    "not-found": "/census/nothing",
    "embed": "/census/embed?variables=age,sex",
    "about": "/census/about",
    "sign-in": "/census/login",
}
SCREENS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


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


def settled(page: Page, path: str) -> None:
    """A page when all of it is there."""
    page.goto(path)
    if page.locator("#viewer").count():
        expect(page.locator("body[data-viewer=ready]")).to_be_visible()
        if page.locator(".chart-frame:visible").count():
            expect(page.locator(".chart-frame[data-drawn]")).to_be_visible(timeout=30_000)


def looked_at(page: Page, name: str, width: int, file: Path) -> None:
    """A view is kept as a picture, and is clean and no wider than the screen; axe-core sees either scheme once."""
    page.screenshot(path=file, full_page=True)
    if file.stem.endswith(("1280-light", "390-dark")):
        assert accessible(page, all_of_them=True) == [], name
    assert page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_every_view(browser: Browser, address: str, pictures: Path, width: int, scheme: str) -> None:
    """By its address, and the switches of a table: ranges, percentages, folded groups, an open tree of categories."""
    screen: dict[str, Any] = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    with visiting(browser, address, **screen) as page:
        for name, path in VIEWS.items():
            settled(page, path)
            looked_at(page, name, width, pictures / f"{name}-{width}-{scheme}.png")
        settled(page, "/census/table?variables=age,sex")
        page.get_by_label("Likely ranges").check()
        page.locator("#numbers").select_option("row")
        looked_at(page, "ranges", width, pictures / f"table-ranges-{width}-{scheme}.png")
        settled(page, VIEWS["table-hierarchy"])
        page.get_by_role("button", name="Fold Managers").click()
        looked_at(page, "folded", width, pictures / f"table-folded-{width}-{scheme}.png")
        page.goto("/earnings/")
        page.get_by_text("Pay in a year: median (euros)").click()
        page.get_by_role("checkbox", name="Sex").check()
        expect(page.get_by_text("This table can be made.")).to_be_visible()
        expect(page.locator("[data-variable=band] .why")).to_contain_text("come from")
        page.locator("[data-filter=county] .opener").click()
        page.locator("[data-filter=county]").get_by_role("searchbox").fill("city")
        expect(page.locator("[data-filter=county]").get_by_text("Capital City")).to_be_visible()
        looked_at(page, "tree", width, pictures / f"choose-tree-{width}-{scheme}.png")
        page.goto("/census/method")
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.goto("/census/method?variables=age,sex")
        looked_at(page, "method", width, pictures / f"method-{width}-{scheme}.png")


def test_on_paper_and_without_script(browser: Browser, address: str, pictures: Path) -> None:
    """A printed table has its numbers and no buttons; without script there are numbers and links."""
    with visiting(browser, address) as page:
        settled(page, VIEWS["table"])
        page.emulate_media(media="print")
        expect(page.get_by_role("button", name="Save this table")).to_be_hidden()
        expect(page.locator("#viewer td .number").first).to_be_visible()
        page.screenshot(path=pictures / "print.png", full_page=True)
    with visiting(browser, address, java_script_enabled=False) as page:
        for name in ("choose-measure", "table-mean", "refusal"):
            page.goto(VIEWS[name])
            page.screenshot(path=pictures / f"no-script-{name}.png", full_page=True)
        page.goto(VIEWS["choose-measure"])
        page.get_by_label("Pay in a year: mean (euros)").check()
        page.get_by_role("checkbox", name="County").check()
        page.get_by_role("button", name="Show the table").click()
        assert page.url.endswith("/earnings/table?variables=county&measure=pay&statistic=mean")
        expect(page.get_by_role("cell").first).to_be_visible()


@pytest.mark.parametrize("language", [code for code in languages.LANGUAGES if code != "en"])
def test_no_english_is_left_over(browser: Browser, address: str, pictures: Path, language: str) -> None:
    """No sentence of the catalogue stands in English on a page of another language, before and after scripts ran."""
    held = languages.translations_of(language)
    english = [one for one, other in held.items() if isinstance(other, str) and other != one and "%(" not in one]
    with visiting(browser, address, locale=language) as page:
        for name in ("catalogue", "choose-measure", "table", "table-mean", "chart-bars", "refusal", "typo", "about"):
            settled(page, VIEWS[name])
            said = page.locator("body").inner_text()
            assert [one for one in english if len(one) > 7 and one in said] == [], name
            page.screenshot(path=pictures / f"{name}-{language}.png", full_page=True)
