"""Numbers as people write them: which sign stands before decimals and which parts thousands, asked where unclear."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, many

MOST_DECIMALS = 9
_GROUPING = " \u00a0\u202f'\u2019_"  # signs that part thousands and nothing else
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def parse_number(
    texts: Sequence[str], what: str, *, decimal: str | None = None, thousands: str | None = None
) -> tuple[Array, int]:
    """Numbers from text, and the most decimals that one of them states; whole numbers stay whole, however large.

    ``decimal`` is "." or ",", ``thousands`` the sign between groups of three digits. Where they are not said and every
    number with a point (or comma) has just three digits behind it, 1.234 may be either, and is refused.

    >>> parse_number(["1.234,5", "7"], "x"), parse_number(["1.234", "7"], "x", thousands=".")
    ((array([1234.5,    7. ]), 1), (array([1234,    7]), 0))
    """
    decimal, thousands = _signs(texts, what, decimal, thousands)
    plain = [_plain(text.strip(), decimal, thousands) for text in texts]
    if bad := sum(text is None for text in plain):
        raise InputError(f"{what}: {many(bad, 'entry is', 'entries are')} missing or are not numbers")
    numbers = [str(text) for text in plain]
    decimals = min(max((len(text.partition(".")[2]) for text in numbers), default=0), MOST_DECIMALS)
    if all(re.fullmatch(r"[+-]?\d+", text) for text in numbers):
        whole = [int(text) for text in numbers]
        if any(abs(number) >= 2**63 for number in whole):
            raise InputError(f"{what}: an entry is too large")
        return np.array(whole, np.int64), 0
    return np.array([float(text) for text in numbers]), decimals


def misspelt(texts: Sequence[str], what: str, decimal: str | None = None, thousands: str | None = None) -> list[int]:
    """Which texts are no numbers, read with one idea of signs for all of them.

    >>> misspelt(["1,200", "12,34,5", "7.5"], "x")
    [1]
    """
    if not texts:
        return []
    point, comma = _signs(texts, what, decimal, thousands)
    return [k for k, text in enumerate(texts) if _plain(text.strip(), point, comma) is None]


def spelt_numbers(values: Array, what: str, decimal: str | None, thousands: str | None) -> Array:
    """Numbers of a frame; those that stand there as text are read as people write them.

    >>> spelt_numbers(np.array(["1.000", "7"]), "x", None, ".").tolist()
    [1000, 7]
    """
    flat = values.ravel()
    if values.dtype.kind not in "OTU" or not any(isinstance(value, str) for value in flat):
        if decimal is not None or thousands is not None:
            raise InputError(f"{what} holds numbers, not text: decimal and thousands say how text is read")
        return values
    texts = ["" if value is None or value != value else str(value) for value in flat]
    return parse_number(texts, what, decimal=decimal, thousands=thousands)[0].reshape(values.shape)


def _signs(texts: Sequence[str], what: str, decimal: str | None, thousands: str | None) -> tuple[str, str]:
    """The decimal sign and the sign of thousands, as said or as the texts leave no doubt."""
    for name, sign, allowed in (("decimal", decimal, ".,"), ("thousands", thousands, ".," + _GROUPING)):
        if sign is not None and (len(sign) != 1 or sign not in allowed):
            raise InputError(f"{name} is one of {' '.join(allowed[:2])}{' or a blank' if len(allowed) > 2 else ''}")
    if decimal is not None and decimal == thousands:
        raise InputError("the decimal sign and the sign between thousands cannot be the same")
    if decimal is not None:
        return decimal, thousands if thousands is not None else "," if decimal == "." else "."
    if thousands is not None:
        return ("," if thousands == "." else "."), thousands
    for point, comma in ((".", ","), (",", ".")):
        if any(_decides(text.strip(), point, comma) for text in texts):
            return point, comma
    marked = [text for text in texts if "." in text or "," in text]
    if marked:
        sign = "." if "." in marked[0] else ","
        raise InputError(
            f"{what}: {many(len(marked), 'entry has', 'entries have')} three digits behind {sign!r}, which may part "
            f"thousands or decimals; say decimal={sign!r} or thousands={sign!r} (--decimal, --thousands)"
        )
    return ".", ","


def thousands_sign(texts: Sequence[str]) -> str | None:
    """The sign that can only part thousands, where no text alone decides it; None if that stays open.

    Decimals are written with as many digits everywhere, or without zeros at their end. Three digits behind every sign,
    zeros among them, beside numbers below a thousand without one are neither.

    >>> thousands_sign(["2.010", "104", "3"]), thousands_sign(["2.015", "104"]), thousands_sign(["2.010", "104.000"])
    ('.', None, None)
    """
    marked = [text.strip().lstrip("+-") for text in texts if "." in text or "," in text]
    signs = {sign for text in marked for sign in ".," if sign in text}
    plain = [text.strip().lstrip("+-") for text in texts if "." not in text and "," not in text]
    if len(signs) != 1 or not plain or not all(text.isdecimal() and len(text) < 4 for text in plain):
        return None
    (sign,) = signs
    grouped = all(re.fullmatch(rf"[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}", text) for text in marked)
    return sign if grouped and any(text.endswith("0") for text in marked) else None


def other_sign(texts: Sequence[str], beside: Sequence[str]) -> str | None:
    """The sign that parts thousands in texts that leave it open, since numbers ``beside`` them have the other before
    decimals; None if they do not say so.

    >>> other_sign(["2.015", "104"], ["33,3", "8"]), other_sign(["2.015", "104"], ["33.3"])
    ('.', None)
    """
    for sign, decimal in ((".", ","), (",", ".")):
        grouped = rf"[+-]?\d{{1,3}}({re.escape(sign)}\d{{3}})*"
        if any(sign in text for text in texts) and all(re.fullmatch(grouped, text.strip()) for text in texts):
            decided = any(_decides(text.strip(), decimal, sign) for text in beside)
            if decided and not any(_decides(text.strip(), sign, decimal) for text in beside):
                return sign
    return None


def _decides(text: str, point: str, comma: str) -> bool:
    """Whether a text can only be read with ``point`` as the decimal sign."""
    if text.count(point) > 1 or point not in text:
        return text.count(comma) > 1 and point not in text
    before, _, behind = text.lstrip("+-").partition(point)
    if comma in before:
        return comma not in behind
    return comma not in behind and (len(behind) != 3 or not before or before.startswith("0") or len(before) > 3)


def _plain(text: str, decimal: str, thousands: str) -> str | None:
    """The text with a point for decimals and nothing between thousands, or None if it is not a number."""
    before, sign, behind = text.partition(decimal)
    for part in (thousands, *_GROUPING):
        if part in before and re.fullmatch(rf"[+-]?\d{{1,3}}({re.escape(part)}\d{{3}})+", before):
            before = before.replace(part, "")
    number = before + ("." if sign else "") + behind
    return number if _PLAIN.fullmatch(number) else None
