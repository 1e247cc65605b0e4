"""Whether a programme fits its codebooks, methods and policies: decided before anything is counted."""

from __future__ import annotations

from discreet.data.codebook import Codebook
from discreet.data.dimension import Dimension
from discreet.errors import DiscreetError, InputError
from discreet.methods.effect import check_effect
from discreet.methods.touching import check_touched, level_of
from discreet.policy import Query, read_policy
from discreet.publishing.faults import Faults
from discreet.publishing.spec import Entry, How, Unit
from discreet.tables.layout import Layout


def check_unit(unit: Unit, book: Codebook, faults: Faults) -> None:
    """Every fault of a table, or of linked ones, goes to ``faults``."""

    def fault(entry: Entry, key: str, error: Exception | str) -> None:
        said = f"{entry.place}: table {entry.name!r}: {key}: {error}"
        if said not in faults.found:
            faults.found.append(said)

    sound = True
    for entry in unit.entries:
        for key, work in (("by", _by), ("where", _where), ("value", _value)):
            try:
                work(entry, book)
            except DiscreetError as error:
                fault(entry, key, error)
                sound = False
    first = unit.entries[0]
    names = list(dict.fromkeys(n for e in unit.entries for n in e.names))
    try:
        _how(unit.how, names, sound, first, book)
    except DiscreetError as error:
        fault(first, "policy" if unit.how.policy is not None else "method", error)
    if sound and unit.how.policy is None:
        for entry in unit.entries:
            try:
                _protects(unit.how, entry, book)
            except DiscreetError as error:
                fault(entry, "method", error)
    if unit.linked and sound:
        try:
            _linked(unit, book)
        except DiscreetError as error:
            fault(first, "linked", error)


def _by(entry: Entry, book: Codebook) -> None:
    names = entry.names
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"dimension {name!r} is named more than once")
    for name, level in entry.by:
        at_level(book.dimension(name), level)


def at_level(dimension: Dimension, level: str) -> Dimension:
    """A dimension at a level that leaves something to tabulate."""
    if dimension.level(level) == (dimension.total,):
        raise InputError(f"level {level!r} of {dimension.name!r} is its total; leave the dimension out")
    return dimension.at_level(level)


def _where(entry: Entry, book: Codebook) -> None:
    for name, codes in entry.where:
        dimension = book.dimension(name)
        for code in codes:
            dimension.index(code)


def _value(entry: Entry, book: Codebook) -> None:
    if entry.value is not None and entry.value != "count":
        book.magnitude(entry.value)


def _how(how: How, names: list[str], sound: bool, entry: Entry, book: Codebook) -> None:
    if how.policy is None:
        how.build(names)
        return
    policy = read_policy(how.policy)
    policy.check(book.dimensions)
    for number in range(len(policy.methods)):
        policy.make(number)
    if sound:
        query_of(entry).resolved(book.dimensions)


ASK = 'to publish the true numbers, ask for it by name: method = "publish"'


def _protects(how: How, entry: Entry, book: Codebook) -> None:
    """A table that its rule or method leaves as it is would be the true one; it must be asked for by name."""
    if how.method == "publish":
        return
    method = how.build(entry.names)
    check_effect(method, counts=entry.value in (None, "count"), ask=ASK)
    known = {d.name: d for d in book.dimensions}
    asked = {name: level_of(known[name], codes) for name, codes in entry.where} | dict(entry.by)
    check_touched(method, asked, known, ask=ASK)


def query_of(entry: Entry) -> Query:
    """What a table asks of a policy."""
    return Query.of(dict(entry.by), where=entry.population or None, measure=entry.value or "count")


def _linked(unit: Unit, book: Codebook) -> None:
    """Linked tables have common inner cells, and not too many; what a table does not name has a total."""
    if unit.how.policy is not None:
        raise InputError("linked tables are protected by a method; a policy decides table by table")
    if unit.approach == "in turn":
        if unit.how.method != "suppress" or unit.how.marks is not None:
            raise InputError("tables are protected in turn by the method 'suppress', and without marks")
        return
    names = unit_names(unit, book.dimensions)
    if not unit.how.changes_records:
        Layout.of([book.dimension(n) for n in names])  # refuses too many inner cells
    for entry in unit.entries:
        for name in names:
            if name not in entry.names and book.dimension(name).total is None:
                raise InputError(f"dimension {name!r} has no total, so {entry.name!r} must name it too")


def unit_names(unit: Unit, dimensions: tuple[Dimension, ...]) -> list[str]:
    """The dimensions of all tables of a unit, in the codebook's order."""
    held = {name for entry in unit.entries for name in entry.names}
    return [d.name for d in dimensions if d.name in held]
