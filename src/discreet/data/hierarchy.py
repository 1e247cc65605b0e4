"""Ways in which people write down a hierarchy, each turned into (child, parent, sign) triples.

Pure text work: nothing here knows what a Dimension is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from discreet.base.texts import as_csv, code_text, column_names, natural
from discreet.errors import InputError, headings, listed, many, nearest


class Link(NamedTuple):
    """``child`` is a part of ``parent``; sign -1 says that it is taken away."""

    child: str
    parent: str
    sign: int = 1


Parents = Mapping[Any, Any] | Iterable[Sequence[Any]]


def links(parents: Parents) -> list[Link]:
    """Triples from a {child: parent} mapping or from (child, parent[, sign]) rows, repeats left out.

    >>> links({"N1": "N"})
    [Link(child='N1', parent='N', sign=1)]
    """
    rows = parents.items() if isinstance(parents, Mapping) else parents
    triples: dict[Link, None] = {}
    for row in rows:
        if isinstance(row, str) or not 2 <= len(row) <= 3:
            raise InputError("a hierarchy is a {child: parent} mapping or rows of (child, parent[, sign])")
        sign = int(row[2]) if len(row) == 3 else 1
        if sign not in (-1, 1):
            raise InputError(f"sign of {code_text(row[0])!r} in {code_text(row[1])!r} is {sign}; it can be 1 or -1")
        triples[Link(code_text(row[0]), code_text(row[1]), sign)] = None
    return list(triples)


def from_hrc(text: str, leader: str = "@") -> tuple[list[str], list[Link]]:
    """Codes in order of appearance and the links of a tau-ARGUS ``.hrc`` text.

    >>> from_hrc("N\\n@N1\\n@N2\\nS")
    (['N', 'N1', 'N2', 'S'], [Link(child='N1', parent='N', sign=1), Link(child='N2', parent='N', sign=1)])
    """
    if not leader or leader.isspace():
        raise InputError("the leader of an .hrc file is one or more visible characters, such as '@'")
    codes: list[str] = []
    triples: list[Link] = []
    path: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        depth, rest = 0, line.strip()
        while rest.startswith(leader):
            depth, rest = depth + 1, rest[len(leader) :]
        code = rest.strip()
        if not code:
            raise InputError(f".hrc line {number}: no code behind the leader {leader!r}")
        if depth > len(path):
            raise InputError(
                f".hrc line {number}: the code is {many(depth, 'level')} deep but the line above only {len(path) - 1}"
            )
        if code in codes:
            raise InputError(f".hrc line {number}: the code appears twice")
        del path[depth:]
        codes.append(code)
        if path:
            triples.append(Link(code, path[-1]))
        path.append(code)
    if not codes:
        raise InputError("the .hrc file holds no codes")
    return codes, triples


def to_hrc(children: Mapping[str, Sequence[str]], roots: Sequence[str], leader: str = "@") -> str:
    """A tau-ARGUS ``.hrc`` text of a tree given by its roots and each group's children."""
    lines: list[str] = []

    def write(code: str, depth: int) -> None:
        if code.startswith(leader) or code != code.strip():
            raise InputError(f"code {code!r} cannot be written behind the leader {leader!r}; choose another leader")
        lines.append(leader * depth + code)
        for child in children.get(code, ()):
            write(child, depth + 1)

    for root in roots:
        write(root, 0)
    return "\n".join(lines) + "\n"


def from_prefix(codes: Sequence[str], lengths: Sequence[int]) -> list[Link]:
    """Links of codes whose first ``lengths`` characters name their groups.

    >>> from_prefix(["A01", "A02", "B01"], [1])[0]
    Link(child='A01', parent='A', sign=1)
    """
    if not lengths or any(b <= a for a, b in zip((0, *lengths), lengths, strict=False)):
        raise InputError(f"prefix lengths are rising positive numbers such as (1, 3), not {tuple(lengths)}")
    known = set(codes)
    triples: dict[Link, None] = {}
    for code in codes:
        below = code
        for length in reversed([n for n in lengths if n < len(code)]):
            group = code[:length]
            if group in known:
                raise InputError(
                    f"{group!r} is a code and also the prefix of {code!r}; a group cannot be a finest code too"
                )
            triples[Link(below, group)] = None
            below = group
    return list(triples)


