"""What holds for every page in a real browser: accessible in light and dark, and no wider than the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.looking import accessible


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
