"""The records and the codebook of a source, the rules and the method of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from discreet.data.codebook import Codebook, read_codebook
from discreet.data.microdata import Microdata
from discreet.errors import InputError, nearest
from discreet.methods import effect, method, method_class
from discreet.publishing.spec import How, Source

OURS = ("progress", "rule", "marks")  # fields of a method that a programme gives by other keys, or not at all


def codebook_of(source: Source) -> Codebook:
    """The codebook alone, for checks before anything is read."""
    if source.codebook.suffix.lower() == ".rda":
        return microdata(source).codebook
    book = read_codebook(source.codebook)
    if source.missing is None:
        return book
    return dataclasses.replace(book, missing={d.name: source.missing for d in book.dimensions})


def microdata(source: Source) -> Microdata:
    """The records; none is read before it is counted."""
    if source.codebook.suffix.lower() == ".rda":
        from discreet.formats import argus

        return argus.read_microdata(source.data, source.codebook, weighted=source.weighted)
    if source.weighted is not None:
        raise InputError(f"weighted is for an .rda of tau-ARGUS; {source.codebook.name!r} says what the weight is")
    return Microdata.read(source.data, source.codebook, table=source.table, missing=source.missing)


def made(how: How, by: Sequence[str]) -> Any:
    """The method, with its rule and its marks."""
    kind = method_class(how.method)
    fields = [f.name for f in dataclasses.fields(kind) if f.init]
    given = dict(how.parameters)
    known = [f for f in fields if f not in OURS]
    for name in given:
        if name not in known:
            raise InputError(f"method {how.method!r} has no parameter {name!r}; {nearest(name, known)}")
    secret = given.get("secret")
    if secret is not None and not (isinstance(secret, str) and secret.startswith("env:")):
        raise InputError('a secret does not stand in a programme; name the variable that holds it: secret = "env:NAME"')
    for name, value in (("rule", how.rule), ("marks", how.marks)):
        if value is not None and name not in fields:
            raise InputError(f"method {how.method!r} takes no {name}")
    if how.rule is not None:
        given["rule"] = how.rule
    elif "rule" in fields:
        raise InputError(f'method {how.method!r} needs a rule: rule = "threshold(n=3)"')
    if how.marks is not None:
        from discreet.rules import read_marks

        given["marks"] = read_marks(how.marks, by)
    return method(how.method, **given)


def changes_records(how: How) -> bool:
    """Whether a method works on records before they are counted."""
    return effect.changes_records(how.method)
