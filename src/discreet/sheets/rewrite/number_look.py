"""Numbers as a sheet writes them, and another number written in the same way."""

from __future__ import annotations

import re
from decimal import Decimal

_SPACES = " \u00a0\u2009\u202f"
_GROUPS = _SPACES + "'\u2019_"
_BEFORE, _BEHIND = r"[\s£$€(]*[-\u2212+]?[\s£$€]*", r"[\s%)€*†‡]*"
_BODY = re.compile(rf"({_BEFORE})(\d[\d.,{re.escape(_GROUPS)}]*\d|\d|[.,]\d+)({_BEHIND})", re.ASCII)
_WITH_SHARE = re.compile(r"([^([]*\d)(\s*[([]\s*)([\d., ]+%?)(\s*[)\]]\s*)")  # 12 (34.5%)
_BEHIND_SHARE = re.compile(r"\s*([\d.,]+\s?%)\s*[([]\s*([^()[\]%]*\d)\s*[)\]]\s*")  # 34.5% (12)
_WITH_UNIT = re.compile(rf"(\d(?:[\d.,{re.escape(_GROUPS)}]*\d)?)([{_SPACES}]?[^\W\d_]{{2,20}}\.?)")  # 14 pupils
MOST_PLACES = 15


def plain_number(text: str, decimal: str | None = None) -> float | None:
    """The number that a text is, with whatever stands around it as people write it; None if it is something else.

    ``decimal`` settles what a single point or comma before three digits is; without it such a sign parts thousands.

    >>> plain_number("1,234"), plain_number("1,234", ","), plain_number("12.5 %"), plain_number("0-4")
    (1234.0, 1.234, 12.5, None)
    """
    if text.isdecimal() and text.isascii():  # most of all numbers
        return float(text)
    match = _BODY.fullmatch(text.strip())
    if match is None:
        return None
    body = match[2]
    point = _decimal_sign(body, decimal)
    whole, _, fraction = body.rpartition(point) if point else (body, "", "")
    if not re.fullmatch(r"\d*", fraction) or not _is_grouped(whole):
        return None
    negative = any(sign in match[1] for sign in "-\u2212") or ("(" in match[1] and ")" in match[3])
    value = float(f"{re.sub(r'[^0-9]', '', whole) or 0}.{fraction or 0}")
    return -value if negative else value


def _decimal_sign(body: str, decimal: str | None) -> str:
    """The sign before decimals in digits and signs; empty if there is none."""
    signs = [sign for sign in body if sign in ".,"]
    if not signs:
        return ""
    last = signs[-1]
    if len(signs) > 1:
        return "" if signs.count(last) > 1 else last if last != signs[0] else ""
    if decimal is not None:
        return decimal if last == decimal else ""
    behind = body.rpartition(last)[2]
    before = body.partition(last)[0]
    return "" if len(behind) == 3 and 0 < len(before) <= 3 and before != "0" else last


def _is_grouped(whole: str) -> bool:
    return re.fullmatch(rf"\d*|\d{{1,3}}([.,{re.escape(_GROUPS)}])\d{{3}}(\1\d{{3}})*", whole) is not None


def written_like(pattern: str, number: float, decimal: str | None = None) -> str:
    """A number with the decimals, the signs between thousands and all that stands around it in another's text.

    >>> written_like("1,234", 5670000), written_like("12,5 %", 7, ","), written_like("(3)", -4), written_like("-3", 4)
    ('5,670,000', '7,0 %', '(4)', '4')
    >>> written_like("14 pupils", 15)
    '15 pupils'
    """
    match = _BODY.fullmatch(pattern.strip())
    if match is None and (unit := _WITH_UNIT.fullmatch(pattern.strip())) is not None:
        return written_like(unit[1], number, decimal) + unit[2]
    if match is None or plain_number(pattern, decimal) is None:
        return plain_text(number, decimal or ".")
    start = pattern[: len(pattern) - len(pattern.lstrip())]
    end = pattern[len(pattern.rstrip()) :]
    before = re.sub("[-\u2212+]", "", match[1])
    behind = match[3]
    if "(" in before and ")" in behind:  # an accountant's minus
        if number >= 0:
            before = before.replace("(", "")
            behind = behind.replace(")", "")
        number = abs(number)
    return f"{start}{before}{_digits(match[2], number, decimal)}{behind}{end}"


