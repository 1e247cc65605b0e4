"""The selected cells in the formats of PxWeb: JSON-stat as PxWeb extends it, its own JSON, and CSV with headings."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError, nearest
from discreet.formats import to_bytes
from discreet.formats.layers import ABSENT, MEANING, facts
from discreet.release import CONFIDENTIAL, Release
from discreet.server.portals.portal_table import PortalTable
from discreet.server.portals.pxweb_documents import (
    SEPARATORS,
    TEXT_OPTIONS,
    contents_dimension,
    px_words,
    variable_dimension,
)
from discreet.server.portals.selected_cells import all_marks, all_values, measures_together

HIDDEN = {CONFIDENTIAL: "..", ".": "."}  # marks of PX: confidential, and not part of the table


@dataclass(frozen=True)
class TextLayout:
    """How a text format lays out a table: which variables across and down, codes or texts, title, separator."""

    heading: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for option in self.options:
            known = (*TEXT_OPTIONS, *SEPARATORS)
            if option not in known:
                raise InputError(f"no option {option!r} of a format; {nearest(option, known)}")
        for kinds in (TEXT_OPTIONS[:3], tuple(SEPARATORS)):
            if len(both := [option for option in self.options if option in kinds]) > 1:
                raise InputError(f"options {' and '.join(both)} exclude each other")

    @property
    def separator(self) -> str:
        """Between two fields."""
        return next((SEPARATORS[option] for option in self.options if option in SEPARATORS), ",")

    def text(self, code: str, label: str) -> str:
        """A code as it is written."""
        if "UseCodes" in self.options:
            return code
        return f"{code} {label}" if "UseCodesAndTexts" in self.options and code != label else label


def answer_bytes(
    table: PortalTable, parts: Sequence[Release], form: str, layout: TextLayout, addresses: Mapping[str, str]
) -> bytes:
    """The selected cells of each measure in a format; ``addresses`` are those of the whole table of each."""
    if form == "json-stat2":
        return json_bytes(stat_dataset(table, parts, addresses))
    if form == "json-px":
        return json_bytes(rows_document(table, parts))
    if form == "csv":
        return heading_csv(table, parts, layout)
    return to_bytes(measures_together(parts, table.contents, table.measures), form)


def json_bytes(document: Any) -> bytes:
    """JSON in as few bytes as it takes."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def stat_dataset(table: PortalTable, parts: Sequence[Release], addresses: Mapping[str, str]) -> dict[str, Any]:
    """JSON-stat 2.0 with the contents first and a value, or null, for every combination of the selected codes."""
    measures = [name for release in parts for name in release.values]
    decimals = {name: digits for release in parts for name, digits in release.decimals.items()}
    values = [value for release in parts for name in release.values for value in all_values(release, name)]
    marks = [mark for release in parts for mark in all_marks(release)]
    method, notes = stated_words(parts)
    codes = {d.name: d.codes for d in parts[0].dimensions}
    status = {
        str(place): HIDDEN.get(mark, mark)
        for place, (value, mark) in enumerate(zip(values, marks, strict=True))
        if value is None
    }
    return {
        "version": "2.0",
        "class": "dataset",
        "label": stated_title(table, parts),
        "source": parts[0].source,
        "note": [text for text in (method, *notes) if text],
        "role": {"metric": [table.contents]},
        "id": [table.contents, *codes],
        "size": [len(measures), *(len(held) for held in codes.values())],
        "dimension": {
            table.contents: contents_dimension(table, measures, decimals),
            **{name: variable_dimension(table, table.variables[name], held) for name, held in codes.items()},
        },
        "value": values,
        "status": status,
        "extension": {
            "px": px_words(table, list(codes)),
            "discreet": {"method": method, "tables": dict(addresses), "status": _meanings()},
        },
    }


def _meanings() -> dict[str, str]:
    return {HIDDEN[CONFIDENTIAL]: MEANING[CONFIDENTIAL], HIDDEN["."]: MEANING[ABSENT]}


