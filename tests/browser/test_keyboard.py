"""A visit by keyboard alone: every stop is seen and leads on, and all that a mouse does can be done."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

PLACES = {
    "form": "/",
    "table": "/table?variables=age,sex",
    "chart": "/table?variables=age,sex&view=pyramid",
    "refusal": "/table?variables=sex&where=citizenship=STL",
    "too-many": "/table?variables=sex,age,region,activity",
    "slip": "/table?variables=agee",
    "sign-in": "/login",
    "nowhere": "/nothing",
}


def focused(page: Page, matching: str) -> bool:
    """Whether the focus is on such an element; it is never lost, is seen, and nothing lies over it."""
    is_seen = page.evaluate(
        """() => {
          const one = document.activeElement;
          if (!one || one === document.body) return "lost";
          const [style, box] = [getComputedStyle(one), one.getBoundingClientRect()];
          const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
          const drawn = outline || style.boxShadow !== "none";
          if (!drawn) return `not drawn: ${one.outerHTML.slice(0, 120)}`;
          const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
          if (!inside) return `outside: ${one.outerHTML.slice(0, 120)}`;
          const between = (n, most) => Math.min(Math.max(n, 1), most - 2);
          const x = between(box.left + Math.min(box.width / 2, 20), innerWidth);
          const above = document.elementFromPoint(x, between(box.top + box.height / 2, innerHeight));
          return above && (one.contains(above) || above.contains(one)) ? "" : `covered: ${one.outerHTML.slice(0, 120)}`;
        }"""
    )
    assert is_seen == ""
    return bool(page.evaluate("matching => document.activeElement.matches(matching)", matching))


def tab_to(page: Page, matching: str, key: str = "Tab") -> None:
    """Press Tab until the focus is on such an element."""
    for _ in range(80):
        page.keyboard.press(key)
        if focused(page, matching):
            return
    raise AssertionError(f"no way by {key} to {matching}")


def test_the_keyboard_is_enough(page: Page) -> None:
    """From the empty form to the table, other axes, a group, a chart and the files: no mouse, focus seen throughout."""
    page.goto("/")
    tab_to(page, ".skip")
    tab_to(page, "[name=v_sex]")
    page.keyboard.press("Space")
    tab_to(page, "[name=v_education]")
    page.keyboard.press("Space")
    tab_to(page, "[data-filter=region] .opener")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert focused(page, "[data-filter=region] .opener")
    expect(page.get_by_role("list", name="Chosen").get_by_role("button")).to_have_count(3)
    tab_to(page, "#chosen li:last-child button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Chosen").get_by_role("button")).to_have_count(2)
    assert focused(page, "#chosen button")
    expect(page.locator("#verdict")).to_contain_text("30 cells asked")
    tab_to(page, "button.main")
    page.keyboard.press("Enter")
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    assert page.url.endswith("/table?variables=education,sex")

    tab_to(page, ".zone[data-place=columns] .chip")
    page.keyboard.press("ArrowUp")
    assert focused(page, ".zone[data-place=rows] .chip")
    tab_to(page, ".zone[data-place=rows] .chip", "Shift+Tab")
    page.keyboard.press("ArrowDown")
    assert focused(page, ".zone[data-place=columns] .chip")
    assert "rows=sex&columns=education" in page.url
    tab_to(page, ".grouping summary")
    page.keyboard.press("Enter")
    expect(page.locator(".boxes input[value='1']")).to_be_visible()  # drawn when the browser says that it is open
    tab_to(page, ".boxes input[value='1']")
    page.keyboard.press("Space")
    tab_to(page, ".boxes input[value='2']")
    page.keyboard.press("Space")
    tab_to(page, ".grouping input[type=text]")
    page.keyboard.type("Both")
    page.keyboard.press("Enter")
    assert focused(page, ".grouping input[type=text]")
    expect(page.locator("#viewer tbody th .name")).to_have_text(["Total", "Both"])
    tab_to(page, "#viewer td")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert focused(page, "#viewer th")
    expect(page.locator("#viewer tbody th .name")).to_have_count(4)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("[aria-sort=descending]")).to_have_count(1)

    tab_to(page, "[data-view=bars]", "Shift+Tab")
    page.keyboard.press("Enter")
    assert focused(page, "[data-view=bars]")
    expect(page.locator(".chart-frame[data-drawn=bars]")).to_be_visible()
    for place, name in (
        (".chart-files button", "chart.png"),
        (".downloads a", "table.csv"),
        (".as-shown button + button", "table-as-shown.csv"),
    ):
        tab_to(page, place)
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.suggested_filename == name
        assert focused(page, place)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("place", PLACES)
def test_every_stop_is_seen_and_leads_on(page: Page, place: str, width: int) -> None:
    """From the top to the languages at the foot, and back; what lies at the edge of a telephone covers no stop."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(PLACES[place])
    if page.locator("#viewer").count():
        expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    tab_to(page, "footer a:last-of-type")
    tab_to(page, ".skip", "Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert focused(page, "main *")
