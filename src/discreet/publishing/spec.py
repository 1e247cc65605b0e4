"""What a programme says, read and expanded: sources, tables, how they are protected, and which of them together.

A source opens its own records and a way of protecting builds its own method, so nobody else has to know how.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.data.codebook import Codebook, read_codebook
from discreet.data.filters import filter_text
from discreet.data.microdata import Microdata
from discreet.errors import InputError, nearest
from discreet.methods import acts_on_records, contract, method
from discreet.methods import parameters as parameters_of
from discreet.methods.contract import SECRETS, UNKEYED

OURS = ("progress", "rule", "marks")  # fields of a method that a programme gives by other keys, or not at all
FORMER = ".programme"  # where, within the output, early versions kept what is not published (yet)


@checked
@dataclass(frozen=True, kw_only=True)
class Source:
    """Records (a file, or the URL of a database) and their codebook.

    >>> Source(name="main", data="people.parquet", codebook=Path("people.toml")).of_argus
    False
    """

    name: str
    data: Path | str
    codebook: Path
    table: str | None = None
    missing: str | None = None
    weighted: bool | None = None

    def read_codebook(self) -> Codebook:
        """The codebook alone, for checks before anything is counted.

        >>> import tempfile
        >>> from discreet import datasets
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data, codebook = datasets.write("census", f"{folder}/people.parquet", n=300)
        ...     print(Source(name="main", data=data, codebook=codebook).read_codebook().unit)
        person
        """
        if self.of_argus:
            return self.open().codebook
        book = read_codebook(self.codebook)
        if self.missing is None:
            return book
        return replace(book, missing={d.name: self.missing for d in book.dimensions})

    def open(self) -> Microdata:
        """The records; none is read before it is counted.

        >>> import tempfile
        >>> from discreet import datasets
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data, codebook = datasets.write("census", f"{folder}/people.parquet", n=300)
        ...     print(Source(name="main", data=data, codebook=codebook).open().n)
        300
        """
        if self.of_argus:
            from discreet.formats import argus

            return argus.read_microdata(self.data, self.codebook, weighted=self.weighted)
        if self.weighted is not None:
            raise InputError(f"weighted is for an .rda of tau-ARGUS; {self.codebook.name!r} says what the weight is")
        return Microdata.read(self.data, self.codebook, table=self.table, missing=self.missing)

    @property
    def of_argus(self) -> bool:
        """Whether data and codebook are files of tau-ARGUS."""
        return self.codebook.suffix.lower() == ".rda"


@checked
@dataclass(frozen=True, kw_only=True)
class How:
    """How tables are protected: by a method with its parameters, or as a policy decides.

    >>> How(method="round", parameters={"base": 5}).words
    'round (base=5)'
    """

    method: str = "suppress"
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    rule: str | None = None
    marks: Path | None = None
    policy: Path | None = None

    @property
    def name(self) -> str:
        """The method or the policy, without the parameters of a rule, which are not for everybody."""
        return self.method if self.policy is None else f"policy {self.policy.name}"

    @property
    def words(self) -> str:
        """In one line, for whoever runs the programme.

        >>> How(method="suppress", rule="threshold(n=3)", parameters={"zeros": True}).words
        'suppress (threshold(n=3), zeros=True)'
        """
        said = [self.rule] if self.rule else []
        said += [f"{k}={v!r}" for k, v in self.parameters.items() if k not in (*SECRETS, "seed")]
        return self.name + (f" ({', '.join(said)})" if said else "")

    @property
    def unkeyed(self) -> str:
        """That suppression has no key, in words for whoever runs the programme; empty if it has one."""
        named = any(self.parameters.get(name) is not None for name in SECRETS)
        return "" if named or self.policy is not None or "key" not in parameters_of(self.method) else UNKEYED

    @property
    def changes_records(self) -> bool:
        """Whether the method works on records before they are counted."""
        return acts_on_records(self.method)

    @property
    def files(self) -> list[Path]:
        """Files whose content the result depends on."""
        named = [path for path in (self.marks, self.policy) if path is not None]
        ptable = self.parameters.get("ptable")
        return [*named, Path(ptable)] if isinstance(ptable, str) else named

    def build(self, by: Sequence[str]) -> Any:
        """The method for a table of these dimensions, with its rule and its marks.

        >>> How(method="suppress", rule="threshold(n=3)").build(["sex", "age"]).rule
        Threshold(n=3)
        """
        names = parameters_of(self.method)
        parameters = dict(self.parameters)
        if "key" in names and "secret" not in names and "secret" in parameters and "key" not in parameters:
            parameters["key"] = parameters.pop("secret")  # one secret for all tables, whatever their method calls it
        known = [f for f in names if f not in OURS]
        for name in parameters:
            if name not in known:
                raise InputError(f"method {self.method!r} has no parameter {name!r}; {nearest(name, known)}")
        for name in SECRETS:
            secret = parameters.get(name)
            if secret is not None and not (isinstance(secret, str) and secret.startswith("env:")):
                raise InputError(
                    f'a secret is not written in a programme; name the variable that holds it: {name} = "env:NAME"'
                )
        for name, value in (("rule", self.rule), ("marks", self.marks)):
            if value is not None and name not in names:
                raise InputError(f"method {self.method!r} takes no {name}")
        if self.rule is not None:
            parameters["rule"] = self.rule
        elif contract(self.method).rule:
            raise InputError(f'method {self.method!r} needs a rule: rule = "threshold(n=3)"')
        if self.marks is not None:
            from discreet.rules import read_marks

            parameters["marks"] = read_marks(self.marks, by)
        return method(self.method, **parameters)


@checked
@dataclass(frozen=True, kw_only=True)
class Entry:
    """One table: its dimensions with the level of each, its population and its measure.

    >>> Entry(name="sexes", source="main", by=(("sex", "sex"),), where=(("region", ("R1",)),)).words
    'sex where region=R1'
    """

    name: str
    source: str
    by: tuple[tuple[str, str], ...]
    value: str | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    top: int | None = None
    title: str | None = None
    notes: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("csv",)
    place: str = field(default="", compare=False)
    """File and line of the programme, for messages."""

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions, without levels."""
        return tuple(name for name, _ in self.by)

    @property
    def population(self) -> dict[str, tuple[str, ...]]:
        return dict(self.where)

    @property
    def words(self) -> str:
        """Dimensions and population in one line."""
        by = " x ".join(name if name == level else f"{name}:{level}" for name, level in self.by)
        where = filter_text(self.where, "|", "; ")
        return by + (f" where {where}" if where else "")