def stated_words(parts: Sequence[Release]) -> tuple[str, list[str]]:
    """The methods of some measures, and their notes, each once."""
    methods = dict.fromkeys(step for release in parts for step in release.method.split("; "))
    return "; ".join(methods), [*dict.fromkeys(note for release in parts for note in release.notes)]


def stated_title(table: PortalTable, parts: Sequence[Release]) -> str:
    """What the numbers are: the data set's title, its measures and the selected variables."""
    measures = ", ".join(name for release in parts for name in release.values)
    return f"{table.title}: {measures} by {', '.join(d.name for d in parts[0].dimensions)}"


def rows_document(table: PortalTable, parts: Sequence[Release]) -> dict[str, Any]:
    """PxWeb's own JSON: a key of codes and a text for every value, in each row."""
    dimensions = parts[0].dimensions
    columns = [{"code": d.name, "text": table.variables[d.name].title, "type": "d"} for d in dimensions]
    columns += [{"code": name, "text": table.measures[name], "type": "c"} for one in parts for name in one.values]
    texts = zip(*(_texts(release, name) for release in parts for name in release.values), strict=True)
    keys = itertools.product(*(d.codes for d in dimensions))
    rows = [{"key": list(key), "values": list(values)} for key, values in zip(keys, texts, strict=True)]
    about = {"label": stated_title(table, parts), "source": parts[0].source}
    method, notes = stated_words(parts)
    said = [text for text in (method, *notes) if text]
    return {"columns": columns, "comments": [], "data": rows, "metadata": [{**about, "notes": said}]}


def _texts(release: Release, measure: str) -> list[str]:
    """The number of every combination of selected codes as text, or why there is none."""
    return [_text(v, m) for v, m in zip(all_values(release, measure), all_marks(release), strict=True)]


def _text(value: float | None, mark: str) -> str:
    return HIDDEN.get(mark, mark) if value is None else str(value)


def heading_csv(table: PortalTable, parts: Sequence[Release], layout: TextLayout) -> bytes:
    """CSV with the variables of the stub in columns of their own and those of the heading across."""
    dimensions = parts[0].dimensions
    names = [table.contents, *(d.name for d in dimensions)]
    across, down = across_and_down(names, layout)
    measures = tuple(name for release in parts for name in release.values)
    codes = {table.contents: measures, **{d.name: d.codes for d in dimensions}}
    labels: dict[str, Mapping[str, str]] = {table.contents: table.measures}
    labels |= {d.name: {code: d.label(code) for code in d.codes} for d in dimensions}
    written = {name: [layout.text(code, labels[name][code]) for code in held] for name, held in codes.items()}
    texts = np.array([_texts(release, name) for release in parts for name in release.values], dtype=object).reshape(
        [len(codes[name]) for name in names]
    )
    lines = texts.transpose([names.index(name) for name in (*down, *across)])
    lines = lines.reshape(int(np.prod([len(codes[name]) for name in down])), -1)
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=layout.separator, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    if "IncludeTitle" in layout.options:
        writer.writerow([stated_title(table, parts)])
    writer.writerow([*down, *(" ".join(head) for head in itertools.product(*(written[name] for name in across)))])
    for row, line in zip(itertools.product(*(written[name] for name in down)), lines.tolist(), strict=True):
        writer.writerow([*row, *line])
    if "IncludeTitle" in layout.options:
        for word, text in dict.fromkeys(fact for release in parts for fact in facts(release)):
            writer.writerow([f"{word}: {text}"])
    return buffer.getvalue().encode()


def across_and_down(names: Sequence[str], layout: TextLayout) -> tuple[list[str], list[str]]:
    """Variables across and down; one that is not placed goes down, the contents across."""
    for name in (*layout.heading, *layout.stub):
        if name not in names:
            raise InputError(f"{name!r} is placed and not selected; {nearest(name, names)}")
    both = [*layout.heading, *layout.stub]
    if len(set(both)) < len(both):
        raise InputError("a variable is placed twice; name each in heading or stub, once")
    contents = [] if names[0] in both else [names[0]]
    rest = [name for name in names[1:] if name not in both]
    return [*layout.heading, *contents], [*layout.stub, *rest]
