"""Labels that hold the same numbers line by line, as each row of a table in two languages does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from discreet.errors import InputError
from discreet.sheets.sums.axis_lines import SURE, AxisLines
from discreet.tables.total_names import like_a_total
from discreet.tables.totals import option

LEAST_REPEATED = 2
"""Labels that must stand there again: a single one may be the only part of another."""


def refuse_repeated_labels(
    name: str, codes: Sequence[str], lines: AxisLines, parents: Mapping[str, str], said: Mapping[str, str | None]
) -> None:
    """Refuse a dimension most of whose labels stand there again with the same numbers in every line.

    Each pair is one count under two names, so that a hidden one can be read from the other, and sums count it twice.
    """
    if name in said and said[name] is None:
        return
    alike: dict[bytes, list[int]] = {}
    counted = 0
    for k, code in enumerate(codes):
        if not lines.shown[k].all() or not lines.values[k].any() or like_a_total(code):
            continue
        counted += 1
        if code not in parents:
            alike.setdefault(lines.values[k].tobytes(), []).append(k)
    repeated = [places for places in alike.values() if len(places) > 1]
    steps = {tuple(b - a for a, b in pairwise(places)) for places in repeated}  # in one order throughout
    bits = sum(float(lines.bits[places[0]]) for places in repeated)
    held = sum(map(len, repeated))
    if len(repeated) < LEAST_REPEATED or len(steps) > 1 or 2 * held <= counted:
        return
    if held < counted and any(step > 1 for own in steps for step in own):
        return  # neither beside each other nor the whole list again
    if bits < SURE + 2 * math.log2(len(codes)):
        return
    pairs = [" and ".join(repr(codes[k]) for k in places) for places in repeated]
    raise InputError(
        f"dimension {name!r}: {pairs[0]} hold the same numbers in every line, and so do {len(pairs) - 1:,} more, as "
        "names of one thing in two languages do; write such names into one cell, or put the second ones into a column "
        f"of their own, so that each count stands there once; if that is chance say {option(name, None)}"
    )