@checked
@dataclass(frozen=True, kw_only=True)
class Unit:
    """Tables that are protected in one step: a single one, or the linked ones of a group.

    >>> how = How(method="round", parameters={"base": 5})
    >>> entry = Entry(name="sexes", source="main", by=(("sex", "sex"),))
    >>> Unit(name="sexes", entries=(entry,), how=how).source
    'main'
    """

    name: str
    entries: tuple[Entry, ...]
    how: How
    linked: bool = False
    approach: str = "together"
    """Of linked tables: on one matrix, or "in turn", one after the other until all hide the same cells."""

    @property
    def source(self) -> str:
        return self.entries[0].source

    @property
    def canonical(self) -> str:
        """Everything that the result depends on and that stands in the programme, as one text."""
        fields = asdict(self)
        for entry in fields["entries"]:
            del entry["place"]
        return json.dumps(fields, sort_keys=True, ensure_ascii=False, default=str)


@checked
@dataclass(frozen=True, kw_only=True)
class Consistency:
    """How strict the check across tables is.

    >>> Consistency()
    Consistency(differences='warn', mixed='error', most_cells=20000)
    """

    differences: str = "warn"
    mixed: str = "error"
    most_cells: int = 20_000


@checked
@dataclass(frozen=True, kw_only=True)
class Programme:
    """Everything a run needs; no records.

    >>> how = How(method="round", parameters={"base": 5})
    >>> entry = Entry(name="sexes", source="main", by=(("sex", "sex"),))
    >>> unit = Unit(name="sexes", entries=(entry,), how=how)
    >>> programme = Programme(name="Demo", output=Path("published"), sources={}, units=(unit,))
    >>> programme.private.name
    '.published.state'
    """

    name: str
    output: Path
    sources: Mapping[str, Source]
    units: tuple[Unit, ...]
    consistency: Consistency = Consistency()
    state: Path | None = None
    """The folder of what is not published (yet); without one, it lies beside the output."""

    @property
    def entries(self) -> list[Entry]:
        """All tables, in the programme's order."""
        return [entry for unit in self.units for entry in unit.entries]

    @property
    def private(self) -> Path:
        """Where tables wait for the check, with the state of the run: never within the output."""
        output = self.output.resolve()
        return output.with_name(f".{output.name}.state") if self.state is None else self.state
