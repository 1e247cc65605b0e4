"""A page of tables (HTML) written back: elements and attributes of a list, and what the edits say in their cells."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from discreet.errors import InputError, listed
from discreet.sheets.rewrite.delimited_text import decoded
from discreet.sheets.rewrite.displayed_elements import EMPTY, KEPT, UNSEEN, is_unseen
from discreet.sheets.rewrite.edits import Edits, Place, Settled, SourceCells, check_stood, settle_edits
from discreet.sheets.rewrite.html_cells import HtmlCells
from discreet.sheets.rewrite.looks import telling_cells
from discreet.sheets.rewrite.notices import LOOKS, Notices
from discreet.sheets.rewrite.number_look import first_number, plain_number
from discreet.sheets.rewrite.text_cells import decimal_sign, text_now

_WORD = re.compile(r"(?!.*\d{4})[\w \-]{1,80}")
_LENGTH = re.compile(r"\d{1,4}(px|em|pt|%)?")
# no long numbers but six digits of a colour, nothing that loads, writes or computes
_STYLE = re.compile(
    r"(?!.*(?<![#0-9A-Fa-f])\d{5})(?!.*#[0-9A-Fa-f]{7}(?![0-9A-Fa-f]))"
    r"(?!.*(?:url|content|expression|attr|var|--|/\*|\\|@))[\w\s:;,.#%()!'\"\-+>*\[\]=~{}/]*",
    re.DOTALL,
)
TOLD = "texts outside of tables that state a hidden number, or a count that is not shown"
LOOKING = ("class", "style", "width", "height", "bgcolor", "color", "align", "valign")
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_STRIPES = re.compile(r":nth-child\((?:even|odd)\)|:(?:first|last)-child|::?(?:hover|before|after)")
_SINGLED_OUT = re.compile(r"[#+~\[:]|\.[\w-]*\d")
_RAISED = re.compile(r"</?(?:sup|sub|br)>")  # where a text stands tells no more than the text
MOST_FLAG = 3
ATTRIBUTES: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(("class", "align", "valign", "scope", "dir", "lang"), _WORD),
    **dict.fromkeys(("colspan", "rowspan", "span", "width", "height", "border", "cellpadding", "cellspacing"), _LENGTH),
    **dict.fromkeys(("bgcolor", "color"), re.compile(r"#[0-9A-Fa-f]{3,8}|[a-z]{1,20}")),
    "style": _STYLE,
    "charset": re.compile(r"[\w\-]{1,20}"),
}


def rewrite_html(data: bytes, name: str, edits: Edits) -> tuple[bytes, tuple[str, ...]]:
    """The page with these edits, and what of it was left out."""
    mark, encoding, text = decoded(data, name, edits.encoding)
    first = _Page(lambda place, words: words, None)
    first.run(text)
    if missing := sorted(edits.sheets - set(first.names)):
        raise InputError(f"{name!r} has no table {listed(missing)}; it has {listed(first.names)}")
    decimal = edits.decimal or decimal_sign(words.strip() for words in first.cells.values())
    cells = {place: words.strip() for place, words in first.cells.items()}
    values = {place: plain_number(words, decimal) for place, words in cells.items()}
    numbers = {place: number for place, number in values.items() if number is not None}
    check_stood(edits, name, SourceCells(numbers, first.said))
    changes = settle_edits(edits, SourceCells(numbers, cells, decimal))
    if lost := [place for place in changes.now if place not in cells]:
        raise InputError(f"{name!r}: {len(lost)} of the cells to be changed are not in the page; read it again")
    notices = Notices()
    page = _Page(lambda place, words: text_now(changes, place, words, decimal, notices), changes, notices)
    for table in first.names:
        looks = {place[1:]: look for place, look in first.looks.items() if place[0] == table}
        if telling := telling_cells(looks, changes.kinds_of(table)):
            page.telling[table] = telling
            notices.add(LOOKS)
    page.run(text)
    written = "<!DOCTYPE html>\n" + "".join(page.pieces) + "\n"
    return mark + written.encode(encoding, "xmlcharrefreplace"), notices.sentences()


class _Page(HtmlCells):
    """Goes through a page; ``now`` says what a cell says. Without edits it only collects what the cells say."""

    def __init__(self, now: Callable[[Place, str], str], edits: Settled | None, notices: Notices | None = None) -> None:
        super().__init__()
        self._now, self._edits, self._notices = now, edits, notices or Notices()
        self.pieces: list[str] = []
        self.cells: dict[Place, str] = {}
        """What cells say, without letters for a footnote."""
        self.looks: dict[Place, tuple[str, ...]] = {}
        self.telling: dict[str, frozenset[tuple[int, int]]] = {}
        """Of each table the cells that come back without a look of their own."""
        self._row_look = self._cell_look = ""
        self._style: list[str] | None = None

    def run(self, text: str) -> None:
        super().run(text)
        if self._edits is not None and self._edits.edits.note:
            self._add_note(self._edits.edits.note)

    def _emit(self, piece: str) -> None:
        if self.place is not None:
            self.inner.append((False, piece))
        else:
            self.pieces.append(piece)

    def takes(self, tag: str, given: dict[str, str]) -> bool:
        if tag == "style":
            self._style = []
            return True
        if tag == "meta" and "charset" in given and self.place is None:
            self._emit(self._tag("meta", {"charset": given["charset"]}))
            return True
        return False

    def leaves_table_out(self) -> bool:
        """Whether a table was not protected, or stands in a cell of another."""
        if super().leaves_table_out():
            return True
        return self._edits is not None and self.names[-1] not in self._edits.edits.sheets

    def leaves_out(self, tag: str, given: dict[str, str]) -> None:
        self._notices.add(_left_out(tag, is_unseen(given)))

    def element(self, tag: str, given: dict[str, str]) -> None:
        if self.depth == 1 and tag == "tr":
            given = {key: value for key, value in given.items() if not self._is_telling_row() or key not in LOOKING}
            self._row_look = _look(given)
        if self.depth == 1 and tag == "caption":  # the title above the table, in a row of its own
            self._cell_look = _look(given)
        self._emit(self._tag(tag, given))

    def cell_begins(self, tag: str, given: dict[str, str]) -> None:
        self._cell_look = _look(given)
        if self._is_telling(self.place):
            given = {key: value for key, value in given.items() if key not in LOOKING}
        self.pieces.append(self._tag(tag, given))

    def _is_telling(self, place: Place | None) -> bool:
        return place is not None and place[1:] in self.telling.get(place[0], ())

    def _is_telling_row(self) -> bool:
        """Whether some cell of the row comes back without a look of its own."""
        return any(row == self.row for row, _ in self.telling.get(self.names[-1], ()))

    def _tag(self, tag: str, given: dict[str, str]) -> str:
        dropped = [key for key in given if key not in ATTRIBUTES and key not in ("id", "href", "headers", "name")]
        if any(key.startswith("data-") or key in ("title", "alt", "summary", "aria-label") for key in dropped):
            self._notices.add("attributes of elements (data-, title and others)")
        kept = {k: v for k, v in given.items() if k in ATTRIBUTES and ATTRIBUTES[k].fullmatch(v)}
        if "class" in kept and not (kept := {**kept, "class": _classes(kept["class"])})["class"]:
            del kept["class"]
        return f"<{tag}" + "".join(f' {key}="{escape(value)}"' for key, value in kept.items()) + ">"

    def cell_ends(self, place: Place) -> None:
        """Write the cell with what it says now: in its first text, inside whatever formats that has."""
        texts = [piece for is_text, piece in self.inner if is_text and piece.strip()]
        rest = "".join(texts[1:]).strip()
        flagged = len(rest) <= MOST_FLAG and not any(sign.isdigit() for sign in rest)  # a letter for a footnote, raised
        words = texts[0] if flagged and texts else "".join(piece for is_text, piece in self.inner if is_text)
        self.cells[place] = words
        tags = [piece for is_text, piece in self.inner if not is_text and not _RAISED.fullmatch(piece)]
        self.looks[place] = (self._row_look, self._cell_look, *tags)
        if self._is_telling(place):
            self.inner = [(is_text, piece) for is_text, piece in self.inner if is_text or _RAISED.fullmatch(piece)]
        now = self._now(place, words)
        changed = now != words
        written = False
        for is_text, piece in self.inner:
            if not is_text:
                self.pieces.append(piece)
            elif not changed:
                self.pieces.append(escape(piece, quote=False))
            elif piece.strip() and not written:
                self.pieces.append(escape(now, quote=False))
                written = True
            elif flagged:
                self.pieces.append(escape(piece, quote=False))
        if changed and not written:
            self.pieces.append(escape(now, quote=False))

    def end_of_element(self, tag: str) -> None:
        if tag == "style":
            self._end_style()
        elif tag in KEPT and tag not in EMPTY:
            self._emit(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._style is not None:
            self._style.append(data)
        else:
            super().handle_data(data)

    def text_outside(self, text: str) -> None:
        self.pieces.append(escape(self._outside(text), quote=False))

    def _outside(self, text: str) -> str:
        """A text that stands in no cell."""
        if self._edits is None or not text.strip():
            return text
        if first_number(text.strip()) is not None:
            self._notices.add("numbers that stand outside of tables")
            return ""
        if self._edits.tells(("", 0, 0), text):
            self._notices.add(TOLD)
            return ""
        return text

    def _end_style(self) -> None:
        style = re.sub(r"/\*.*?\*/", "", "".join(self._style or ()), flags=re.DOTALL)
        self._style = None
        if _STYLE.fullmatch(style) and not UNSEEN.search(style.lower()):
            plain = _RULE.sub(lambda rule: "" if _is_telling_rule(rule[1], rule[2]) else rule[0], style)
            if plain != style:
                self._notices.add("rules of style sheets for single cells or rows, and gradients")
            self._emit(f"<style>{plain}</style>")
        else:
            self._notices.add("style sheets that load or hide something")

    def handle_comment(self, data: str) -> None:
        self._notices.add("remarks in the page")

    def _add_note(self, note: str) -> None:
        """The note below the last table."""
        at = max((n for n, piece in enumerate(self.pieces) if piece == "</table>"), default=len(self.pieces) - 1)
        self.pieces.insert(at + 1, f"\n<p><small>{escape(note, quote=False)}</small></p>")


def _look(given: dict[str, str]) -> str:
    """What attributes say of the look of a row or cell."""
    return repr({key: _classes(value) if key == "class" else value for key, value in given.items() if key in LOOKING})


def _classes(text: str) -> str:
    """Classes without those that number a row or cell."""
    return " ".join(word for word in text.split() if not any(sign.isdigit() for sign in word))


def _is_telling_rule(selector: str, declared: str) -> bool:
    """Whether a rule of a style sheet is for single cells or rows, or draws a bar."""
    return bool(_SINGLED_OUT.search(_STRIPES.sub("", selector)) or "gradient" in declared)


def _left_out(tag: str, unseen: bool) -> str:
    if unseen:
        return "elements that are not displayed"
    if tag == "table":
        return "tables that were not protected"
    return "scripts" if tag == "script" else "forms, pictures, frames and other elements"
