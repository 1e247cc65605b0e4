"""What the columns of microdata mean: dimensions, unit, holding, weight, record key, magnitudes; kept as TOML.

Messages about a codebook name the file and the line.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.base.files import is_file
from discreet.base.texts import as_csv, code_text, read_text
from discreet.base.toml import load, place
from discreet.data.area_shapes import read_shapes
from discreet.data.code_groups import Group
from discreet.data.counted_units import checked_words
from discreet.data.dimension import Dimension
from discreet.data.variable_description import VariableDescription
from discreet.errors import InputError, listed, nearest

_WAYS = ("codes", "hrc", "parents", "prefix", "file")


@dataclass(frozen=True)
class Magnitude:
    """A number that can be summed: its column, its decimals if known, and the unit it is measured in."""

    name: str
    column: str = ""
    decimals: int | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if not self.column:
            object.__setattr__(self, "column", self.name)


@checked
@dataclass(frozen=True, kw_only=True)
class Codebook:
    """The dimensions of microdata and the columns that matter.

    ``columns`` says which column holds a dimension (its name unless stated), ``missing`` which category its missing
    values get (they are refused unless stated). ``structural`` lists combinations of codes that cannot exist, each as
    codes by dimension: nobody under 15 is married. ``counted`` is what the records are, as a plural (``"households"``)
    or by language (``{"en": "holdings", "de": "Betriebe"}``); people unless stated.

    >>> from discreet import Dimension
    >>> book = Codebook(dimensions=(Dimension.flat("area", ["N", "S"]),), unit="person")
    >>> book.dimension("area").leaves
    ('N', 'S')
    """

    dimensions: tuple[Dimension, ...]
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    missing: Mapping[str, str] = field(default_factory=dict, hash=False)
    unit: str | None = None
    holding: str | None = None
    weight: str | None = None
    key: str | None = None
    magnitudes: tuple[Magnitude, ...] = ()
    structural: tuple[Mapping[str, Sequence[str]], ...] = field(default=(), hash=False)
    title: str = ""
    source: str = ""
    description: str = ""
    universe: str = ""
    date: str = ""
    counted: str | Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counted", checked_words(self.counted))
        names = [d.name for d in self.dimensions]
        _no_repeats("dimension", names)
        _no_repeats("magnitude", [m.name for m in self.magnitudes])
        for what, mapping in (("columns", self.columns), ("missing", self.missing)):
            for name in mapping:
                if name not in names:
                    raise InputError(f"{what} names the unknown dimension {name!r}; {nearest(name, names)}")
        object.__setattr__(self, "columns", {name: self.columns.get(name, name) for name in names})
        object.__setattr__(self, "missing", {n: self.missing[n] for n in names if n in self.missing})
        object.__setattr__(self, "dimensions", tuple(self._described(self._with_missing(d)) for d in self.dimensions))
        object.__setattr__(self, "structural", tuple(self._impossible(one) for one in self.structural))

    def _impossible(self, combination: Mapping[str, str | Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """A combination that cannot exist, its codes known."""
        if len(combination) < 2:
            raise InputError(
                f"structural zeros are combinations of codes of two dimensions or more, not of {listed(combination)}"
            )
        codes = {name: (one,) if isinstance(one, str) else tuple(one) for name, one in combination.items()}
        return {name: tuple(self._codes_of(name, listing)) for name, listing in codes.items()}

    def _codes_of(self, name: str, codes: Sequence[str]) -> Iterator[str]:
        dimension = self.dimension(name)
        for code in codes:
            yield dimension.codes[dimension.index(code)]

    def structural_zeros(self, names: Collection[str]) -> list[Mapping[str, Sequence[str]]] | None:
        """The combinations that cannot exist, of these dimensions alone; None if there are none.

        >>> age, status = Dimension.flat("age", ["0-14", "15+"]), Dimension.flat("status", ["single", "married"])
        >>> book = Codebook(dimensions=(age, status), structural=({"age": ("0-14",), "status": ("married",)},))
        >>> book.structural_zeros(["age", "status"])
        [{'age': ('0-14',), 'status': ('married',)}]
        """
        return [one for one in self.structural if set(one) <= set(names)] or None

    @property
    def _of_all(self) -> dict[str, str]:
        """What is said of all variables, unless one says something else."""
        return {"universe": self.universe, "source": self.source, "date": self.date}

    @property
    def _counted(self) -> dict[str, str]:
        return checked_words(self.counted)

    def _described(self, dimension: Dimension) -> Dimension:
        """A dimension with its description completed; its levels are named in it only if they exist."""
        for name in dimension.description.levels:
            dimension.level(name)
        units = {one.name: one.unit for one in self.magnitudes if one.unit}
        completed = dimension.description.completed(counted=self._counted, units=units, **self._of_all)
        return replace(dimension, description=completed)

    def _with_missing(self, dimension: Dimension) -> Dimension:
        code = self.missing.get(dimension.name)
        if code is None or code in dimension.leaves:
            return dimension
        if code in dimension.codes:
            raise InputError(
                f"dimension {dimension.name!r}: missing values cannot get {code!r}, which stands for other codes; "
                "name a category of its own"
            )
        return dimension.with_leaf(code)

    def dimension(self, name: str) -> Dimension:
        """The dimension of that name.

        >>> Codebook(dimensions=(Dimension.flat("sex", ["f", "m"]),)).dimension("sex").codes
        ('Total', 'f', 'm')
        """
        for dimension in self.dimensions:
            if dimension.name == name:
                return dimension
        raise InputError(f"unknown dimension {name!r}; {nearest(name, [d.name for d in self.dimensions])}")

    def magnitude(self, name: str) -> Magnitude:
        """The magnitude of that name.

        >>> area, turnover = Dimension.flat("area", ["N", "S"]), Magnitude("turnover", decimals=2)
        >>> book = Codebook(dimensions=(area,), magnitudes=(turnover,))
        >>> book.magnitude("turnover").decimals
        2
        """
        for magnitude in self.magnitudes:
            if magnitude.name == name:
                return magnitude
        if not self.magnitudes:
            raise InputError(f"unknown magnitude {name!r}; none is declared (magnitudes=[{name!r}])")
        raise InputError(f"unknown magnitude {name!r}; {nearest(name, [m.name for m in self.magnitudes])}")

    def to_toml(self) -> str:
        """The same codebook as text: reading it back gives an equal one.

        >>> print(Codebook(dimensions=(Dimension.flat("sex", ["f", "m"]),), unit="id").to_toml())
        unit = "id"
        <BLANKLINE>
        [[dimension]]
        name = "sex"
        codes = ["f", "m"]
        <BLANKLINE>
        """
        head = ("title", "source", "description", "universe", "date", "unit", "holding", "weight", "key")
        lines = [f"{k} = {_value(getattr(self, k))}\n" for k in head if getattr(self, k)]
        lines += [f"counted = {_table(self._counted)}\n"] if self._counted else []
        blocks = ["".join(lines)]
        for d in self.dimensions:
            blocks.append("[[dimension]]\n" + self._dimension_lines(d))
        for m in self.magnitudes:
            lines = [f"name = {_value(m.name)}"]
            lines += [f"column = {_value(m.column)}"] if m.column != m.name else []
            lines += [f"decimals = {m.decimals}"] if m.decimals is not None else []
            lines += [f"unit = {_value(m.unit)}"] if m.unit is not None else []
            blocks.append("[[magnitude]]\n" + "\n".join(lines) + "\n")
        for combination in self.structural:
            blocks.append("[[structural]]\n" + "".join(f"{_value(k)} = {_value(v)}\n" for k, v in combination.items()))
        return "\n".join(block for block in blocks if block)

    def _dimension_lines(self, d: Dimension) -> str:
        lines = [f"name = {_value(d.name)}"]
        if self.columns[d.name] != d.name:
            lines.append(f"column = {_value(self.columns[d.name])}")
        if d.total != "Total":
            lines.append(f"total = {'false' if d.total is None else _value(d.total)}")
        if d.name in self.missing:
            lines.append(f"missing = {_value(self.missing[d.name])}")
        if d.level_names:
            lines.append(f"levels = {_value(d.level_names)}")
        stated = {k: text for k, text in d.description.texts.items() if text != self._of_all.get(k)}
        lines += [f"{key} = {_value(text)}" for key, text in stated.items()]
        if d.description.levels:
            lines.append("level_labels = " + _table(d.description.levels))
        if d.description.geometry:
            lines.append(f"geometry = {_value(d.description.geometry)}")
        lines.append(f"codes = {_value(d.leaves)}")
        if d.groups:
            lines += ["groups = [", *(f"  {_group(g)}," for g in d.groups), "]"]
        if d.labels:
            lines.append("labels = " + _table(d.labels))
        return "\n".join(lines) + "\n"


def _no_repeats(what: str, names: Sequence[str]) -> None:
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"more than one {what} is called {listed(repeated)}")


# -- writing ----------------------------------------------------------------------------------------------------


def _value(value: str | Sequence[str]) -> str:
    """A TOML string or array of strings. JSON's escapes are TOML's, but for DEL, which JSON leaves bare."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(_value(v) for v in value) + "]"


