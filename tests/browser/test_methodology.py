"""The methodologist's page in a real browser."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.looking import PASSWORD, accessible


def test_a_methodologist_sees_risk_and_record(page: Page, pictures: Path) -> None:
    """After signing in, and nobody else does."""
    page.goto("/method")
    assert page.url.endswith("/login")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Methodology").click()
    page.get_by_label("Age: in the table").select_option("age")
    page.get_by_label("Sex: in the table").select_option("sex")
    page.get_by_label("Region: population").select_option("R1")
    page.get_by_role("button", name="Examine").click()
    expect(page.get_by_role("img", name="Risk-utility map")).to_be_visible()
    expect(page.get_by_role("heading", name="Audit")).to_be_visible()
    assert accessible(page) == []
    assert "variables=age,sex&where=region=R1" in page.url
    expect(page.get_by_label("Region: population")).to_have_value("R1")
    page.screenshot(path=pictures / "method.png", full_page=True)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_label("Outcome").select_option("released")
    page.get_by_role("button", name="Search the record").click()
    expect(page.get_by_role("cell", name="refused", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    page.goto("/method")
    assert page.url.endswith("/login")
