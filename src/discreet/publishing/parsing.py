"""A programme from its TOML file. Everything that is wrong with it is said at once, before anything is counted."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.base.files import exists, is_file
from discreet.base.texts import code_text, read_text
from discreet.base.toml import syntax
from discreet.data.codebook import Codebook
from discreet.errors import InputError, nearest
from discreet.formats import by_name
from discreet.publishing.checking import check_unit
from discreet.publishing.expand import expanded
from discreet.publishing.faults import Faults
from discreet.publishing.spec import Consistency, Entry, How, Programme, Source, Unit

MAIN = "data"  # the source that [programme] itself describes
HOW = ("method", "parameters", "rule", "marks", "policy")
NAME = re.compile(r"[^\W_][\w.-]*( [\w.-]+)*\Z")
Given = Mapping[str, Any]


@checked
def read_programme(path: str | Path) -> Programme:
    """A programme from a TOML file; files it names are looked for beside it.

    >>> import tempfile
    >>> from discreet import datasets
    >>> text = '''
    ... [programme]
    ... name = "Demo"
    ... data = "people.parquet"
    ... codebook = "people.toml"
    ... output = "published"
    ... [[table]]
    ... name = "sexes"
    ... by = ["sex"]
    ... method = "round"
    ... parameters = { base = 5 }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = datasets.write("census", f"{folder}/people.parquet", n=300)
    ...     size = Path(folder, "demo.toml").write_text(text)
    ...     print([entry.name for entry in read_programme(f"{folder}/demo.toml").entries])
    ['sexes']
    """
    path = Path(path)
    if not is_file(path):
        raise InputError(f"programme not found: {path.name!r}")
    return parse_programme(read_text(path), base=path.parent, source=path.name)


@checked
def parse_programme(text: str, *, base: Path = Path("."), source: str = "programme") -> Programme:
    """A programme from TOML text.

    >>> import tempfile
    >>> from discreet import datasets
    >>> text = '''
    ... [programme]
    ... name = "Demo"
    ... data = "people.parquet"
    ... codebook = "people.toml"
    ... output = "published"
    ... [[table]]
    ... name = "sexes"
    ... by = ["sex"]
    ... method = "round"
    ... parameters = { base = 5 }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = datasets.write("census", f"{folder}/people.parquet", n=300)
    ...     print(parse_programme(text, base=Path(folder)).units[0].how.words)
    round (base=5)
    """
    problem = ""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = syntax(str(error), text, source)
    if problem:
        raise InputError(problem)
    faults = Faults(text, source)
    if not faults.schema(document, programme_schema()):
        faults.settle()
    sources = _sources(document, base, faults)
    books: dict[str, Codebook] = {}
    for name, one in sources.items():
        with faults.of(["programme", "codebook"] if name == MAIN else ["source", name]):
            books[name] = one.read_codebook()
    units = _units(document, base, sources, books, faults)
    _files(units, faults)
    for unit in units:
        check_unit(unit, books[unit.source], faults)
    head = document["programme"]
    programme = Programme(
        name=head["name"],
        output=base / head["output"],
        sources=sources,
        units=tuple(units),
        consistency=Consistency(**document.get("consistency", {})),
        state=base / head["state"] if "state" in head else None,
    )
    _apart(programme, faults)
    faults.settle()
    return programme


def _apart(programme: Programme, faults: Faults) -> None:
    """What is not published and what is lie apart: a copy of the output folder publishes all that is in it."""
    output, private = programme.output.resolve(), programme.private.resolve()
    if private.is_relative_to(output) or output.is_relative_to(private):
        key = "output" if programme.state is None else "state"
        faults.add(
            ["programme", key],
            "the state of a run holds tables that are withheld; name a folder for it "
            "(state = ...) that is not the output, nor within it, nor around it",
        )


def _sources(document: Given, base: Path, faults: Faults) -> dict[str, Source]:
    sections = {}
    head = document["programme"]
    if ("data" in head) != ("codebook" in head):
        faults.add(["programme"], "give 'data' and 'codebook' together; codes come from the codebook, not from data")
    elif "data" in head:
        sections[MAIN] = head
    for name, one in document.get("source", {}).items():
        if name in sections:
            faults.add(["source", name], f"the source {name!r} is that of [programme]; name it otherwise")
        sections[name] = one
    if not sections and not faults.found:
        faults.add(["programme"], "no records: give 'data' and 'codebook', or [source.NAME]")
    sources = {}
    for name, one in sections.items():
        data = one["data"] if "://" in one["data"] else base / one["data"]
        sources[name] = Source(
            name=name,
            data=data,
            codebook=base / one["codebook"],
            table=one.get("table"),
            missing=one.get("missing"),
            weighted=one.get("weighted"),
        )
        if isinstance(data, Path) and not exists(data):
            path = ["programme", "data"] if name == MAIN else ["source", name, "data"]
            faults.add(path, f"data not found: {data.name!r}")
    return sources


def _units(
    document: Given, base: Path, sources: Mapping[str, Source], books: Mapping[str, Codebook], faults: Faults
) -> list[Unit]:
    """Single tables and groups, in the order in which they are first named."""
    defaults = document.get("defaults", {})
    groups = {g["name"]: (n, g) for n, g in enumerate(document.get("linked", ()))}
    if len(groups) < len(document.get("linked", ())):
        faults.add(["linked"], "two groups of linked tables have the same name")
    units: dict[str, Unit] = {}
    for n, table in enumerate(document["table"]):
        path, name = ["table", n], table["name"]
        known = table.get("source", defaults.get("source", MAIN if MAIN in sources else next(iter(sources), "")))
        if known not in books:
            if known not in sources:
                faults.add([*path, "source"], f"no source {known!r}; {nearest(known, sources)}", name)
            continue
        group = table.get("linked")
        if group is not None and group not in groups:
            faults.add([*path, "linked"], f"no [[linked]] group {group!r}; {nearest(group, groups)}", name)
            continue
        if group is not None and (own := [k for k in (*HOW, "top") if k in table]):
            faults.add([*path, own[0]], f"{own[0]!r} belongs to the group {group!r}, not to one of its tables", name)
        with faults.of(path, name):
            for one in expanded({**_inherited(defaults), **table}, books[known]):
                entry = _entry(one, known, defaults, document["programme"], faults.at(path))
                _gather(units, entry, group, _how(one if group is None else groups[group][1], defaults, base), groups)
    for name, (n, _) in groups.items():
        if not any(unit.linked and unit.name == name for unit in units.values()) and not faults.found:
            faults.add(["linked", n], f"no table belongs to the linked group {name!r}")
    return list(units.values())


def _inherited(defaults: Given) -> dict[str, Any]:
    return {k: defaults[k] for k in ("value", "where", "top", "notes") if k in defaults}


def _entry(one: Given, source: str, defaults: Given, head: Given, place: str) -> Entry:
    by = [part.partition(":") for part in one["by"]]
    where = {n: c if isinstance(c, list) else [c] for n, c in one.get("where", {}).items()}
    formats = one.get("formats", defaults.get("formats", head.get("formats", ["csv"])))
    return Entry(
        name=one["name"],
        source=source,
        by=tuple((name.strip(), level.strip() or name.strip()) for name, _, level in by),
        value=one.get("value"),
        where=tuple((name, tuple(dict.fromkeys(code_text(c) for c in codes))) for name, codes in where.items()),
        top=one.get("top"),
        title=one.get("title"),
        notes=tuple(one.get("notes", ())),
        formats=tuple(dict.fromkeys(by_name(f).name for f in formats)),
        place=place,
    )


def _how(one: Given, defaults: Given, base: Path) -> How:
    """A table that names its own method or policy takes nothing of the defaults'."""
    keys = {k: one[k] for k in HOW if k in one}
    if not {"method", "policy"} & set(keys):
        keys = {**{k: defaults[k] for k in HOW if k in defaults}, **keys}
    if "policy" in keys and (others := [k for k in HOW if k in keys and k != "policy"]):
        raise InputError(f"with a policy the policy decides: leave out {others[0]!r}")
    for name in ("marks", "policy"):
        if name in keys:
            keys[name] = base / keys[name]
    parameters = dict(keys.get("parameters", {}))
    if isinstance(parameters.get("ptable"), str):
        parameters["ptable"] = str(base / parameters["ptable"])
    return How(**{**keys, "parameters": parameters})


