"""A page comes back with its tables and its look, and without anything that a browser does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.cli import run
from discreet.errors import InputError
from discreet.sheets.same_layout import write_same
from tests.sheets.rewrite.secrets_in_files import Planted, remains

T = "table 1"
SHOWN = {(T, row, column) for row in range(2, 5) for column in range(2, 4)}


def page(plant: Planted) -> str:
    return f"""<!DOCTYPE html>
<!-- {plant("remark")} -->
<html lang="en" data-x="{plant("attribute of the page")}"><head><meta charset="utf-8">
<meta name="author" content="{plant("author")}"><title>People</title>
<link rel="x" href="{plant("link")}"><style>th {{ color: #123456 }} /* {plant("remark in a style")} */</style>
<style>td::before {{ content: "{plant("content of a style")}" }}</style>
<script>let x = {plant("script")};</script><noscript>{plant("page without scripts")}</noscript></head>
<body onload="f({plant("handler")})"><h1 id="x{plant("name of an element")}">People by ward</h1>
<p>{plant("number in a paragraph")}</p><p hidden>{plant("hidden paragraph")}</p>
<p style="display:none">{plant("paragraph that is not displayed")}</p><img alt="{plant("alternative text")}" src="x">
<table class="wide" summary="{plant("summary")}" title="{plant("title of a table")}">
<caption>Wards</caption>
<tr><th></th><th scope="col">Women</th><th>Men</th></tr>
<tr><th rowspan="2">North</th><td data-value="{plant("data attribute")}"
title="{plant("title")}"><b>{plant("cell")}</b></td>
<td style="text-align:right">1,200</td></tr>
<tr><td>7<span style="visibility:hidden">{plant("hidden part of a cell")}</span></td><td>
  <em>1,300</em> <sup>a</sup></td></tr>
</table>
<table><tr><td>{plant("table that nobody protected")}</td></tr></table>
<form><input value="{plant("form")}"><textarea>{plant("text area")}</textarea></form>
<svg><text>{plant("drawing")}</text></svg><template><p>{plant("template")}</p></template>
<p>Made by <a href="https://x.invalid/{plant("address")}">us</a> &amp; others, 2021.</p></body></html>"""


def test_nothing_planted_survives_and_all_that_is_seen_stays(tmp_path: Path) -> None:
    """The text of the page, its cells, classes and plain styles."""
    plant = Planted()
    source = page(plant).encode()
    assert remains(source, plant.corners) == set(plant.corners)
    hidden: dict[tuple[str, int, int], int | str] = {(T, 3, 2): "*", (T, 4, 3): 1250}
    done = write_same(source, tmp_path / "out.html", hidden, shown=SHOWN, note="* hidden <6")
    text = done.path.read_text()
    assert remains(done.path.read_bytes(), plant.corners) == set()
    for piece in (
        '<html lang="en">',
        "<h1>People by ward</h1>",
        '<table class="wide">',
        "<caption>Wards</caption>",
        '<th rowspan="2">North</th><td><b>*</b></td>',
        '<td style="text-align:right">1,200</td>',
        "<td>7</td>",
        "<em>1,250</em>",
        "<a>us</a> &amp; others, 2021.",
        "<style>th { color: #123456 } </style>",
        "<p><small>* hidden &lt;6</small></p>",
    ):
        assert piece in text, piece
    said = "\n".join(done.left_out)
    for word in ("scripts", "tables that were not protected", "not displayed", "remarks", "attributes", "style sheets"):
        assert word in said


def test_a_caption_that_states_a_hidden_number_is_blanked(tmp_path: Path) -> None:
    """As the title of a sheet is; another caption stays."""
    rows = "".join(f"<tr><td>{a}<td>{b}<td>{c}" for a, b, c in (("Oak", 44, 31), ("Elm", 29, 3), ("Total", 73, 34)))
    for caption, kept in (("Pupils, 3 of them girls of Elm", False), ("Pupils", True)):
        page = f"<table><caption>{caption}</caption><tr><th>School<th>Boys<th>Girls{rows}</table>"
        (tmp_path / "t.html").write_text(page, encoding="utf-8")
        assert run(["protect", str(tmp_path / "t.html"), "--hide-under", "6", "--force"]) == 0
        assert (f"<caption>{caption}</caption>" in (tmp_path / "t.safe.html").read_text(encoding="utf-8")) == kept


def test_a_table_or_cell_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """With the names of those that are."""
    for place, message in (
        (("table 2", 2, 1), "has no table 'table 2'; it has 'table 1'"),
        ((T, 9, 1), "not in the page"),
    ):
        with pytest.raises(InputError, match=message):
            write_same(b"<table><tr><td>1</table>", tmp_path / "out.html", {place: "*"}, shown={(T, 2, 1)})


def test_cells_without_end_tags_and_numbers_judged_by_nobody(tmp_path: Path) -> None:
    """As people write pages."""
    source = b"<table><tr><td>a<td>1<td>2<tr><td>b<td>&#51;<td>4</table>"
    done = write_same(source, tmp_path / "out.htm", {(T, 2, 2): "*"}, shown={(T, 3, 2)})
    assert "<tr><td>a<td>*<td><tr><td>b<td>3<td></table>" in done.path.read_text()
    assert done.left_out == ("numbers outside the tables that were understood are blanked: 'table 1' C2, C3",)
