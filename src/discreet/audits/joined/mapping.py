"""A mapping: what dimensions, codes and measures are called in one table and in another, and which codes are sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.audits.joined.mean_columns import check_means
from discreet.audits.joined.publication import Publication, Rounding
from discreet.base import toml
from discreet.base.texts import read_text
from discreet.errors import InputError, nearest
from discreet.release import Release
from discreet.tables.means import checked_unit
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns

COUNT, MAGNITUDE = "count", "magnitude"
_TEXT = {"type": "string", "minLength": 1}
_NAMES = {"type": "object", "additionalProperties": _TEXT}
_CODES = {"type": "object", "additionalProperties": _NAMES}
_ROUNDING = {"type": "number", "exclusiveMinimum": 0}
_UNIT = {"type": "number", "minimum": 0}
NOT_SAID = "unknown"
"""What stands in a mapping for means of which nobody says what single values are multiples of."""
_TABLE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "dimensions": _NAMES,
        "codes": _CODES,
        "measures": _NAMES,
        "fixed": _NAMES,
        "rounding": _ROUNDING,
        "random": {"type": "boolean"},
        "midpoint": {"type": "boolean"},
        "even": {"type": "boolean"},
        "marks": _NAMES,
        "zeros_hidden": {"type": "boolean"},
        "sorted": {"type": "boolean"},
    },
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "dimensions": _NAMES,
        "codes": _CODES,
        "measures": _NAMES,
        "kinds": {"type": "object", "additionalProperties": {"enum": [COUNT, MAGNITUDE]}},
        "sums": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": _TEXT, "minItems": 1},
            },
        },
        "crossing": {"type": "array", "items": _TEXT},
        "marks": _NAMES,
        "zeros_hidden": {"type": "boolean"},
        "sorted": {"type": "boolean"},
        "percent": _NAMES,
        "mean": {"type": "object", "additionalProperties": {"anyOf": [_UNIT, {"const": NOT_SAID}]}},
        "tables": {"type": "object", "additionalProperties": _TABLE},
    },
}

READING = ("marks", "zeros_hidden")  # what is said of how a file is read, not of its names


def _known(where: str, kind: str, names: Iterable[str], held: Sequence[str]) -> None:
    """Refuse a name that no table has."""
    for name in names:
        if name not in held:
            raise InputError(f"{where} names the {kind} {name!r}, which no table has; {nearest(name, held)}")


@dataclass(frozen=True)
class NameMapping:
    """What stands in a mapping file; every part may be missing."""

    dimensions: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Which measures are counts, of which only whole numbers are possible, and which are magnitudes."""
    sums: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    crossing: Sequence[str] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    """What marks in place of numbers stand for (see ``discreet.tables.reading.number_marks``)."""
    zeros_hidden: bool = False
    sorted: bool = False
    """Whether the rows of all tables are sorted by their counts, those that are not shown among them."""
    percent: Mapping[str, str] = field(default_factory=dict)
    """Columns of percentages in lists of cells, and over which dimension's total each is a share, or "all"."""
    mean: Mapping[str, float | str | None] = field(default_factory=dict)
    """Columns of means, and what single values are multiples of: 1, 0.1 and so on, 0 for any number, or "unknown"."""
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: str | Path | Mapping[str, Any] | NameMapping | None) -> NameMapping:
        """From a TOML file, or the same as a dict; None is an empty one."""
        if given is None or isinstance(given, NameMapping):
            return given or cls()
        if isinstance(given, Mapping):
            toml.validate(given, SCHEMA, "", "mapping", "the mapping")
            return cls(**given)
        path = Path(given)
        return cls(**toml.load(read_text(path), SCHEMA, repr(path.name), "the mapping"))

    @property
    def empty(self) -> bool:
        """Whether nothing is said."""
        names = self.dimensions or self.codes or self.measures or self.kinds or self.sorted
        return not (names or self.sums or self.crossing or self.tables)

    @property
    def known_measures(self) -> tuple[str, ...]:
        """Measures that the mapping speaks of, by their common names."""
        own = [name for table in self.tables.values() for name in table.get("measures", {}).values()]
        return tuple(dict.fromkeys([*self.measures.values(), *own]))

    def children(self, table: str, names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """The sums of a table's own codes, under its own names."""
        own = self.of_table(table)
        dimensions = {**self.dimensions, **own.get("dimensions", {})}
        below = {}
        for name in names:
            common = dimensions.get(name, name)
            codes = {**self.codes.get(common, {}), **own.get("codes", {}).get(common, {})}
            back = {new: old for old, new in codes.items()}
            if common in self.sums:
                below[name] = {back.get(c, c): [back.get(p, p) for p in of] for c, of in self.sums[common].items()}
        return below

    def with_rounding(self, rounding: Mapping[str, Rounding]) -> NameMapping:
        """The same with the rounding of some tables, which may not be said twice."""
        tables = dict(self.tables)
        for name, own in rounding.items():
            if "rounding" in tables.get(name, {}):
                raise InputError(f"the rounding of {name!r} stands in the mapping already; say it once")
            kind = {"midpoint": True} if own.midpoint else {"random": not own.nearest}
            even = {"even": True} if own.even else {}
            tables[name] = {**tables.get(name, {}), "rounding": own.base, **kind, **even}
        return replace(self, tables=tables)

    @property
    def only_rounding(self) -> bool:
        """Whether it says nothing of names, codes and sums."""
        names = self.dimensions or self.codes or self.measures or self.sums or self.crossing or self.sorted
        return not names and all(
            set(own) <= {"rounding", "random", "midpoint", "even", *READING} for own in self.tables.values()
        )

    def signs(self, name: str, signs: NumberSigns = PLAIN_SIGNS) -> NumberSigns:
        """How the numbers of a table are written: as ``signs`` say, and with the marks that are stated here."""
        own, marks = self.of_table(name), signs.marks
        zeros = marks.zeros_hidden or own.get("zeros_hidden", self.zeros_hidden)
        stated = {**self.marks, **own.get("marks", {}), **marks.stated}
        return replace(signs, marks=replace(marks, stated=stated, zeros_hidden=zeros))

    def in_order(self, name: str) -> bool:
        """Whether the rows of a table are said to be sorted by their counts."""
        return bool(self.of_table(name).get("sorted", self.sorted))

    def check_tables(self, names: Sequence[str]) -> None:
        """Refuse a mapping of tables that are not there."""
        for name in self.tables:
            if name not in names:
                raise InputError(f"the mapping names the table {name!r}, which is not given; {nearest(name, names)}")

    @property
    def units(self) -> dict[str, float | None]:
        """Columns of means, and what single values are multiples of, None where nobody says."""
        said = {name: "" if unit in (None, NOT_SAID) else f"{unit:g}" for name, unit in self.mean.items()}
        return {name: checked_unit(text, f"mean of {name!r}") for name, text in said.items()}

    def check_percent(self, released: Iterable[Release]) -> None:
        """Refuse columns of percentages if no table has any."""
        if self.percent and not any(release.quotients for release in released):
            raise InputError(f"no table has the column of percentages {next(iter(self.percent))!r}; look at --percent")

    def check_names(self, released: Mapping[str, Release]) -> None:
        """Refuse names of dimensions, measures and codes that no table has, or that the table they are of has not."""
        self.check_percent(released.values())
        check_means(self.mean, released.values())
        for scope, dimensions, measures, codes in self._said():
            tables = [released[scope]] if scope else list(released.values())
            where = f"[tables.{scope!r}] of the mapping" if scope else "the mapping"
            own = [d for release in tables for d in release.dimensions]
            _known(where, "dimension", dimensions, [d.name for d in own])
            _known(where, "measure", measures, [name for release in tables for name in release.values])
            common = {**self.dimensions, **dimensions}
            for name, renamed in codes.items():
                held = [d for d in own if common.get(d.name, d.name) == name]
                _known(where, "dimension", [name], [common.get(d.name, d.name) for d in own])
                _known(where, f"code of {name!r}", renamed, [code for d in held for code in d.codes])
        published = [name for release in released.values() for name in release.values]
        _known("[kinds] of the mapping", "measure", self.kinds, [*published, *self.known_measures])
        common_names = {self._common(table, d.name) for table, release in released.items() for d in release.dimensions}
        fixed = {name for own in self.tables.values() for name in own.get("fixed", {})}
        _known("the mapping", "dimension", [*self.sums, *self.crossing], sorted(common_names | fixed))
        self._check_sums(released)

    def _check_sums(self, released: Mapping[str, Release]) -> None:
        """Refuse a sum of codes none of which any table, or another sum, has."""
        for name, sums in self.sums.items():
            held = {own["fixed"][name] for own in self.tables.values() if name in own.get("fixed", {})}
            for table, release in released.items():
                new = {**self.codes.get(name, {}), **self.of_table(table).get("codes", {}).get(name, {})}
                same = [d for d in release.dimensions if self._common(table, d.name) == name]
                held |= {new.get(code, code) for d in same for code in d.codes}
            for whole, parts in sums.items():
                others = {code for other, of in sums.items() if other != whole for code in (other, *of)}
                if not {whole, *parts} & (held | others):
                    raise InputError(
                        f"the mapping names the sum {whole!r} of {name!r}, and no table has it or one of its parts; "
                        f"{nearest(whole, sorted(held))}"
                    )

    def _said(self) -> list[tuple[str, Mapping[str, str], Mapping[str, str], Mapping[str, Mapping[str, str]]]]:
        """Names that are said of all tables (under "") and of each: dimensions, measures, codes."""
        every = [("", self.dimensions, self.measures, self.codes)]
        return every + [
            (name, own.get("dimensions", {}), own.get("measures", {}), own.get("codes", {}))
            for name, own in self.tables.items()
        ]

    def _common(self, table: str, dimension: str) -> str:
        return str({**self.dimensions, **self.of_table(table).get("dimensions", {})}.get(dimension, dimension))

    def of_table(self, name: str) -> Mapping[str, Any]:
        """What is said of one table alone."""
        return self.tables.get(name, {})

    def rounding(self, name: str) -> Rounding | None:
        """The rounding of a table, if it is said."""
        own = self.of_table(name)
        if "rounding" not in own:
            return None
        kinds = {name: own.get(name, False) for name in ("midpoint", "even")}
        return Rounding(own["rounding"], nearest=not own.get("random", False), **kinds)

    def applied(self, publication: Publication) -> Publication:
        """A publication under the common names."""
        own = self.of_table(publication.name)
        dimensions = {**self.dimensions, **own.get("dimensions", {})}
        codes = {
            n: {**self.codes.get(n, {}), **own.get("codes", {}).get(n, {})}
            for n in {**self.codes, **own.get("codes", {})}
        }
        held = {dimensions.get(d.name, d.name) for d in publication.release.dimensions}
        fixed = dict(own.get("fixed", {}))
        if both := [name for name in fixed if name in held]:
            raise InputError(f"{publication.name!r} has the dimension {both[0]!r}, so that it is not fixed at one code")
        publication = publication.renamed(dimensions, codes)
        measures = {**self.measures, **own.get("measures", {})}
        release = publication.release
        changed = replace(
            release,
            values={measures.get(m, m): v for m, v in release.values.items()},
            decimals={measures.get(m, m): v for m, v in release.decimals.items()},
            ranges={measures.get(m, m): v for m, v in release.ranges.items()},
            quotients={measures.get(m, m): v for m, v in release.quotients.items()},
            means={measures.get(m, m): v for m, v in release.means.items()},
        )
        stated = {measures.get(m, m): v for m, v in publication.stated.items()}
        return replace(publication, release=changed, fixed=fixed, stated=stated)