def _table(pairs: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{_value(k)} = {_value(v)}" for k, v in pairs.items()) + " }"


def _group(group: Group) -> str:
    parts = [f"code = {_value(group.code)}", f"plus = {_value([c for c, sign in group.parts if sign > 0])}"]
    if group.signed:
        parts.append(f"minus = {_value([c for c, sign in group.parts if sign < 0])}")
    if group.tree >= 0:
        parts.append(f"hierarchy = {group.tree + 1}")
    return "{ " + ", ".join(parts) + " }"


# -- reading ----------------------------------------------------------------------------------------------------


@checked
def read_codebook(path: str | Path) -> Codebook:
    """A codebook from a TOML file; files it names are looked for beside it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.toml"
    ...     _ = path.write_text('[[dimension]]\\nname = "sex"\\ncodes = ["f", "m"]\\n')
    ...     book = read_codebook(path)
    >>> book.dimension("sex").leaves
    ('f', 'm')
    """
    path = Path(path)
    if not is_file(path):
        raise InputError(f"codebook not found: {path.name[:80]!r}")
    return parse_codebook(read_text(path), base=path.parent, source=path.name)


def parse_codebook(text: str, *, base: Path = Path("."), source: str = "codebook") -> Codebook:
    """A codebook from TOML text.

    >>> parse_codebook('[[dimension]]\\nname = "sex"\\ncodes = ["f", "m"]').dimensions
    (Dimension('sex': 2 leaves, 3 codes, total 'Total'),)
    """
    entries = load(text, codebook_schema(), source, "the codebook")
    for n, entry in enumerate(entries["dimension"]):
        ways = [way for way in _WAYS if way in entry]
        if len(ways) != 1:
            what = f"has {listed(ways)}" if ways else "says nothing about its codes"
            where = place(text, source, ["dimension", n])
            raise InputError(f"{where}: dimension {n + 1} {what}; give exactly one of {listed(_WAYS)}")
    book: dict[str, Any] = {"dimensions": (), "columns": {}, "missing": {}, "magnitudes": (), "structural": ()}
    book |= {k: v for k, v in entries.items() if k not in {"dimension", "magnitude", "structural"}}
    for path, add in _entries(entries, base):
        try:
            add(book)
            codebook = Codebook(**book)  # entry by entry, so that what is wrong has a line
        except InputError as error:
            raise InputError(f"{place(text, source, path)}: {error}") from None
    return codebook


