"""Labels as they are compared between dimensions and tables."""

from __future__ import annotations

import unicodedata

from discreet.data.dimension import Dimension


def plain_label(label: str) -> str:
    """A label as it is compared: letters composed (NFC), as other programs write an accent as a sign of its own.

    >>> plain_label("Cafe\u0301  NORTH") == plain_label("Caf\u00e9 north")
    True
    """
    return " ".join(unicodedata.normalize("NFC", label).casefold().split())


def plain_labels(dimension: Dimension) -> dict[str, str]:
    """The codes of a dimension but the total by their labels, as they are compared.

    >>> plain_labels(Dimension.flat("ward", ["Ash", "Bray"], total="All"))
    {'ash': 'Ash', 'bray': 'Bray'}
    """
    labels, total = dimension.labels, dimension.total
    return {plain_label(labels.get(code, code)): code for code in dimension.codes if code != total}
