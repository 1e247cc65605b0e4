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
from discreet.methods import registered_name
from discreet.methods.contract import SaysIdle, contract_of, seldom, transition_of
from discreet.release import Protected
from discreet.rules import AllOf, AnyOf, Request, Rule, as_rule
from discreet.rules.base import Custom
from discreet.tables.additive import Additive
from discreet.tables.contributions import Contributions
from discreet.tables.layout import Layout
from discreet.tables.table import Table

SMALL = (1, 2, 3)


def check_effect(method: Any, *, counts: bool = True, ask: str = "") -> None:
    """Raise if a method with these parameters protects nothing; ``counts``: whether the table is one of counts.

    ``ask`` says how the true numbers are asked for by name.
    """
    contract = contract_of(method)
    if contract.rule:
        rule = method.governing_rule()
        if rule is not None:
            check_rule(rule, sums=contract.rule == "lines", ask=ask)
    if why := idle(method, counts=counts):
        raise InputError(
            f"method {registered_name(method)!r} {why}: take other parameters" + (f"; {ask}" if ask else "")
        )


def check_rule(rule: Any, *, sums: bool = True, ask: str = "") -> None:
    """Raise if a rule calls nothing sensitive; ``sums``: whether the method looks at sums that no cell shows."""
    if calls_nothing(as_rule(rule), sums=sums):
        raise InputError(
            f"the rule {rule} calls no cell sensitive, so nothing would be hidden: give one that does, such as "
            "threshold with n = 2 or more" + (f"; {ask}" if ask else "")
        )


def check_hides(protected: Protected) -> None:
    """Raise if whoever knows the method can read every true value off the table (its bounds leave one value each)."""
    if protected.room.settled:
        raise InputError(f"the method leaves this measure as it is ({protected.method}): take other parameters")


def idle(method: Any, *, counts: bool) -> str:
    """Why a method protects nothing, in words that follow its name; empty if it does something."""
    if not contract_of(method).protects:
        return "publishes tables as they are"
    if isinstance(method, SaysIdle) and (why := method.idle(counts=counts)):
        return why
    if not counts:
        return ""
    try:
        matrix = transition_of(method, _counts())
    except InputError:  # made for magnitudes: what it does to them is looked at there
        return ""
    if matrix is None:
        return ""
    chance = max(sum(p for shown, p in matrix.outcomes(n) if shown != n) for n in SMALL)
    return seldom(chance, "the counts 1, 2 and 3")


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


@cache
def _counts() -> Table:
    """Small counts of every kind, of nobody."""
    return Table.of(np.arange(16).reshape(4, 4), ["a", "b"])
