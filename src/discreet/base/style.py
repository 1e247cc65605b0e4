"""The style sheet of every page that is one file: releases as HTML, risk reports, reports of a run.

Plain rules for plain elements, light or dark as the reader has it, no font or picture from a network. A page adds rules
for what it alone has. The table server's pages are an application and have a sheet of their own (``server/static``).
"""

from __future__ import annotations

SHEET = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem}"
    ".scroll{overflow-x:auto}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;font-weight:600;padding:.5rem 0}"
)


def style(own: str = "") -> str:
    """The element for the head of a page, with rules of its own behind the common ones.

    >>> style("dt{font-weight:600}").endswith("padding:.5rem 0}dt{font-weight:600}</style>")
    True
    """
    return f"<style>{SHEET}{own}</style>"
