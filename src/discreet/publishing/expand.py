"""One entry of a programme, many tables: every choice of dimensions, every code of a variable."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.base.texts import code_text
from discreet.data.codebook import Codebook
from discreet.errors import InputError

Given = Mapping[str, Any]


def expanded(entry: Given, book: Codebook) -> Iterator[dict[str, Any]]:
    """The tables of an entry, each with a name of its own and without a pattern.

    A name may hold {by} and {variable}; what it does not hold is put behind it.

    >>> from discreet import Dimension
    >>> book = Codebook(dimensions=tuple(Dimension.flat(n, ["1", "2"]) for n in ("sex", "age", "area")))
    >>> given = {"name": "t", "combinations": {"of": ["sex", "age"], "sizes": [1]}, "for_each": {"area": ["2"]}}
    >>> [(t["name"], t["by"], t["where"]) for t in expanded(given, book)]
    [('t-sex-2', ['sex'], {'area': ['2']}), ('t-age-2', ['age'], {'area': ['2']})]
    """
    plain = {k: v for k, v in entry.items() if k not in ("combinations", "for_each")}
    for by in _choices(entry):
        for chosen in _codes(entry, book):
            table = {**plain, "by": by, "where": {**entry.get("where", {}), **{n: [c] for n, c in chosen.items()}}}
            pieces = {"by": "-".join(n.partition(":")[0].strip() for n in by)} if "combinations" in entry else {}
            table["name"] = _named(entry["name"], {**pieces, **{n: _slug(c) for n, c in chosen.items()}})
            if "title" in entry:
                table["title"] = _filled(entry["title"], {**pieces, **_labels(book, chosen)})
            yield table


def _choices(entry: Given) -> Iterator[list[str]]:
    always = list(entry.get("by", ()))
    if "combinations" not in entry:
        if not always:
            raise InputError("no dimensions: give 'by' or 'combinations'")
        yield always
        return
    pattern = entry["combinations"]
    for size in dict.fromkeys(pattern["sizes"]):
        if size > len(pattern["of"]):
            raise InputError(f"combinations of {size} among {len(pattern['of'])} dimensions: there are none")
        for chosen in itertools.combinations(pattern["of"], size):
            yield [*always, *chosen]


def _codes(entry: Given, book: Codebook) -> Iterator[dict[str, str]]:
    lists = {}
    for name, wanted in entry.get("for_each", {}).items():
        if name in entry.get("where", {}):
            raise InputError(f"{name!r} stands in 'for_each' and in 'where'; leave out one of them")
        dimension = book.dimension(name)
        codes = [code_text(c) for c in wanted] if isinstance(wanted, list) else dimension.level(code_text(wanted))
        for code in codes:
            dimension.index(code)
        lists[name] = codes
    for chosen in itertools.product(*lists.values()):
        yield dict(zip(lists, chosen, strict=True))


def _named(name: str, pieces: Mapping[str, str]) -> str:
    behind = [text for key, text in pieces.items() if f"{{{key}}}" not in name]
    return "-".join([_filled(name, pieces), *behind])


def _filled(text: str, pieces: Mapping[str, str]) -> str:
    for key, piece in pieces.items():
        text = text.replace(f"{{{key}}}", piece)
    return text


def _labels(book: Codebook, chosen: Mapping[str, str]) -> dict[str, str]:
    return {name: book.dimension(name).label(code) for name, code in chosen.items()}


def _slug(code: str) -> str:
    """A code as part of a file's name.

    >>> _slug("10-14 / x")
    '10-14_x'
    """
    return re.sub(r"[^\w.-]+", "_", code).strip("_") or "_"
