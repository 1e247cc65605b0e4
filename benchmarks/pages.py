"""The pages in a browser: what they weigh, when they are painted and can be used, 671 categories, 100,000 cells.

Goals stand in brackets: 150 kB without the chart library, as it is sent (scripts compressed, pages not), a second until
the first paint and until a page can be used. The largest table has none. Needs chromium, on the same machine.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from playwright.sync_api import Page, sync_playwright

import discreet as dc
from discreet.server.counting import cube
from server import Server, at_most

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
POLICY = """
[query]
max_cells = 200000
nested_only = false
[[method]]
name = "random-round"
seed = 31415926535897932384626
"""
LOADED = """() => {
  const parts = [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")];
  const own = parts.filter((one) => !one.name.includes("echarts"));
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return { bytes: own.reduce((sum, one) => sum + one.encodedBodySize, 0), paint: paint ? paint.startTime : null };
}"""

OPENED = """async () => {
  const start = performance.now();
  document.querySelector("[data-filter=area] .opener").click();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - start;
}"""
SCROLLED = """async () => {
  const box = document.querySelector("#viewer .grid-box");
  const start = performance.now();
  box.scrollTo(box.scrollWidth, box.scrollHeight);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return [performance.now() - start, document.querySelectorAll("#viewer td").length];
}"""


def people(n: int) -> dc.Microdata:
    """Persons of 671 areas in 23 districts, with 150 jobs."""
    areas = [f"a{k:03d}" for k in range(671)]
    above = {code: f"D{k // 30:02d}" for k, code in enumerate(areas)}
    place = dc.Dimension.from_parents("area", above, labels={code: f"Area {k}" for k, code in enumerate(areas)})
    job = dc.Dimension.flat("job", [f"j{k:03d}" for k in range(150)])
    sex = dc.Dimension.flat("sex", ["f", "m"])
    rng = np.random.default_rng(1)
    columns = {d.name: rng.choice(d.leaves, n) for d in (place, job, sex)}
    book = dc.Codebook(dimensions=(replace(place, level_names=()), job, sex), title="Persons of 671 areas")
    return dc.Microdata.read(pa.table(columns), book)


def visited(page: Page, address: str, ready: str) -> dict[str, Any]:
    """Bytes, first paint and the moment from which a page can be used, in milliseconds since it was asked for."""
    page.goto(address)
    page.locator(ready).first.wait_for(timeout=120_000)
    usable = float(page.evaluate("performance.now()"))
    return {**page.evaluate(LOADED), "usable": usable}


def told(words: str, visits: list[dict[str, Any]], *, goals: bool) -> None:
    """The median of several visits, each by a browser that has seen nothing."""
    weight = float(np.median([one["bytes"] for one in visits])) / 1000
    paint, usable = (float(np.median([one[name] or 0 for one in visits])) for name in ("paint", "usable"))
    if not goals:
        print(f"  {words}: {weight:.0f} kB, first paint {paint:.0f} ms, usable after {usable:.0f} ms")
        return
    print(
        f"  {words}: {weight:.0f} kB {at_most(weight, 150)}, first paint {paint:.0f} ms {at_most(paint, 1000)}, "
        f"usable after {usable:.0f} ms {at_most(usable, 1000)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=300_000)
    parser.add_argument("--visits", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    cube.build(people(options.people), folder / "cube")
    server = Server(folder, "", policy=POLICY, workers=1)
    base = f"http://127.0.0.1:{server.port}"
    places = {
        "form, 671 categories in a filter": ("/", "[data-filter=area] .opener"),
        "table of three rows": ("/table?variables=sex", "body[data-viewer=ready]"),
        "table of 695 x 151 cells": ("/table?variables=area,job&rows=area&columns=job", "body[data-viewer=ready]"),
    }
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            print(f"each page {options.visits} times, by a browser that has seen nothing")
            for words, (address, ready) in places.items():
                visits = []
                for _ in range(options.visits):
                    page = browser.new_page(viewport={"width": 1280, "height": 844})
                    visits.append(visited(page, base + address, ready))
                    if address == "/" and len(visits) == options.visits:
                        opened = page.evaluate(OPENED)
                    if "area,job" in address and len(visits) == options.visits:
                        scrolled, drawn = page.evaluate(SCROLLED)
                    page.close()
                told(words, visits, goals="area,job" not in address)
            print(f"  tree of 671 categories opened in {opened:.0f} ms")
            print(f"  from the first to the last of 100,000 cells in {scrolled:.0f} ms; {drawn} cells are in the page")
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
