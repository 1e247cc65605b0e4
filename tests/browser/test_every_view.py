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
from discreet.server import cube
from tests import servers
from tests.browser.conftest import visiting
from tests.browser.looking import accessible

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
    """By its address, and a table with percentages and ranges."""
    screen: dict[str, Any] = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    with visiting(browser, address, **screen) as page:
        for name, path in VIEWS.items():
            settled(page, path)
            looked_at(page, name, width, pictures / f"{name}-{width}-{scheme}.png")
        settled(page, "/census/table?variables=age,sex")
        page.get_by_label("Likely ranges").check()
        page.locator("#numbers").select_option("row")
        looked_at(page, "ranges", width, pictures / f"table-ranges-{width}-{scheme}.png")
