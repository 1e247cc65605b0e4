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
from discreet.server.portals.selected_cells import all_marks, all_values

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


def answer_bytes(table: PortalTable, release: Release, form: str, layout: TextLayout, address: str) -> bytes:
    """The selected cells in a format; ``address`` is where the whole answer can be had."""
    if form == "json-stat2":
        return json_bytes(stat_dataset(table, release, address))
    if form == "json-px":
        return json_bytes(rows_document(table, release))
    if form == "csv":
        return heading_csv(table, release, layout)
    return to_bytes(release, form)


def json_bytes(document: Any) -> bytes:
    """JSON in as few bytes as it takes."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def stat_dataset(table: PortalTable, release: Release, address: str) -> dict[str, Any]:
    """JSON-stat 2.0 with the contents first and a value, or null, for every combination of the selected codes."""
    measures = list(release.values)
    values = [value for measure in measures for value in all_values(release, measure)]
    marks = all_marks(release) * len(measures)
    codes = {d.name: d.codes for d in release.dimensions}
    status = {
        str(place): HIDDEN.get(mark, mark)
        for place, (value, mark) in enumerate(zip(values, marks, strict=True))
        if value is None
    }
    return {
        "version": "2.0",
        "class": "dataset",
        "label": stated_title(table, release),
        "source": release.source,
        "note": [text for text in (release.method, *release.notes) if text],
        "role": {"metric": [table.contents]},
        "id": [table.contents, *codes],
        "size": [len(measures), *(len(held) for held in codes.values())],
        "dimension": {
            table.contents: contents_dimension(table, measures, release.decimals),
            **{name: variable_dimension(table, table.variables[name], held) for name, held in codes.items()},
        },
        "value": values,
        "status": status,
        "extension": {
            "px": px_words(table, list(codes)),
            "discreet": {"method": release.method, "table": address, "status": _meanings()},
        },
    }


def _meanings() -> dict[str, str]:
    return {HIDDEN[CONFIDENTIAL]: MEANING[CONFIDENTIAL], HIDDEN["."]: MEANING[ABSENT]}


def stated_title(table: PortalTable, release: Release) -> str:
    """What the numbers are: the data set's title, its measures and the selected variables."""
    return f"{table.title}: {', '.join(release.values)} by {', '.join(d.name for d in release.dimensions)}"


def rows_document(table: PortalTable, release: Release) -> dict[str, Any]:
    """PxWeb's own JSON: a key of codes and a text for every value, in each row."""
    measures = list(release.values)
    columns = [{"code": d.name, "text": table.variables[d.name].title, "type": "d"} for d in release.dimensions]
    columns += [{"code": name, "text": table.measures[name], "type": "c"} for name in measures]
    marks = all_marks(release)
    numbers = [all_values(release, name) for name in measures]
    keys = itertools.product(*(d.codes for d in release.dimensions))
    rows = [
        {"key": list(key), "values": [_text(values[n], marks[n]) for values in numbers]} for n, key in enumerate(keys)
    ]
    about = {"label": stated_title(table, release), "source": release.source}
    notes = [text for text in (release.method, *release.notes) if text]
    return {"columns": columns, "comments": [], "data": rows, "metadata": [{**about, "notes": notes}]}


def _text(value: float | None, mark: str) -> str:
    return HIDDEN.get(mark, mark) if value is None else str(value)


def heading_csv(table: PortalTable, release: Release, layout: TextLayout) -> bytes:
    """CSV with the variables of the stub in columns of their own and those of the heading across."""
    names = [table.contents, *(d.name for d in release.dimensions)]
    across, down = across_and_down(names, layout)
    codes = {table.contents: tuple(release.values), **{d.name: d.codes for d in release.dimensions}}
    labels: dict[str, Mapping[str, str]] = {table.contents: table.measures}
    labels |= {d.name: {code: d.label(code) for code in d.codes} for d in release.dimensions}
    written = {name: [layout.text(code, labels[name][code]) for code in held] for name, held in codes.items()}
    texts = np.array(
        [[_text(v, m) for v, m in zip(all_values(release, name), all_marks(release), strict=True)]
         for name in release.values], dtype=object,
    ).reshape([len(codes[name]) for name in names])  # fmt: skip
    lines = texts.transpose([names.index(name) for name in (*down, *across)])
    lines = lines.reshape(int(np.prod([len(codes[name]) for name in down])), -1)
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=layout.separator, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    if "IncludeTitle" in layout.options:
        writer.writerow([stated_title(table, release)])
    writer.writerow([*down, *(" ".join(parts) for parts in itertools.product(*(written[name] for name in across)))])
    for parts, line in zip(itertools.product(*(written[name] for name in down)), lines.tolist(), strict=True):
        writer.writerow([*parts, *line])
    if "IncludeTitle" in layout.options:
        for word, text in facts(release):
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
