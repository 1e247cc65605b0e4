"""CSV as in RFC 4180, and CSV on the Web metadata to stand beside it."""

from __future__ import annotations

import json
from typing import Any

from discreet.base.naming import heads, unused
from discreet.formats.layers import column, facts, number_texts
from discreet.release import Release


def to_bytes(release: Release, *, labels: bool = False) -> bytes:
    """Codes, values and status; with ``labels`` a column of labels behind every column of codes.

    >>> from discreet import Dimension, Publish, Table
    >>> sex = Dimension.flat("sex", ["f", "m"], labels={"f": "women", "m": "men"})
    >>> print(to_bytes(Publish()(Table.of([3, 2], [sex])).release(), labels=True).decode().replace("\\r", ""))
    sex,sex label,count,status
    Total,Total,5,
    f,women,3,
    m,men,2,
    <BLANKLINE>
    """
    if not labels:
        return release.to_csv()
    columns: list[Any] = []
    for k, d in enumerate(release.dimensions):
        columns.append(column(release, k, [quoted(c) for c in d.codes]))
        columns.append(column(release, k, [quoted(d.label(c)) for c in d.codes]))
    columns += [number_texts(release, name, "") for name in release.values]
    return lines(_heads(release, True), [*columns, release.status.astype(object)])


def with_notes(release: Release, *, labels: bool = False) -> bytes:
    """``to_bytes`` below title, source, method, marks and notes, each in a line that begins with "# ".

    >>> from discreet import Publish, Table
    >>> release = Publish()(Table.of([3, 2], ["sex"])).release(notes=["Preliminary."])
    >>> for line in with_notes(release).decode().splitlines()[:3]:
    ...     print(line)
    # method: published as it is
    # status: c = confidential: not shown
    # note: Preliminary.
    """
    words = [f"# {name}: {' '.join(text.split())}\r\n" for name, text in facts(release)]
    return "".join(words).encode() + to_bytes(release, labels=labels)


def _heads(release: Release, labels: bool) -> list[str]:
    """The heads of all columns: codes, with labels behind each if wanted, measures, status."""
    names = [d.name for d in release.dimensions]
    taken = heads(names, release.values)
    if not labels:
        return taken
    measures = taken[len(names) :]
    pairs = []
    for name in names:
        label = unused(f"{name} label", taken)
        taken.append(label)
        pairs += [name, label]
    return [*pairs, *measures]


def lines(heads: list[str], columns: list[Any]) -> bytes:
    """CSV from a head and columns of text that is quoted already."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [c if isinstance(c, pa.Array) else pa.array(c, pa.string()) for c in columns]
    body = pc.binary_join_element_wise(*texts, ",").to_pylist()
    return "\r\n".join([",".join(quoted(h) for h in heads), *body, ""]).encode()


def quoted(text: str) -> str:
    """A field, in quotes only when it must be.

    >>> quoted("a,b"), quoted("c")
    ('"a,b"', 'c')
    """
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def metadata(release: Release, *, url: str = "table.csv", labels: bool = False) -> bytes:
    """CSV on the Web metadata for ``to_bytes``: what the columns hold, and the words that go with the table.

    Goes beside ``table.csv`` as ``table.csv-metadata.json``.
    """
    *titles, status = _heads(release, labels)
    said = {d.name: d.title for d in release.dimensions} | {n: release.words.label(n) for n in release.values}

    def called(name: str) -> dict[str, str]:
        return {"dc:title": said[name]} if said.get(name, name) != name else {}

    split = len(titles) - len(release.values)
    columns: list[dict[str, Any]] = [
        {"name": f"d{k + 1}", "titles": title, "datatype": "string", "required": True, **called(title)}
        for k, title in enumerate(titles[:split])
    ]
    for k, (name, title) in enumerate(zip(release.values, titles[split:], strict=True)):
        kind: Any = "decimal" if release.decimals[name] else "integer"
        column = {"name": f"v{k + 1}", "titles": title, "datatype": kind, "null": ""}
        unit = {"schema:unitText": release.words.unit(name)} if release.words.unit(name) else {}
        columns.append({**column, **called(name), **unit})
    columns.append({"name": "status", "titles": status, "datatype": "string", "null": ""})
    words = facts(release)
    terms = {"title": "dc:title", "source": "dc:source", "method": "dc:provenance", "status": "dc:accessRights"}
    one = {name: text for name, text in words if name in terms}
    about: dict[str, Any] = {"@context": "http://www.w3.org/ns/csvw", "url": url}
    about |= {terms[name]: text for name, text in one.items()}
    if notes := [text for name, text in words if name == "note"]:
        about["dc:description"] = notes
    about |= {"dialect": {"encoding": "utf-8", "header": True}, "tableSchema": {"columns": columns}}
    return (json.dumps(about, ensure_ascii=False, indent=2) + "\n").encode()
