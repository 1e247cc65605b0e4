"""Claims that are judged apart although their files may be of one quantity, and open cells that another file shows."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from .certificate_form import require
from .plain_csv import folded


class ClaimColumns:
    """The columns of one claim as its files show them; names are compared whatever their case and signs."""

    def __init__(self, claim: Any, files: list[Any], read: list[Any]) -> None:
        self.claim, self.tables = claim, [(files[t], read[t]) for t in claim["tables"]]
        self.name = folded(claim["measure"])
        self.totals: dict[str, Any] = {}  # of each dimension, the code of all of its finest codes
        for d in claim["dimensions"]:
            whole = d["total"] in d["sums"] and d["sums"][d["total"]] == dict.fromkeys(d["leaves"], 1)
            self.totals[folded(d["name"])] = d["total"] if whole else None
        self.codes: dict[str, set[str]] = {}
        for entry, cells in self.tables:
            for k, name in enumerate(entry["dimensions"]):
                self.codes.setdefault(folded(name), set()).update(codes[k] for codes in cells)

    def shown(self, totals: dict[str, Any]) -> list[tuple[Any, Fraction, Fraction]]:
        """Each cell that a number stands in, by its codes apart from totals, with the least and greatest it implies."""
        implied, numbers = self.claim["implied"] or {}, []
        for entry, cells in self.tables:
            place = 1 + list(entry["measures"]).index(self.claim["measure"])
            scale, unit = 10 ** entry["measures"][self.claim["measure"]], 10 ** self.claim["decimals"]
            for codes, row in cells.items():
                low, high = row[place]
                if low is not None and low == high:
                    value = Fraction(low, scale)
                    wide = implied.get(str(int(value * unit)), ())
                    ends = [value, *(Fraction(end) / unit for end in wide if end is not None)]
                    numbers.append((cell_name(entry, codes, totals), min(ends), max(ends)))
        return numbers


def cell_name(entry: Any, codes: Any, totals: dict[str, Any]) -> frozenset[tuple[str, str]]:
    """A cell by dimension and code whatever the order, a total like a dimension that is not there."""
    pairs = ((folded(name), code) for name, code in zip(entry["dimensions"], codes, strict=True))
    return frozenset((name, code) for name, code in pairs if totals.get(name) != code)


def agreed(columns: list[ClaimColumns]) -> dict[str, Any]:
    """The total of each dimension of which all claims that have it say the same."""
    every = {
        name: {one.totals[name] for one in columns if name in one.totals} for one in columns for name in one.totals
    }
    return {name: next(iter(codes)) for name, codes in every.items() if len(codes) == 1 and None not in codes}


def might_be_one(one: ClaimColumns, other: ClaimColumns) -> bool:
    """Whether nothing in the files shows two claims with codes in common to be of different quantities.

    A cell of which both show a number, and not the same, shows it. Two columns of one file are taken to be different
    unless they show the same wherever both show anything.
    """
    if one.name == other.name:
        return True
    totals = agreed([one, other])
    shared = (one.codes[name] & other.codes[name] - {totals.get(name)} for name in one.codes if name in other.codes)
    if not any(shared):
        return False
    known, alike = {cell: ends for cell, *ends in one.shown(totals)}, False
    for cell, low, high in other.shown(totals):
        if cell in known:
            if low > known[cell][1] or high < known[cell][0]:
                return False
            alike = alike or low > 0
    return alike or not set(one.claim["tables"]) & set(other.claim["tables"])


def judged_apart(claims: list[Any], files: list[Any], read: list[Any]) -> list[tuple[int, str]]:
    """(number of the claim, why) where files were judged apart and nothing shows that they may be."""
    columns, words = [ClaimColumns(claim, files, read) for claim in claims], []
    for (_, one), (k, other) in combinations(enumerate(columns), 2):
        if might_be_one(one, other):
            names = f"{one.claim['measure']!r} and {other.claim['measure']!r}"
            words.append((k, f"{names} are judged apart, and nothing in the files shows that they are two quantities"))
    names_of = {name for entry in files for name in entry["dimensions"]}
    for first, second in combinations(sorted(names_of), 2):
        if folded(first) == folded(second):
            words.append((0, f"{first!r} and {second!r} are judged apart, and may be one dimension"))
    for entry in files:
        own = {folded(name) for name in entry["dimensions"]}
        for name in entry["measures"]:
            if folded(name) in {folded(d) for d in names_of} - own:
                words.append((0, f"{name!r} is a measure of one file and a dimension of another"))
    return list(dict.fromkeys(words))


def check_not_shown(claims: list[Any], files: list[Any], read: list[Any]) -> None:
    """NotProvedError if a cell that is called open is shown, of the same measure, in any file; of checked claims."""
    columns = [ClaimColumns(claim, files, read) for claim in claims]
    totals = agreed(columns)
    shown: dict[str, set[Any]] = {}
    for one in columns:
        cells = shown.setdefault(one.name, set())
        cells.update(cell for cell, low, high in one.shown(totals) if low == high)
    for one in columns:
        for stated in one.claim["cells"] if one.claim["implied"] is None else ():
            if stated["finding"] == "open":
                cell = cell_name(one.tables[stated["table"]][0], stated["cell"], totals)
                require(cell not in shown[one.name], f"a cell of {one.claim['measure']!r} is called open and is shown")


def named_as_in_file(entry: Any) -> bool:
    """Whether each measure has the name of its column; one that a dimension has, too, ends in underscores."""
    names = list(entry["dimensions"])
    for name in entry["measures"]:
        column = name
        while column in names:
            column += "_"
        names.append(column)
    return names[len(entry["dimensions"]) :] == list(entry["columns"])
