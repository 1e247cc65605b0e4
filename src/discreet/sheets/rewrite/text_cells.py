"""Cells that are texts in their file: what each says after the edits, in the same writing."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.sheets.rewrite import notices as say
from discreet.sheets.rewrite.edits import Place, Settled
from discreet.sheets.rewrite.notices import Notices
from discreet.sheets.rewrite.number_look import first_number, written_like


def text_now(edits: Settled, place: Place, text: str, decimal: str | None, notices: Notices) -> str:
    """What a cell says now, blanks around it as they were; the same text if it may stay."""
    if place in edits.now:
        content = edits.now[place]
        if content is None:
            return ""
        return written_like(text, content, decimal) if not isinstance(content, str) else _padded(text, content)
    if not text.strip():
        return text
    if first_number(text, decimal) is not None and place not in edits.shown:
        notices.at(say.UNJUDGED, place)
        return ""
    if edits.tells(place, text):
        notices.at(say.REPEATED, place)
        return ""
    return text


def _padded(text: str, mark: str) -> str:
    """The mark with the blanks that stood around a text."""
    inner = text.strip()
    before, _, behind = text.partition(inner) if inner else ("", "", "")
    return f"{before}{mark}{behind}"


def decimal_sign(texts: Iterable[str]) -> str | None:
    """The sign before decimals that some number leaves no doubt about; None if none does.

    >>> decimal_sign(["1,234", "12,5"]), decimal_sign(["1,234.5"]), decimal_sign(["1,234"])
    (',', '.', None)
    """
    for text in texts:
        signs = [sign for sign in text if sign in ".,"]
        if not signs or first_number(text) is None:
            continue
        if len(set(signs)) == 2:
            return signs[-1]
        behind = "".join(sign for sign in text.rpartition(signs[0])[2] if sign.isdigit())
        if len(signs) == 1 and len(behind) != 3:
            return signs[0]
        if len(signs) > 1:
            return "," if signs[0] == "." else "."
    return None
