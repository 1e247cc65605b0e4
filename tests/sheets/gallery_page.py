"""The page of the documentation that shows every layout of the gallery as it is read.

``python -m tests.sheets.gallery_page`` writes docs/gallery.md.
"""

from __future__ import annotations

import importlib
import re
import tempfile
from pathlib import Path
from types import ModuleType

from discreet.sheets.reading_sheets import read_tables
from tests.sheets.gallery.draft import LAYOUTS, Layout, written

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"
THEMES = ("health", "services", "census", "offices", "reports", "papers", "groupings", "cubes", "exports")
OPENING = """# Gallery of layouts

Layouts after real publications, with invented numbers, and what is read from each: the picture is what a notebook
shows of `dc.read_table`, and `discreet show` in a terminal. Labels have the colour of their dimension; below stands
what was understood and assumed. Each layout is a test: every number is found in its place.
[From a spreadsheet](tutorials/spreadsheet.md) explains the options.

This page is written by `python -m tests.sheets.gallery_page`.
"""


def gallery_page() -> str:
    """The page in Markdown, theme by theme."""
    modules = [importlib.import_module(f"tests.sheets.gallery.{theme}") for theme in THEMES]
    return "\n".join([OPENING, *(part for module in modules for part in theme_parts(module))])


def theme_parts(module: ModuleType) -> list[str]:
    """The heading of a theme and its layouts."""
    title = (module.__doc__ or "").splitlines()[0].rstrip(".")
    return [f"## {title}\n", *(layout_part(layout) for layout in LAYOUTS if hasattr(module, layout.name))]


def layout_part(layout: Layout) -> str:
    """A layout: after what it is drawn, the options that it needs, and the picture of each table that is read."""
    with tempfile.TemporaryDirectory() as folder:
        tables = read_tables(written(layout.draw(), Path(folder), layout.formats[0]), **layout.options)
    options = ", ".join(f"{name}={value!r}" for name, value in layout.options.items())
    said = f"Read with `{options}`." if options else "Read without any option."
    pictures = [re.sub(r"[\r\n]+", " ", table._repr_html_()) for table in tables]
    drawn = "\n\n".join(f'<div class="sheet" tabindex="0">{picture}</div>' for picture in pictures)
    return f"### {layout.after}\n\n{said}\n\n{drawn}\n"


if __name__ == "__main__":
    PAGE.write_text(gallery_page(), encoding="utf-8")
