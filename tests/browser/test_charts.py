"""Charts in a real browser: each kind is drawn whole, with ranges, a text in its place, and files to take away."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import accessible

KINDS = ("bars", "stacked", "lines", "pyramid", "multiples", "grid")


def drawn(page: Page, place: str, kind: str) -> None:
    """The page with a chart of a kind."""
    page.goto(f"{place}&view={kind}")
    expect(page.locator(f".chart-frame[data-drawn={kind}]")).to_be_visible(timeout=30_000)


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_names_all_categories_and_is_told_in_words(page: Page, kind: str, pictures: Path) -> None:
    """No category and no label is left out, axes have their names, and the text has the greatest number."""
    drawn(page, "/table?variables=age,sex&rows=age&columns=sex", kind)
    texts = page.locator("#chart svg text").all_text_contents()
    ages = [f"{a}-{a + 4} years" for a in range(0, 100, 5)]
    assert set(ages) | {"100+ years", "Male", "Female"} <= set(texts)
    image = page.get_by_role("img", name="all of them in the table. Greatest:")
    expect(image).to_be_visible()
    expect(page.locator(".chart-text")).to_contain_text("likely")
    page.screenshot(path=pictures / f"chart-{kind}.png", full_page=True)


def test_nothing_below_zero_is_cut(page: Page) -> None:
    """Axes of numbers begin at 0 if none is below."""
    page.goto("/about")
    begins = page.evaluate(
        """async () => {
          const { optionOf } = await import("/static/view/picture.js");
          const data = { values: [9], measure: { decimals: 0 } };
          const state = { numbers: "value", rows: [0] };
          const grid = { state, cube: { dimensions: [{ ordered: true }], data } };
          const names = { categories: ["a"], series: ["b"], across: "", legend: "", unit: "" };
          const of = (kind, value) => {
            const cells = [[{ value, low: null, high: null, mark: "" }]];
            const shape = { grid, cells, lines: [[0]], columns: [[0]], ...names };
            const { option } = optionOf(kind, shape, {}, 600);
            return [].concat(kind === "lines" ? option.yAxis : option.xAxis)[0].min ?? "least";
          };
          return ["bars", "stacked", "lines", "multiples"].map((kind) => [of(kind, 5), of(kind, -5)]);
        }"""
    )
    assert begins == [[0, "least"]] * 4


def test_long_names_of_a_chart_do_not_overlap(page: Page) -> None:
    """On a telephone, where they are wrapped: each stands clear of the next."""
    page.set_viewport_size({"width": 390, "height": 800})
    drawn(page, "/table?variables=age,sex&rows=age&columns=sex", "bars")
    overlapping = page.evaluate(
        """async () => {
          const { optionOf } = await import("/static/view/picture.js");
          const data = { values: [9], measure: { decimals: 0 } };
          const grid = { state: { numbers: "value", rows: [0] }, cube: { dimensions: [{ ordered: true }], data } };
          const categories = ["short", "a name of many words ".repeat(6).trim(), "other", "one more of words", "n"];
          const cells = categories.map((_, n) => [{ value: n, low: null, high: null, mark: "" }]);
          const lines = categories.map((_, n) => [n]);
          const names = { categories, series: ["b"], across: "", legend: "", unit: "" };
          const shape = { grid, cells, lines, columns: [[0]], ...names };
          const over = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3
            && Math.min(a.right, b.right) > Math.max(a.left, b.left);
          const found = [];
          for (const kind of ["bars", "stacked", "multiples", "pyramid", "grid"]) {
            const { option, height } = optionOf(kind, shape, { text: "#000", line: "#000" }, 340);
            const box = document.createElement("div");
            document.body.append(box);
            const chart = window.echarts.init(box, null, { renderer: "svg", width: 340, height });
            chart.setOption(option);
            const texts = [...box.querySelectorAll("text")];
            const rect = (one) => one.getBoundingClientRect();
            const boxes = (fits) => texts.filter((one) => fits(one.textContent)).map(rect);
            const long = boxes((text) => text.includes("words"));
            const others = boxes((text) => ["short", "other", "n"].includes(text));
            if (!long.length || !others.length) found.push(`${kind}: no texts`);
            if (long.some((a) => others.some((b) => over(a, b)))) found.push(kind);
            chart.dispose();
            box.remove();
          }
          return found;
        }"""
    )
    assert overlapping == []


def test_a_chart_that_cannot_be_drawn_says_so(browser: Browser, address: str) -> None:
    """When its library is not had, and it is drawn when it is."""
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.route("**/echarts.min.js", lambda route: route.abort())
    page.goto("/table?variables=age,sex&view=bars")
    expect(page.locator(".chart-text")).to_have_text("The server does not answer now. Try again in a moment.")
    page.unroute("**/echarts.min.js")
    page.get_by_role("button", name="Stacked bars").click()
    expect(page.locator(".chart-frame[data-drawn=stacked]")).to_be_visible(timeout=30_000)
    context.close()


def test_ranges_are_drawn_as_whiskers(page: Page) -> None:
    """Three lines each: as many as there are numbers with a range."""
    drawn(page, "/table?variables=sex&rows=sex", "bars")
    paths = page.locator("#chart svg path[fill=none], #chart svg line").count()
    assert paths >= 2 * 3


def test_charts_are_saved_as_png_and_svg(page: Page, tmp_path: Path) -> None:
    """Files that other programs read."""
    drawn(page, "/table?variables=age,sex", "pyramid")
    for name, kind in (("Save as PNG", "png"), ("Save as SVG", "svg")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        waiting.value.save_as(tmp_path / f"chart.{kind}")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert "0-4 years" in "".join(ET.parse(tmp_path / "chart.svg").getroot().itertext())


def test_the_library_is_loaded_for_charts_only(page: Page) -> None:
    """The table itself does not wait for it."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto("/table?variables=age,sex")
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    assert not [url for url in asked if "echarts" in url]
    page.get_by_role("button", name="Bars", exact=True).click()
    expect(page.locator(".chart-frame[data-drawn=bars]")).to_be_visible(timeout=30_000)
    assert [url for url in asked if url.endswith("echarts.min.js")]


def test_a_map_of_areas(page: Page, pictures: Path) -> None:
    """Where the codebook has shapes: every area is drawn with its label, and its number is told with its range."""
    drawn(page, "/table?variables=region,sex", "map")
    texts = page.locator("#chart svg text").all_text_contents()
    assert {"Region 1", "Region 2"} <= set(texts)
    expect(page.get_by_role("img", name="Map of")).to_be_visible()
    assert accessible(page) == []
    page.screenshot(path=pictures / "chart-map.png", full_page=True)
    page.goto("/table?variables=age,sex&view=map")
    expect(page.locator("body[data-viewer=ready]")).to_be_visible()
    expect(page.get_by_role("button", name="Map", exact=True)).to_have_count(0)


def test_a_chart_is_as_wide_as_the_paper(page: Page) -> None:
    """Narrower than the screen that it was drawn for, it is scaled and not cut."""
    page.set_viewport_size({"width": 1280, "height": 900})
    drawn(page, "/table?variables=age,sex&rows=age&columns=sex", "bars")
    page.emulate_media(media="print")
    page.evaluate("document.getElementById('chart').parentElement.style.width = '500px'")
    page.wait_for_function("""() => {
        const [svg, box] = ["#chart svg", "#chart"].map((one) => document.querySelector(one).getBoundingClientRect());
        return box.width <= 500 && svg.width <= box.width + 1 && svg.height > 200 && box.height >= svg.height - 1;
    }""")  # a box without a height shows nothing
    assert page.locator("#chart svg").get_attribute("viewBox") is not None
