"""The page of the documentation shows the gallery as it is read today."""

from __future__ import annotations

from pathlib import Path

from tests.sheets import gallery_page
from tests.sheets.gallery.draft import LAYOUTS


def test_the_page_is_up_to_date() -> None:
    """Written again it is the same: ``python -m tests.sheets.gallery_page`` mends it."""
    assert gallery_page.PAGE.read_text(encoding="utf-8") == gallery_page.gallery_page()


def test_every_theme_and_layout_is_on_the_page() -> None:
    """Once each, with a picture at least."""
    themes = {path.stem for path in Path(__file__).parent.glob("gallery/*.py")} - {"__init__", "draft"}
    assert themes == set(gallery_page.THEMES)
    page = gallery_page.PAGE.read_text(encoding="utf-8")
    assert [page.count(f"### {layout.after}\n") for layout in LAYOUTS] == [1] * len(LAYOUTS)
    assert page.count('<div class="sheet"') >= len(LAYOUTS) > 30
