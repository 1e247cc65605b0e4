"""Cells that say a count and of how many it is, most with the percentage: "3/45 (6.7%)", "3 of 45"."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = r"\d{1,3}(?:[ ,.\u00a0\u202f\u2019']\d{3})+|\d+"
_QUOTIENT = re.compile(
    rf"({_NUMBER})(\s*(?:/|\bout of\b|\bof\b|\bvon\b|\baus\b|\bsur\b|\bde\b|\bav\b|\bvan\b)\s*)({_NUMBER})"
    r"(?:(\s*[(\[,;:]?\s*)(\d+(?:[.,]\d+)?)(\s*%?\s*[)\]]?))?",
    re.IGNORECASE,
)


class QuotientCell(NamedTuple):
    """A count, of how many it is, and the share as it is written; "" if there is none."""

    part: int
    base: int
    share: str

    @property
    def decimals(self) -> int:
        """Digits of the share behind the point."""
        return len(self.share.replace(",", ".").partition(".")[2])

    @property
    def holds(self) -> bool:
        """Whether the share is that of the count, to half of its last digit."""
        if not self.share:
            return self.base >= self.part
        off = abs(100 * self.part / max(self.base, 1) - float(self.share.replace(",", ".")))
        return self.base >= self.part and off <= 0.5000001 * 10.0**-self.decimals


def quotient_in(text: str) -> QuotientCell | None:
    """What such a cell says; None if a text is something else.

    >>> quotient_in("3/45 (6.7%)"), quotient_in("1,200 of 4,500"), quotient_in("3 (6.7%)")
    (QuotientCell(part=3, base=45, share='6.7'), QuotientCell(part=1200, base=4500, share=''), None)
    """
    match = _QUOTIENT.fullmatch(text.strip())
    if match is None:
        return None
    return QuotientCell(_whole(match[1]), _whole(match[3]), match[5] or "")


def other_quotient(text: str, count: int, base: int) -> str:
    """A cell of this kind with other numbers, written alike.

    >>> other_quotient("3/45 (6,7 %)", 5, 50), other_quotient("12 of 40", 10, 40)
    ('5/50 (10,0 %)', '10 of 40')
    """
    match = _QUOTIENT.fullmatch(text.strip())
    if match is None:
        return text
    share = ""
    if match[5]:
        decimals = len(match[5].replace(",", ".").partition(".")[2])
        worked_out = f"{100 * count / base:.{decimals}f}" if base else match[5]
        share = match[4] + (worked_out.replace(".", ",") if "," in match[5] else worked_out) + match[6]
    return f"{count}{match[2]}{base}{share}"


def _whole(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))