def from_csv(text: str) -> tuple[list[list[Link]], dict[str, str], list[str]]:
    """Hierarchies, labels and all codes of a CSV with columns code,parent[,label][,sign][,hierarchy].

    A row with an empty parent names a root or a code that stands alone.
    """
    sample = text[:4096]
    delimiter = max(",;\t|", key=sample.split("\n", 1)[0].count)
    with as_csv("the hierarchy"):
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        names = [n.strip().lower() for n in (reader.fieldnames or [])]
        reader.fieldnames = names
        rows = [(reader.line_num, row) for row in reader]
    if "code" not in names:
        raise InputError("a hierarchy CSV needs the columns 'code' and 'parent'")
    allowed = ("code", "parent", "label", "sign", "hierarchy")
    for name in names:
        if name not in allowed:
            raise InputError(f"an unknown column in a hierarchy CSV; {nearest(name, allowed)}")
    hierarchies: dict[str, list[Link]] = {}
    labels: dict[str, str] = {}
    codes: dict[str, None] = {}
    for line, row in rows:
        code, parent = (row.get("code") or "").strip(), (row.get("parent") or "").strip()
        if not code:
            raise InputError(f"hierarchy CSV line {line}: no code")
        if code in codes and not parent:
            raise InputError(f"hierarchy CSV line {line}: the code appears twice")
        codes[code] = None
        if label := (row.get("label") or "").strip():
            labels[code] = label
        if not parent:
            continue
        sign = {"": 1, "1": 1, "+1": 1, "+": 1, "-1": -1, "-": -1, "−1": -1}.get((row.get("sign") or "").strip(), 0)
        if not sign:
            raise InputError(f"hierarchy CSV line {line}: a sign can be 1 or -1")
        which = hierarchies.setdefault((row.get("hierarchy") or "").strip(), [])
        link = Link(code, parent, sign)
        if link in which:
            raise InputError(f"hierarchy CSV line {line}: the code and its parent appear twice")
        which.append(link)
    if not codes:
        raise InputError("the hierarchy CSV holds no codes")
    return list(hierarchies.values()), labels, list(codes)


def unique_rows(frame: Any, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The distinct combinations of some columns of a pandas, polars or Arrow table or a dict of lists."""
    have = column_names(frame)
    for column in columns:
        if column not in have:
            raise InputError(f"no column {column!r}; {headings(have, str(column))}")
    if hasattr(frame, "drop_duplicates"):  # pandas
        rows = frame[list(columns)].drop_duplicates().itertuples(index=False, name=None)
    elif hasattr(frame, "group_by") and hasattr(frame, "schema") and hasattr(frame, "to_pylist"):  # Arrow
        rows = zip(*frame.select(list(columns)).group_by(list(columns)).aggregate([]).to_pydict().values(), strict=True)
    elif hasattr(frame, "lazy"):  # polars
        rows = iter(frame.select(columns).unique().rows())
    else:
        rows = zip(*(frame[c] for c in columns), strict=True)
    return list(dict.fromkeys(rows))


def from_nested(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> tuple[list[str], list[Link]]:
    """Leaves and links from rows of (finest, ..., coarsest) codes; the levels must really nest.

    >>> from_nested([("a1", "a"), ("b", "b")], ["county", "region"])
    (['a1', 'b'], [Link(child='a1', parent='a', sign=1)])
    """
    above: dict[str, str] = {}
    leaves: dict[str, None] = {}
    table = {tuple(code_text(v) for v in row) for row in rows}
    for row in sorted(table, key=lambda r: [natural(c) for c in reversed(r)]):
        chain = [c for c, d in zip(row, (*row[1:], None), strict=True) if c != d]  # A in A is one and the same cell
        leaves[chain[0]] = None
        for child, parent in pairwise(chain):
            if above.setdefault(child, parent) != parent:
                raise InputError(
                    f"a code lies in two groups: the columns {listed(columns)} do not nest; "
                    "give each grouping as a hierarchy of its own (Dimension.from_parents)"
                )
    groups = set(above.values())
    if clash := [code for code in leaves if code in groups]:
        raise InputError(
            f"{many(len(clash), 'code')} of {columns[0]!r} are groups of others too; codes of different levels must "
            "differ"
        )
    return list(leaves), [Link(c, p) for c, p in above.items()]