def _entries(entries: Mapping[str, Any], base: Path) -> Iterator[tuple[list[Any], Callable[[dict[str, Any]], None]]]:
    """Where each dimension, magnitude and structural zero stands, and what adds it to the parts of a Codebook."""
    for n, entry in enumerate(entries["dimension"]):

        def add_dimension(book: dict[str, Any], entry: Mapping[str, Any] = entry) -> None:
            book["dimensions"] += (_dimension(entry, base),)
            for what, part in (("columns", "column"), ("missing", "missing")):
                book[what] |= {entry["name"]: entry[part]} if part in entry else {}

        yield ["dimension", n], add_dimension
    for n, entry in enumerate(entries.get("magnitude", ())):

        def add_magnitude(book: dict[str, Any], entry: Mapping[str, Any] = entry) -> None:
            book["magnitudes"] += (Magnitude(**entry),)

        yield ["magnitude", n], add_magnitude
    for n, entry in enumerate(entries.get("structural", ())):

        def add_structural(book: dict[str, Any], entry: Mapping[str, Any] = entry) -> None:
            codes = {name: [one] if not isinstance(one, list) else one for name, one in entry.items()}
            book["structural"] += ({name: tuple(map(code_text, one)) for name, one in codes.items()},)

        yield ["structural", n], add_structural


