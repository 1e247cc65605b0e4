"""The data sets of a server of several in a real browser: search, what each is, and on to its tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests import servers
from tests.browser.looking import accessible
from tests.server.portals.data_sets import two_cubes


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_a_visitor_finds_a_data_set(browser: Browser, tmp_path: Path, pictures: Path, width: int, scheme: str) -> None:
    """By a category, with the keyboard; nothing is wider than the screen."""
    with servers.serving(tmp_path, cube=None, cubes=two_cubes()) as address:
        dark = "dark" if scheme == "dark" else "light"
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=dark)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(address)
        assert accessible(page) == []
        page.screenshot(path=pictures / f"catalogue-{width}-{scheme}.png", full_page=True)
        page.get_by_role("searchbox").fill("the north")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("1 of 2 data sets")
        page.get_by_text("Limits, editions and interfaces").click()
        expect(page.get_by_role("rowheader", name="Everybody")).to_be_visible()
        assert accessible(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("link", name="Make a table").click()
        assert page.url == f"{address}/areas/"
        context.close()
