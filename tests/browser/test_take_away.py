"""Taking a table away in a real browser: copied, asked for by programs, cited, and explained."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect


def test_the_table_is_copied_as_it_is_laid_out(browser: Browser, address: str) -> None:
    """Tabs and lines, for a spreadsheet; every row of it, and the numbers are those of the API."""
    context = browser.new_context(base_url=address, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/table?variables=age,sex&rows=age&columns=sex")
    page.get_by_role("button", name="Copy the table").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    lines = [line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").split("\n")]
    body = page.request.get("/api/table.csv?variables=age,sex").text()
    told = {(row["age"], row["sex"]): row["count"] for row in csv.DictReader(io.StringIO(body))}
    assert lines[0] == ["Age", "Total", "Male", "Female"]
    assert lines[1] == ["Total", told["Total", "Total"], told["Total", "M"], told["Total", "F"]]
    assert len(lines) == 1 + 22
    context.close()


def test_the_code_gives_this_table(page: Page, address: str, tmp_path: Path) -> None:
    """Run as it stands: Python, and curl and R where the machine has them."""
    page.goto("/table?variables=age,sex&where=region=R1")
    page.get_by_text("Code for this table").click()
    blocks = {name: page.get_by_label(name, exact=True).inner_text() for name in ("curl", "Python", "R")}
    where = f"{address}/api/table.csv?variables=age,sex&where=region=R1"
    quotes = {"curl": "'", "Python": '"', "R": '"'}  # of a shell: nothing in an address is expanded
    assert all(f"{quotes[name]}{where}{quotes[name]}" in text for name, text in blocks.items())
    done = subprocess.run(
        [sys.executable, "-c", f"{blocks['Python']}\nprint(len(table))"], capture_output=True, text=True, check=True,
        env={"NO_PROXY": "*", "PATH": ""},
    )  # fmt: skip
    body = page.request.get("/api/table.csv?variables=age,sex&where=region=R1").text()
    assert int(done.stdout) == len(body.splitlines()) - 1
    if shutil.which("curl"):
        subprocess.run(["sh", "-c", blocks["curl"]], cwd=tmp_path, check=True, capture_output=True)
        assert (tmp_path / "table.csv").read_bytes() == body.encode()
    if shutil.which("Rscript"):
        shown = ["Rscript", "-e", f"{blocks['R']}; cat(nrow(table), sum(table$count, na.rm = TRUE))"]
        lines, total = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split()
        counts = [line.split(",")[2] for line in body.splitlines()[1:]]
        assert (int(lines), int(total)) == (len(counts), sum(int(one) for one in counts if one))


def test_a_citation_names_the_table_and_where_it_is(page: Page) -> None:
    """Source, title, variables, population, method, address and day."""
    page.goto("/table?variables=age,sex&where=region=R1")
    page.get_by_text("How to cite it").click()
    text = page.locator(".citation").inner_text()
    for part in ("Synthetic. ", "Persons of two regions: Age × Sex", "Region: Region 1", "Cell key method", page.url):
        assert part in text


def test_a_short_link_leads_to_the_table_as_it_is_laid_out(browser: Browser, address: str) -> None:
    """Made without leaving the page, copied by a button; without script by a page of its own."""
    context = browser.new_context(base_url=address, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/table?variables=age,sex&rows=age&columns=sex")
    page.locator('[data-view="stacked"]').click()
    page.get_by_role("button", name="Make a short link").click()
    box = page.get_by_label("Short link")
    expect(box).to_have_value(re.compile(re.escape(address) + "/s/[1-9A-Za-z]{11}$"))
    page.locator("#short").get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == box.input_value()
    shown, short = page.url, box.input_value()
    assert "view=stacked" in shown
    page.goto(short)
    assert page.url == shown
    context.close()
    plain = browser.new_context(base_url=address, java_script_enabled=False)
    page = plain.new_page()
    page.goto(shown)
    page.get_by_role("button", name="Make a short link").click()
    expect(page.locator("#permalink")).to_have_value(short)
    page.get_by_role("link", name="Open this table").click()
    assert page.url == shown
    plain.close()


@pytest.mark.parametrize("language", ["en", "fr", "de", "es"])
def test_quality_and_risk_are_explained(page: Page, language: str) -> None:
    """In every language, with the numbers of the bands."""
    page.goto(f"/table?variables=sex&lang={language}")
    names = {"en": "What does this mean?", "fr": "Qu’est-ce que", "de": "Was bedeutet das?", "es": "¿Qué significa"}
    page.get_by_text(names[language]).click()
    expect(page.get_by_text("Hellinger")).to_be_visible()
