"""Releases in the files that tau-ARGUS writes, for offices whose next step reads those.

tau-ARGUS tells in some of them why a cell is hidden; a Release does not know, so no file says it.
"""

from __future__ import annotations

from typing import Any

from discreet.base.naming import unused
from discreet.data.dimension import Dimension
from discreet.errors import InputError, nearest
from discreet.formats.layers import column, number_texts
from discreet.release import CONFIDENTIAL, Release

HIDDEN = "x"
OPEN, CLOSED = "V", "D"  # of the SBS letters; D is used for every hidden cell


def to_bytes(release: Release, *, measure: str | None = None, names: bool = False) -> bytes:
    """The code-value file: quoted codes and the value, ``x`` where it is not shown; ``names`` adds a first line.

    >>> from discreet import Hide, Table
    >>> print(to_bytes(Hide([1])(Table.of([3, 2], ["sex"])).release(), names=True).decode().replace("\\r", ""))
    "sex","Freq"
    "Total",5
    "1",x
    "2",2
    <BLANKLINE>
    """
    chosen = _measure(release, measure)
    names_of = [d.name for d in release.dimensions]
    heads = [*names_of, unused("Freq" if chosen == "count" else chosen, names_of)]
    first = ",".join(_quoted(h) for h in heads) if names else ""
    return _joined(first, [*_codes(release), number_texts(release, chosen, HIDDEN)])


def to_sbs(release: Release, *, measure: str | None = None, levels: bool = False) -> bytes:
    """The SBS file: codes (with their level in the hierarchy if ``levels``), value, frequency, V or D.

    The frequency is the release's 'count', nothing if it has none. Every hidden cell has D.

    >>> from discreet import Hide, Table
    >>> print(to_sbs(Hide([1])(Table.of([3, 2], ["sex"])).release()).decode().replace("\\r", ""))
    "Total",5,5,V
    "1",x,,D
    "2",2,2,V
    <BLANKLINE>
    """
    import numpy as np
    import pyarrow as pa

    chosen = _measure(release, measure)
    columns = []
    for k, (d, codes) in enumerate(zip(release.dimensions, _codes(release), strict=True)):
        columns += [codes, column(release, k, [str(level(d, c)) for c in d.codes])] if levels else [codes]
    counts = number_texts(release, "count", "") if "count" in release.values else pa.repeat("", len(release))
    letters = np.where(release.status == CONFIDENTIAL, CLOSED, OPEN).astype(object)
    columns += [number_texts(release, chosen, HIDDEN), counts.cast(pa.string()), pa.array(letters, pa.string())]
    return _joined("", columns)


def level(dimension: Dimension, code: str) -> int:
    """How far below the total a code stands; 0 for the total and for all codes of a flat variable.

    >>> d = Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"})
    >>> [level(d, c) for c in d.codes]
    [0, 1, 2, 2, 1, 2]
    """
    if not dimension.groups or code == dimension.total:
        return 0
    parents: dict[str, str] = {}
    for group in dimension.groups:
        if not group.signed:
            parents |= {part: group.code for part, _ in group.parts if part not in parents}
    depth = 1
    while code in parents:
        code, depth = parents[code], depth + 1
    return depth


def _measure(release: Release, wanted: str | None) -> str:
    names = list(release.values)
    if wanted is None and len(names) > 1:
        wanted = next((name for name in names if name != "count"), None) if len(names) == 2 else None
        if wanted is None:
            raise InputError(f"a tau-ARGUS file holds one measure; name it: measure= one of {', '.join(names)}")
    if wanted is not None and wanted not in names:
        raise InputError(f"the release has no measure {wanted!r}; {nearest(wanted, names)}")
    return wanted or names[0]


def _codes(release: Release) -> list[Any]:
    return [column(release, k, [_quoted(c) for c in d.codes]) for k, d in enumerate(release.dimensions)]


def _quoted(text: str) -> str:
    """In quotes; tau-ARGUS has no way to write one inside."""
    return '"' + " ".join(text.replace('"', "'").split()) + '"'


def _joined(first: str, columns: list[Any]) -> bytes:
    import pyarrow.compute as pc

    body = pc.binary_join_element_wise(*columns, ",").to_pylist()
    return "\r\n".join([*([first] if first else []), *body, ""]).encode()