def _digits(body: str, number: float, decimal: str | None) -> str:
    point = _decimal_sign(body, decimal)
    whole, _, fraction = body.rpartition(point) if point else (body, "", "")
    group = next((sign for sign in whole if not sign.isdigit()), "")
    places = len(fraction)
    rounded = Decimal(repr(float(number))) if not isinstance(number, int) else Decimal(number)
    if not places and rounded != rounded.to_integral_value():
        return plain_text(number, decimal or ("," if group == "." else "."))
    text = f"{rounded:,.{places}f}" if group else f"{rounded:.{places}f}"
    left, _, right = text.partition(".")
    return left.replace(",", group) + (point + right if right else "")


def first_number(text: str, decimal: str | None = None) -> float | None:
    """The number of a text that is one, or that stands with a share, one of them in brackets: "12 (34.5%)".

    >>> first_number("12 (34.5%)"), first_number("34.5% (12)")
    (12.0, 12.0)
    """
    number = plain_number(text, decimal)
    if number is not None or not ("(" in text or "[" in text):
        return number
    if match := _BEHIND_SHARE.fullmatch(text):
        return plain_number(match[2], decimal)
    match = _WITH_SHARE.fullmatch(text)
    return None if match is None else plain_number(match[1], decimal)


def written_with_share(pattern: str, number: float, share: float | None, mark: str) -> str:
    """A number and its share as another pair is written; behind a share that is not known the number stands alone.

    >>> written_with_share("12 (34.5%)", 1200, 7.25, "c"), written_with_share("12 (34.5%)", 15, None, "c")
    ('1200 (7.2%)', '15 (c)')
    >>> written_with_share("34.5% (12)", 1200, 7.25, "c"), written_with_share("34.5% (12)", 15, None, "c")
    ('7.2% (1200)', '15')
    """
    if match := _BEHIND_SHARE.fullmatch(pattern):
        count = written_like(match[2], number)
        (first, last), (start, end) = match.span(1), match.span(2)
        if share is None:
            return count
        return pattern[:first] + written_like(match[1], share) + pattern[last:start] + count + pattern[end:]
    match = _WITH_SHARE.fullmatch(pattern)
    if match is None:
        return written_like(pattern, number)
    inner = mark if share is None else written_like(match[3], share)
    return f"{written_like(match[1], number)}{match[2]}{inner}{match[4]}"


def number_with_unit(text: str, decimal: str | None = None) -> float | None:
    """The number of a text that is one with a word behind it; None if it is something else.

    >>> number_with_unit("1,014 pupils"), number_with_unit("pupils")
    (1014.0, None)
    """
    match = _WITH_UNIT.fullmatch(text.strip())
    return None if match is None else plain_number(match[1], decimal)


def share_within(text: str, decimal: str | None = None) -> float | None:
    """The share that stands with a count in one text; None if there is none.

    >>> share_within("12 (34.5%)"), share_within("34.5% (12)"), share_within("12")
    (34.5, 34.5, None)
    """
    match = _BEHIND_SHARE.fullmatch(text)
    share = match[1] if match is not None else (found[3] if (found := _WITH_SHARE.fullmatch(text)) else None)
    return None if share is None else plain_number(share, decimal)


def without_share(text: str) -> str:
    """The count of a text without the share that stands behind it in brackets, or before it.

    >>> without_share("1,200 (7.2%)"), without_share("12 [<0.1]"), without_share("7.2% (1,200)")
    ('1,200', '12', '1,200')
    """
    if match := _BEHIND_SHARE.fullmatch(text):
        return match[2].strip()
    return re.split(r"[(\[]", text, maxsplit=1)[0].strip()


def plain_text(number: float, decimal: str = ".") -> str:
    """A number as text with as many digits as it needs, and none behind the point of a whole one.

    >>> plain_text(12.0), plain_text(0.1, ",")
    ('12', '0,1')
    """
    if float(number).is_integer() and abs(number) < 10**MOST_PLACES:
        return str(int(number))
    return repr(float(number)).replace(".", decimal)