def _gather(units: dict[str, Unit], entry: Entry, group: str | None, how: How, groups: Mapping[str, Any]) -> None:
    if group is None:
        if f"table {entry.name}" in units:
            raise InputError(f"two tables are called {entry.name!r}")
        units[f"table {entry.name}"] = Unit(name=entry.name, entries=(entry,), how=how)
        return
    entry = replace(entry, top=groups[group][1].get("top", entry.top))
    there = units.get(f"linked {group}")
    if there is None:
        approach = groups[group][1].get("approach", "together")
        units[f"linked {group}"] = Unit(name=group, entries=(entry,), how=how, linked=True, approach=approach)
        return
    first = there.entries[0]
    for what in ("source", "value", "where"):
        if getattr(first, what) != getattr(entry, what):
            raise InputError(
                f"{what!r} differs from that of {first.name!r}; linked tables share source, value and where"
            )
    units[f"linked {group}"] = replace(there, entries=(*there.entries, entry))


def _files(units: list[Unit], faults: Faults) -> None:
    """Names that can be files, no two of them alike where upper case does not count."""
    seen: dict[str, str] = {"report.html": "the report", "report.json": "the report"}
    for entry in (e for unit in units for e in unit.entries):
        if not NAME.match(entry.name):
            faults.found.append(
                f"{entry.place}: table {entry.name!r}: a name is made of letters, digits, '_', '-' and '.'"
            )
            continue
        for name in {file_name(entry.name, f).casefold() for f in entry.formats}:
            if name in seen:
                faults.found.append(f"{entry.place}: table {entry.name!r}: {name!r} is the file of {seen[name]}")
            seen[name] = f"table {entry.name!r}"


def file_name(name: str, format: str) -> str:
    """The file of a table in a format."""
    return name + by_name(format).suffix


@cache
def programme_schema() -> dict[str, Any]:
    """The JSON Schema of a programme."""
    text = resources.files("discreet.publishing").joinpath("programme.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
