"""Whether a method or a rule does anything: what would leave every table as it is must be asked for by name.

A rule is tried on a table of nobody, with lone, dominant and alike contributors, empty cells and lines that lie in one
cell. A method must hide something, or change a count of 1, 2 or 3 with a chance of ``LEAST`` or more.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.methods import HOMES, method_class
from discreet.release import Protected
from discreet.rules import AllOf, AnyOf, Request, Rule, as_rule
from discreet.rules.base import Custom
from discreet.tables.additive import Additive
from discreet.tables.contributions import Contributions
from discreet.tables.layout import Layout
from discreet.tables.table import Table

LEAST = 0.01
"""The least chance of a small count, or share of the records, that a method must change to be called protection."""
SMALL = (1, 2, 3)


def check_effect(made: Any, *, counts: bool = True, ask: str = "") -> None:
    """Raise if a method with these parameters protects nothing; ``counts``: whether the table is one of counts.

    ``ask`` says how the true numbers are asked for by name.
    """
    if hasattr(made, "rule") and not _marked(made):
        check_rule(made.rule, sums=hasattr(made, "singletons"), ask=ask)
    said = _idle(made, counts)
    if said:
        raise InputError(f"{said}: take other parameters" + (f"; {ask}" if ask else ""))


def check_rule(rule: Any, *, sums: bool = True, ask: str = "") -> None:
    """Raise if a rule calls nothing sensitive; ``sums``: whether the method looks at sums that no cell shows."""
    if calls_nothing(as_rule(rule), sums=sums):
        raise InputError(
            f"the rule {rule} calls no cell sensitive, so nothing would be hidden: give one that does, such as "
            "threshold with n = 2 or more" + (f"; {ask}" if ask else "")
        )


def called(made: Any) -> str:
    """The name of a method in the registry; that of its class if it is not there."""
    own = type(made).__name__
    return next((name for name, home in HOMES.items() if home.endswith(f":{own}")), own)


def check_hides(protected: Protected) -> None:
    """Raise if whoever knows the method can read every true value off the table (its bounds leave one value each)."""
    lower, upper = (protected.details.get(name) for name in ("lower", "upper"))
    if lower is not None and upper is not None and np.array_equal(lower, upper):
        raise InputError(f"the method leaves this measure as it is ({protected.method}): take other parameters")


def changes_records(name: str) -> bool:
    """Whether a method works on records before they are counted."""
    told = str(method_class(name).__call__.__annotations__.get("return", ""))
    return told.endswith("Microdata")


# -- rules ------------------------------------------------------------------------------------------------------


def calls_nothing(rule: Rule, *, sums: bool = True) -> bool:
    """Whether no table has a cell (or with ``sums`` a sum) that the rule calls sensitive.

    >>> calls_nothing(as_rule("threshold(n=3) & threshold(n=1)")), calls_nothing(as_rule("threshold(n=3)"))
    (True, False)
    """
    if isinstance(rule, AnyOf):
        return all(calls_nothing(part, sums=sums) for part in rule.rules)
    if isinstance(rule, AllOf) and any(calls_nothing(part, sums=sums) for part in rule.rules):
        return True
    plain = _nameless(rule)
    try:
        return not (plain(probe()).any() or (sums and plain.virtual(probe()) is not None))
    except InputError:  # it needs what only the table itself has; what it does there is looked at there
        return False


def _nameless(rule: Rule) -> Rule:
    """The rule without the names of variables and cells, which the probe has not; what names none calls none."""
    if isinstance(rule, (AnyOf, AllOf)):
        return type(rule)(tuple(_nameless(part) for part in rule.rules))
    if isinstance(rule, Request):
        named = rule.cells if isinstance(rule.cells, dict) else np.asarray(rule.cells)
        some = bool(named) if isinstance(named, dict) else bool(named.any() if named.dtype == bool else named.size)
        return Custom(lambda table: np.full(len(table), some))
    if getattr(rule, "sensitive", None) == ():
        return Custom(lambda table: np.zeros(len(table), bool))
    names = {f.name for f in dataclasses.fields(rule)} & {"sensitive", "unknown", "unions"}  # type: ignore[arg-type]
    return dataclasses.replace(rule, **dict.fromkeys(names)) if names else rule  # type: ignore[type-var]


FIRMS: tuple[tuple[tuple[float, ...], ...], ...] = (
    ((100,), (), (), ()),
    ((), (60, 40), (), ()),
    ((), (), (90, 5, 5), ()),
    ((99, 1), (100,), (), (80, 10, 5, 5)),
    ((50, 30, 10, 10), (10,) * 12, (40, 35, 5), (1000, 1, 1, 1, 1)),
    ((5,), (7,), (95, 5), (400, 300, 200, 100, 50, 25, 12)),
)
"""Contributions by inner cell, of nobody."""


@cache
def probe() -> Table:
    """Lone, dominant and alike contributors, empty cells, and lines of which all are in one cell."""
    cells = [firms for row in FIRMS for firms in row]
    top = max(len(firms) for firms in cells)
    layout = Layout.of(Table.of(np.zeros((len(FIRMS), len(FIRMS[0])), int), ["a", "b"]).dimensions)
    count = np.array([len(firms) for firms in cells])
    held = np.full((len(cells), top), np.nan)
    who = np.full((len(cells), top), -1)
    for k, firms in enumerate(cells):
        held[k, : len(firms)] = firms
        who[k, : len(firms)] = 100 * k + np.arange(len(firms))
    weight = np.where(np.isnan(held), np.nan, 1.0)
    value = np.nansum(held, axis=1).astype(np.int64)
    statistics = {
        "count": Additive(count, layout.aggregate(count), 0),
        "value": Additive(value, layout.aggregate(value), 0),
    }
    return Table(layout, statistics, "value", "value", "", "", Contributions(held, weight, who, count))


# -- methods ----------------------------------------------------------------------------------------------------


def _idle(made: Any, counts: bool) -> str:
    """Why a method protects nothing, in words; empty if it does something."""
    name = called(made)
    if counts and float(getattr(made, "base", 2)) == 1:
        return f"method {name!r} to base 1 changes no count"
    if name in _OWN:
        return _OWN[name](made)
    if counts and hasattr(made, "transition"):
        return _still(made)
    return ""


def _marked(made: Any) -> bool:
    """Whether cells are hidden by hand, whatever the rule calls."""
    marks, hidden = getattr(made, "marks", None), getattr(made, "hidden", None)
    if hidden is not None and np.size(hidden):
        return True
    return marks is not None and bool(getattr(marks, "unsafe", True) or getattr(marks, "never", True))


def _still(made: Any) -> str:
    try:
        moved = made.transition(_counts())
    except InputError:  # made for magnitudes: what it does to them is looked at there
        return ""
    chance = max(sum(p for shown, p in moved.outcomes(n) if shown != n) for n in SMALL)
    return _seldom(made, chance, "the counts 1, 2 and 3")


def _seldom(made: Any, chance: float, what: str) -> str:
    if chance >= LEAST - 1e-9:
        return ""
    rarely = f"{what} with a chance below {LEAST:.0%}"
    return f"method {called(made)!r} with these parameters changes nothing to speak of ({rarely})"


def _redesign(made: Any) -> str:
    return "" if any(made.merge.values()) else "method 'redesign' combines no codes (merge)"


def _recode(made: Any) -> str:
    if made.groups is None or any(len(codes) > 1 for codes in made.groups.values()):
        return ""
    return "method 'global-recode' combines no codes (groups)"


def _sample(made: Any) -> str:
    return _seldom(made, 1 - made.fraction, "whether a record counts")


def _swap(made: Any) -> str:
    if made.geography in made.strata:
        return f"method 'swap' keeps every record in its own {made.geography} (strata)"
    return "" if made.k > 1 else _seldom(made, 2 * made.rate, "where a record lies")


def _pram(made: Any) -> str:
    leaves = 1 - made.stay if made.matrix is None else 1 - min(np.diagonal(np.array(made.matrix)))
    return _seldom(made, float(made.alpha * leaves), "a category")


def _magnitude(made: Any) -> str:
    if min(made.p) >= LEAST:
        return ""
    return f"method 'cell-key-magnitude' with p below {LEAST:.0%} changes nothing to speak of"


_OWN = {
    "redesign": _redesign,
    "global-recode": _recode,
    "sample": _sample,
    "swap": _swap,
    "pram": _pram,
    "cell-key-magnitude": _magnitude,
}


@cache
def _counts() -> Table:
    """Small counts of every kind, of nobody."""
    return Table.of(np.arange(16).reshape(4, 4), ["a", "b"])
