"""Which elements of a page are read and written: those that are displayed as text, by a list."""

from __future__ import annotations

import re
from collections.abc import Mapping

BLOCKS = (
    "html head body main section article header footer div p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd figure figcaption "
    "blockquote pre center"
)
INLINE = "b i em strong u s small sup sub span abbr cite code font mark q var br hr wbr title a"
TABLES = "table caption colgroup col thead tbody tfoot tr th td"
EMPTY = frozenset(re.findall(r"\w+", "area base br col embed hr img input link meta param source track wbr"))
KEPT = frozenset(re.findall(r"\w+", f"{BLOCKS} {INLINE} {TABLES}"))
UNWRAPPED = frozenset(
    re.findall(
        r"\w+",
        "label data time bdi bdo dfn kbd samp tt ins big strike acronym nobr button aside address form fieldset legend "
        "nav details summary hgroup search",
    )
)
"""Elements of which the text stays and nothing else."""
UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0|font-size\s*:\s*0")
_ROWS = ("tr", "thead", "tbody", "tfoot")
_CELLS = ("td", "th", "caption")
_ENDED_BY = {**dict.fromkeys(_CELLS, (*_ROWS, *_CELLS)), "tr": _ROWS, **dict.fromkeys(_ROWS[1:], _ROWS[1:])}
"""What ends an element of a table that nothing else ended."""


def is_unseen(given: Mapping[str, str]) -> bool:
    """Whether attributes say that an element is not displayed.

    >>> is_unseen({"style": "color:red"}), is_unseen({"hidden": ""}), is_unseen({"style": "Display: none"})
    (False, True, True)
    """
    style = given.get("style", "").lower()
    return "hidden" in given or given.get("aria-hidden") == "true" or UNSEEN.search(style) is not None


def is_unwrapped(tag: str) -> bool:
    """Whether the text of an element stays without the element: plain ones of a list, and those of a page's own."""
    return tag in UNWRAPPED or "-" in tag


def is_passed_over(tag: str, given: Mapping[str, str]) -> bool:
    """Whether an element is neither read nor written, nor what stands inside it."""
    return is_unseen(given) or (tag not in KEPT and not is_unwrapped(tag))


class PassedOver:
    """The elements that are open inside one which is neither read nor written, that one first."""

    def __init__(self) -> None:
        self._open: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self, tag: str) -> None:
        """An element that is passed over with all that stands inside it."""
        if tag not in EMPTY:
            self._open = [tag]

    def holds_start(self, tag: str) -> bool:
        """Whether an element begins inside the one that is passed over, as far as it is not the end of that."""
        if not self._open:
            return False
        if tag in _ENDED_BY.get(self._open[0], (*_ROWS, *_CELLS)) and "table" not in self._open:
            self._open = []
            return False
        if tag not in EMPTY:
            self._open.append(tag)
        return True

    def holds_end(self, tag: str) -> bool:
        """Whether an end tag belongs to what is passed over, which it may end."""
        if not self._open:
            return False
        if tag in self._open:
            while self._open.pop() != tag:
                pass
            return True
        if tag in ("table", *_ROWS, *_CELLS) and "table" not in self._open:  # the end of what stands around it
            self._open = []
            return False
        return True
