"""A table in a real browser: the numbers are those of the API, and so are the files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from playwright.sync_api import Page


def test_the_page_shows_the_numbers_of_the_api(page: Page, address: str) -> None:
    """Cell by cell."""
    page.goto("/table?variables=age,sex&rows=age&columns=sex")
    rows = page.locator("#plain tbody tr").all()
    seen = {
        row.locator("th").text_content(): [c.replace(",", "") for c in row.locator("td").all_text_contents()]
        for row in rows
    }
    body = page.request.get("/api/table.csv?variables=age,sex").text()
    told = {(row["age"], row["sex"]): row["count"] for row in csv.DictReader(io.StringIO(body))}
    assert seen["0-4 years"] == [told["0-4", "Total"], told["0-4", "M"], told["0-4", "F"]]
    assert len(seen) == 22


def test_downloads_are_the_bytes_of_the_api(page: Page, tmp_path: Path) -> None:
    """Every button."""
    page.goto("/table?variables=age,sex&where=region=R2")
    links = page.locator(".downloads a").all()
    assert len(links) >= 7
    for link in links:
        with page.expect_download() as waiting:
            link.click()
        waiting.value.save_as(tmp_path / "file")
        again = page.request.get(link.get_attribute("href") or "")
        assert (tmp_path / "file").read_bytes() == again.body()
    assert waiting.value.suggested_filename.startswith("table.")