def _dimension(entry: Mapping[str, Any], base: Path) -> Dimension:
    name, total = entry["name"], entry.get("total", "Total")
    options: dict[str, Any] = {"total": None if total is False else total}
    rooted = options if "total" in entry else {}  # a hierarchy brings its own root
    labels = entry.get("labels")
    if "hrc" in entry:
        dimension = Dimension.from_hrc(base / entry["hrc"], name=name, leader=entry.get("leader", "@"), **options)
    elif "prefix" in entry:
        dimension = Dimension.from_prefix(name, entry["prefix"]["codes"], entry["prefix"]["lengths"], **options)
    elif "file" in entry:
        dimension = Dimension.flat(name, **_code_list(base / entry["file"]), **options)
    elif isinstance(entry.get("parents"), str):
        dimension = Dimension.from_csv(base / entry["parents"], name=name, **rooted)
    elif "parents" in entry:
        parents = entry["parents"] if isinstance(entry["parents"], list) else [entry["parents"]]
        dimension = Dimension.from_parents(name, *parents, **rooted)
    else:
        dimension = Dimension.flat(name, entry["codes"], **options)
    dimension = _with_groups(dimension, entry.get("groups", ()))
    texts = {key: entry[key] for key in ("label", "definition", "universe", "source", "date") if key in entry}
    shapes = read_shapes(entry["geometry"], base, dimension.codes, name) if "geometry" in entry else ""
    description = VariableDescription(**texts, levels=entry.get("level_labels", {}), geometry=shapes)
    labelled = {**dimension.labels, **{code_text(c): text for c, text in (labels or {}).items()}}
    names = tuple(entry.get("levels", dimension.level_names))
    return replace(dimension, labels=labelled, level_names=names, description=description)


def _with_groups(dimension: Dimension, groups: Sequence[Mapping[str, Any]]) -> Dimension:
    """Groups on top, together: one may be a part of a later one or of an earlier one."""
    added, labels = list(dimension.groups), dict(dimension.labels)
    for g in groups:
        code = code_text(g["code"])
        minus = [(code_text(c), -1) for c in g.get("minus", ())]
        tree = -1 if minus else g.get("hierarchy", 0) - 1
        if tree < 0 and not minus:
            tree = max((a.tree for a in added), default=-1) + 1
        added.append(Group(code, (*((code_text(c), 1) for c in g["plus"]), *minus), tree))
        if "label" in g:
            labels[code] = g["label"]
    return replace(dimension, groups=tuple(added), labels=labels)


def _code_list(path: Path) -> dict[str, Any]:
    with as_csv(repr(path.name)):
        rows = list(csv.DictReader(io.StringIO(read_text(path), newline="")))
    if not rows or "code" not in rows[0]:
        raise InputError(f"{path.name!r} needs a column 'code', and may have a column 'label'")
    labels = {row["code"]: row["label"] for row in rows if row.get("label")}
    return {"codes": [row["code"] for row in rows], "labels": labels}


@cache
def codebook_schema() -> dict[str, Any]:
    """The JSON Schema of a codebook."""
    text = resources.files("discreet.data").joinpath("codebook.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
