"""Equations become MathML while the site is built, so that no page needs a script or another host for them.

Bars in code within tables are written ``\\|``, as most readers of Markdown want them; here the sign goes again. The
addresses of pages that were renamed lead to the new ones.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

FUNCTION = re.compile(r"(?<!<msub>)<mi>(log|max|min)</mi>(?=<mi>)")  # needs a little room before its argument
CELL = re.compile(r"<td.*?</td>", re.S)
EQUATION = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)


RENAMED = {
    "how-to/audit-what-is-out.html": "audit-published-tables.html"
}  # an old address, and where it leads from there


def on_post_build(config: Any, **_: object) -> None:
    """A page at every old address that leads to the new one."""
    for old, new in RENAMED.items():
        page = Path(config["site_dir"], old)
        page.write_text(
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>'
            f'<meta http-equiv="refresh" content="0; url={new}"><link rel="canonical" href="{new}"></head>'
            f'<body><h1>This page has moved</h1><p><a href="{new}">Here it is.</a></p></body></html>\n',
            encoding="utf-8",
        )


def on_page_content(text: str, **_: object) -> str:
    """Every equation that the Markdown extension has marked, and every bar in a table."""
    text = CELL.sub(lambda found: found[0].replace("\\|", "|"), text)
    return EQUATION.sub(lambda found: mathml(found[3], block=found[2] == "["), text)


def on_post_page(output: str, **_: object) -> str:
    """The theme's search is a dialog without a name, which screen readers need."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def mathml(latex: str, *, block: bool) -> str:
    """One equation; wide ones scroll in a box of their own."""
    made = convert(html.unescape(latex).strip(), display="block" if block else "inline")
    made = FUNCTION.sub(r'<mi>\1</mi><mspace width="0.17em"/>', made)
    return f'<div class="equation" tabindex="0">{made}</div>' if block else made
