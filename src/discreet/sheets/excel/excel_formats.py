"""Number formats of Excel: which of its sections a cell is shown by, and what of a format may be kept for it."""

from __future__ import annotations

import re

_SECTION = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])*')
_CONDITION = re.compile(r"\[\s*(<=|>=|<>|<|>|=)\s*(-?[\d.]+)\s*\]")
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.')
_TELLS_NOTHING = re.compile(r"[#0?,.%;() -]{1,40}")  # digits, signs and sections, no text and no condition
_SHOWN = re.compile(r'"[^"]*"?|\\.|\[\$[^\]]*\]|\[[^\]]*\]|\*.|/\d+|[^\W_a-zA-Z0]')
MOST_CODE = 200
GENERAL = "General"


def sections_of(code: str) -> list[str]:
    """The sections of a format: for positive numbers, negative ones, zero, and text.

    >>> sections_of('0;-0;"none;";@')
    ['0', '-0', '"none;"', '@']
    """
    sections = []
    at = 0
    while at <= len(code):
        match = _SECTION.match(code, at)
        end = match.end() if match else len(code)
        if end < len(code) and code[end] != ";":  # a quotation mark or bracket that is left open
            end = len(code)
        sections.append(code[at:end])
        at = end + 1
    return sections


def number_section(code: str, value: float) -> str:
    """The section that shows a number.

    >>> number_section('[<6]"*";#,##0', 3), number_section('[<6]"*";#,##0', 30), number_section("0;(0)", -1)
    ('[<6]"*"', '#,##0', '(0)')
    """
    sections = sections_of(code)[:3]
    conditions = [_CONDITION.search(_LITERAL.sub("", section)) for section in sections]
    if any(conditions):
        for section, condition in zip(sections, conditions, strict=True):
            if condition is None or _holds(value, condition[1], condition[2]):
                return section
        return "0"
    if value < 0 and len(sections) > 1:
        return sections[1]
    return sections[2] if value == 0 and len(sections) > 2 else sections[0]


def _holds(value: float, sign: str, limit: str) -> bool:
    bound = float(limit) if limit.strip(".-").replace(".", "", 1).isdigit() else 0.0
    comparisons = {
        "<": value < bound,
        ">": value > bound,
        "<=": value <= bound,
        ">=": value >= bound,
        "=": value == bound,
        "<>": value != bound,
    }
    return comparisons[sign]


def shows_number(section: str) -> bool:
    """Whether a section shows something of the number: a digit, or a part of a date.

    >>> shows_number('"*"'), shows_number("#,##0"), shows_number("yyyy"), shows_number("")
    (False, True, True, False)
    """
    if section.strip().lower().startswith("general"):
        return True
    return re.search(r"[0#?dmyhse]", _LITERAL.sub("", re.sub(r"\[[^\]]*\]", "", section)).lower()) is not None


def is_date_code(code: str) -> bool:
    """Whether a format shows numbers as dates or times.

    >>> is_date_code("dd/mm/yyyy"), is_date_code("[h]:mm"), is_date_code('[Red]0" days"'), is_date_code("#,##0")
    (True, True, False, False)
    """
    first = _LITERAL.sub("", sections_of(code)[0])
    return re.search(r"[dmhys]", re.sub(r"\[(?!h+\]|m+\]|s+\])[^\]]*\]", "", first, flags=re.I).lower()) is not None


def is_duration_code(code: str) -> bool:
    """Whether a format shows numbers as hours, minutes or seconds that are not those of a day.

    >>> is_duration_code("[h]:mm:ss"), is_duration_code("h:mm")
    (True, False)
    """
    return re.search(r"\[(h+|m+|s+)\]", _LITERAL.sub("", sections_of(code)[0]), re.IGNORECASE) is not None


def code_for_number(code: str, value: float) -> str | None:
    """The part of a format that a number needs: its own section where others hold conditions or literal digits.

    None if the number is not shown at all. ``[<6]"*";0`` hides small numbers on the screen only.

    >>> code_for_number('[<6]"*";0', 3), code_for_number('[<6]"*";0', 9), code_for_number('0.0;-0.0;0;"1234"', 9)
    (None, '0', '0.0;-0.0;0')
    """
    section = number_section(code, value)
    if not shows_number(section) or len(code) > MOST_CODE:
        return None if not shows_number(section) else GENERAL
    code, section = without_figures(code), without_figures(section)
    sections = sections_of(code)[:3]
    others = "".join(part for part in sections if part != section)
    telling = any(_CONDITION.search(part) for part in sections) or re.search(r"[1-9]", others) is not None
    kept = _CONDITION.sub("", section) if telling else ";".join(sections)
    if telling and value < 0 and len(sections) > 1:
        kept = f"{kept};{kept}"  # a section of its own shows no minus
    return kept or GENERAL


def without_figures(code: str) -> str:
    """A format without the words in it that hold figures, which may be a hidden number; units stay.

    >>> without_figures('0" (South 4177)"'), without_figures('0.0" kg"'), without_figures("[$41-409]0 77;[<6]# ?/8")
    ('0', '0.0" kg"', '0 ;[<6]# ?/8')
    """
    return _SHOWN.sub(lambda match: "" if _tells_figure(match[0]) else match[0], code)


def _tells_figure(part: str) -> bool:
    """Whether a part of a format shows a figure that is not one of the number."""
    if part.startswith("/"):  # of a fraction: eighths, sixteenths
        return len(part) > len("/1000")
    if part.startswith("["):  # a currency is shown up to its language; a colour or a condition is not
        part = part.rpartition("-")[0] if "-" in part else part
        return part.startswith("[$") and any(sign.isnumeric() for sign in part)
    return any(sign.isnumeric() for sign in part)


def tells_nothing(code: str) -> bool:
    """Whether a format is one of digits and signs alone, which may stay where a mark stands for the number.

    >>> tells_nothing("#,##0;-#,##0"), tells_nothing('0;0;0;"1234567"'), tells_nothing("[<6]0")
    (True, False, False)
    """
    return len(sections_of(code)) < 4 and _TELLS_NOTHING.fullmatch(code) is not None


def code_for_text(code: str) -> str | None:
    """The part of a format that a text needs; None if the text is not shown.

    >>> code_for_text("0.0"), code_for_text('0;0;0;"1234567"'), code_for_text("0;;;@*."), code_for_text("@")
    ('General', None, '@*.', '@')
    """
    sections = sections_of(without_figures(code))
    last = sections[-1]
    has_text = "@" in _LITERAL.sub("", last)
    if len(sections) > 3:
        return last if has_text else None
    return last if has_text and len(code) <= MOST_CODE else GENERAL
