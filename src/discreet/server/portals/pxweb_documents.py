"""What PxWeb's interface, version 2, says about tables: configuration, lists, metadata, codelists, selections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.data.dimension import Dimension
from discreet.server.portals.portal_table import Codelist, PortalTable
from discreet.server.portals.selecting import Selection
from discreet.server.settings import Settings

VERSION_SPOKEN = "2.0.0"
LANGUAGE = {"id": "en", "label": "English"}
FORMS = ("json-stat2", "json-px", "csv", "px", "xlsx", "html", "parquet")
TEXT_OPTIONS = ("UseCodes", "UseTexts", "UseCodesAndTexts", "IncludeTitle")
SEPARATORS = {"SeparatorTab": "\t", "SeparatorSpace": " ", "SeparatorSemicolon": ";"}
MINUTE = 60


def stated_limits(settings: Settings, tables: Sequence[PortalTable]) -> dict[str, Any]:
    """Limits and formats; the number of cells is the least that one of the tables allows."""
    return {
        "apiVersion": VERSION_SPOKEN,
        "languages": [LANGUAGE],
        "defaultLanguage": LANGUAGE["id"],
        "maxDataCells": min(table.service.policy.query.max_cells for table in tables),
        "maxCallsPerTimeWindow": settings.rate,
        "timeWindow": MINUTE,
        "license": "",
        "sourceReferences": [],
        "defaultMetadataFormat": "json-stat2",
        "defaultDataFormat": "json-stat2",
        "dataFormats": list(FORMS),
        "features": [],
    }


def table_entry(table: PortalTable, base: str) -> dict[str, Any]:
    """A table in a list of tables."""
    address = f"{base}/tables/{table.identity}"
    return {
        "type": "Table",
        "id": table.identity,
        "label": table.title,
        "description": "",
        "sortCode": table.identity,
        "updated": None,
        "firstPeriod": "",
        "lastPeriod": "",
        "category": "public",
        "variableNames": [table.contents, *(d.title for d in table.variables.values())],
        "discontinued": False,
        "source": "",
        "paths": [[{"id": "tables", "label": "Tables"}]],
        "links": [
            _link("self", address),
            _link("metadata", f"{address}/metadata"),
            _link("data", f"{address}/data"),
        ],
    }


def _link(relation: str, address: str) -> dict[str, str]:
    return {"rel": relation, "hreflang": LANGUAGE["id"], "href": address}


def tables_page(tables: Sequence[PortalTable], base: str, query: str, number: int, size: int) -> dict[str, Any]:
    """One page of the tables whose name, title or variables hold all words of a search."""
    hits = [table for table in tables if matches_words(query, searched_text(table))]
    pages = max(-(-len(hits) // size), 1)
    shown = hits[(number - 1) * size : number * size]
    entries = [table_entry(table, base) for table in shown]
    page = {
        "pageNumber": number,
        "pageSize": size,
        "totalElements": len(hits),
        "totalPages": pages,
        "links": [_link("self", f"{base}/tables?pageNumber={number}&pageSize={size}")],
    }
    return {"language": LANGUAGE["id"], "tables": entries, "page": page, "links": [_link("self", f"{base}/tables")]}


def searched_text(table: PortalTable) -> str:
    """The text that a search over data sets looks in: name, title, variables and labels of their codes."""
    words = [table.identity, table.title, table.service.policy.title]
    for name, d in table.variables.items():
        words += [name, *d.description.texts.values(), *d.levels, *(d.label(code) for code in d.codes)]
    return "\n".join(words)


def matches_words(query: str, text: str) -> bool:
    """Whether a text holds every word of a search, whatever its capitals.

    >>> matches_words("Sex REGION", "age, sex, region"), matches_words("income", "age, sex"), matches_words("", "x")
    (True, False, True)
    """
    folded = text.casefold()
    return all(word in folded for word in query.casefold().split())


def all_codes(table: PortalTable) -> dict[str, tuple[str, ...]]:
    """Every code of every variable."""
    return {name: tuple(d.codes) for name, d in table.variables.items()}


def metadata_dataset(table: PortalTable, base: str, wanted: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The table without numbers, in JSON-stat 2.0 as PxWeb extends it, with some codes of some variables."""
    names = [table.contents, *wanted]
    address = f"{base}/tables/{table.identity}"
    return {
        "version": "2.0",
        "class": "dataset",
        "href": f"{address}/metadata",
        "label": table.title,
        "link": {"describes": [{"type": "application/json", "href": f"{address}/data"}]},
        "note": list(table.service.policy.notes),
        "role": {"metric": [table.contents]},
        "id": names,
        "size": [len(table.measures), *(len(codes) for codes in wanted.values())],
        "dimension": {
            table.contents: contents_dimension(table, tuple(table.measures)),
            **{name: variable_dimension(table, table.variables[name], codes) for name, codes in wanted.items()},
        },
        "extension": {"px": px_words(table, list(wanted))},
    }


