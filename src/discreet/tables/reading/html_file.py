"""HTML pages as discreet writes them: every layer a table, with its dimensions and codes in data attributes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.texts import read_text
from discreet.tables.reading.layer_rows import LayerSheet, of_layers
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns
from discreet.tables.reading.raw_table import OtherLayoutError, RawTable


def html_file(path: Path, signs: NumberSigns = PLAIN_SIGNS) -> RawTable:
    """The table of a page, from all of its layers."""
    page = _Page()
    page.feed(read_text(path))
    if not page.layers:
        raise OtherLayoutError(f"{path.name!r} holds no table that discreet wrote; write the table as CSV, or as .xlsx")
    return of_layers(path.name, [layer.sheet() for layer in page.layers], page.words, page.title, signs)


@dataclass
class _Layer:
    """One table of the page while it is read."""

    about: dict[str, Any]
    heads: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    stubs: list[tuple[str, str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def sheet(self) -> LayerSheet:
        """The layer as codes and texts."""
        flat = len(self.about["dimensions"]) == 1
        return LayerSheet(
            measure=self.about["measure"],
            decimals=int(self.about["decimals"]),
            names=tuple(self.about["dimensions"]),
            fixed=tuple(tuple(pair) for pair in self.about["fixed"]),
            down=tuple(self.stubs),
            across=() if flat else tuple(zip(self.heads[1:], self.labels[1:], strict=True)),
            cells=np.array(self.rows, object),
        )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.layers: list[_Layer] = []
        self.words: list[tuple[str, str]] = []
        self.title = ""
        self.text: list[str] | None = None
        self.code: str | None = None
        self.inside = ""
        self.term = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "table" and "data-layer" in given:
            self.layers.append(_Layer(json.loads(given["data-layer"])))
        if tag == "tr" and self.layers:
            self.inside = "row"
        if tag in ("th", "td", "h1", "dt", "dd"):
            self.text = []
            self.code = given.get("data-code")
            self.inside = given.get("scope", tag)
            if tag == "th" and self.inside == "row":
                self.layers[-1].rows.append([])

    def handle_data(self, data: str) -> None:
        if self.text is not None:
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self.text is None or tag not in ("th", "td", "h1", "dt", "dd"):
            return
        text = "".join(self.text)
        code = text if self.code is None else self.code
        self.text = None
        if tag == "h1":
            self.title = text
        elif tag == "dt":
            self.term = text
        elif tag == "dd":
            self.words.append((self.term.lower(), text))
        elif self.layers and tag == "td":
            self.layers[-1].rows[-1].append(text)
        elif self.layers and self.inside == "col":
            self.layers[-1].heads.append(code)
            self.layers[-1].labels.append(text)
        elif self.layers:
            self.layers[-1].stubs.append((code, text))