def variable_dimension(table: PortalTable, dimension: Dimension, codes: Sequence[str]) -> dict[str, Any]:
    """A variable with some of its codes."""
    extension: dict[str, Any] = {"elimination": dimension.total is not None, "show": "value"}
    if dimension.total is not None:
        extension["eliminationValueCode"] = dimension.total
    lists = [one for one in table.codelists.values() if one.variable == dimension.name]
    extension["codeLists"] = [{"id": one.identity, "label": one.label, "type": _kind(one)} for one in lists]
    category = {
        "index": {code: n for n, code in enumerate(codes)},
        "label": {code: dimension.label(code) for code in codes},
    }
    return {"label": dimension.title, "category": category, "extension": extension}


def contents_dimension(
    table: PortalTable, measures: Sequence[str], decimals: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The variable that holds the measures."""
    places = decimals or {}
    category = {
        "index": {name: n for n, name in enumerate(measures)},
        "label": {name: table.measures[name] for name in measures},
        "unit": {
            name: {"base": table.statistics[name].unit or table.measures[name], "decimals": places.get(name, 0)}
            for name in measures
        },
    }
    return {"label": "contents", "category": category, "extension": {"elimination": False, "show": "value"}}


def px_words(table: PortalTable, variables: Sequence[str]) -> dict[str, Any]:
    """The keywords of PX that PxWeb sends along."""
    return {
        "tableid": table.identity,
        "matrix": table.identity,
        "contents": table.title,
        "language": LANGUAGE["id"],
        "decimals": 0,
        "official-statistics": False,
        "aggregallowed": False,
        "copyright": False,
        "stub": list(variables),
        "heading": [table.contents],
    }


def _kind(codelist: Codelist) -> str:
    return "Aggregation" if codelist.groups else "Valueset"


def codelist_document(table: PortalTable, codelist: Codelist, base: str) -> dict[str, Any]:
    """A codelist with the finest codes that each of its codes stands for."""
    dimension = table.variables[codelist.variable]
    return {
        "id": codelist.identity,
        "label": codelist.label,
        "language": LANGUAGE["id"],
        "languages": [LANGUAGE["id"]],
        "elimination": dimension.total is not None,
        "type": _kind(codelist),
        "values": [
            {
                "code": code,
                "label": dimension.label(code),
                "valueMap": [leaf for leaf, sign in dimension.leaves_of(code).items() if sign > 0],
            }
            for code in codelist.codes
        ],
        "links": [_link("self", f"{base}/codelists/{codelist.identity}")],
    }


def selection_document(table: PortalTable, chosen: Selection, base: str) -> dict[str, Any]:
    """A selection as it can be sent back."""
    selection = [{"variableCode": table.contents, "codelist": None, "valueCodes": list(chosen.measures)}]
    selection += [
        {"variableCode": name, "codelist": None, "valueCodes": list(codes)} for name, codes in chosen.codes.items()
    ]
    return {
        "language": LANGUAGE["id"],
        "selection": selection,
        "placement": {"heading": [table.contents], "stub": list(chosen.codes)},
        "links": [_link("self", f"{base}/tables/{table.identity}/defaultselection")],
    }


def root_folder(tables: Sequence[PortalTable], base: str) -> dict[str, Any]:
    """The folder that holds all tables."""
    return {
        "language": LANGUAGE["id"],
        "id": None,
        "type": "Folder",
        "label": "Tables",
        "description": None,
        "folderContents": [table_entry(table, base) for table in tables],
        "links": [_link("self", f"{base}/navigation")],
    }
