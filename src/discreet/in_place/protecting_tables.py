"""The tables of a file or frame protected and judged together: what one of them hides no other may tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.in_place.common_margins import CommonMargins
from discreet.in_place.joint_audit import judged_together
from discreet.in_place.linked_sheets import (
    ROUNDS,
    also_hiding,
    check_linked,
    hidden_for_others,
    linked_pairs,
    masks_of,
    shown_elsewhere,
)
from discreet.in_place.possible_parts import hidden_for_remainders, worth_judging
from discreet.in_place.protecting import protected_sheet, sheet_report
from discreet.in_place.protection_report import ProtectionReport, status_counts
from discreet.in_place.share_tables import refuse_share_tables
from discreet.in_place.table_links import found_links
from discreet.in_place.table_margins import TableMargins
from discreet.methods.contract import Method
from discreet.release import Protected
from discreet.sheets.sheet_table import SheetTable


@dataclass(frozen=True, eq=False)
class ProtectedTables:
    """Tables, protected, with what came of each, and what of them could not be set against each other."""

    done: tuple[Protected, ...]
    outcomes: tuple[ProtectionReport, ...]
    perhaps_parts: tuple[int, ...]
    """Tables of which the numbers allow that one is a part of the other, though nothing says so."""
    unjudged: tuple[int, ...]
    """Those of them of which it could not be judged, or not protected, what follows if they are."""
    linked: bool
    """Whether some were judged together."""


def protect_tables(tables: Sequence[SheetTable], chosen: Method, *, apart: bool = False) -> ProtectedTables:
    """Protect and audit tables; raise unless all are passed.

    Where tables have cells in common with the same numbers, a cell that one of them hides is hidden in all. Tables that
    may be parts of others are protected as such, unless ``apart`` says that they count different people.
    """
    margins = [TableMargins(sheet) for sheet in tables]
    common = CommonMargins(margins)
    refuse_share_tables(common)
    found = found_links(common)
    pairs = linked_pairs(margins, found.links)
    results = [protected_sheet(sheet, chosen) for sheet in tables]
    remainders = [] if apart or not found.all_tried else worth_judging(found.remainders, chosen)
    masks: dict[int, Any] = {}
    faults = hidden_for_remainders(remainders, margins, [one for one, _ in results], chosen)
    for _ in range(ROUNDS):
        done = [one for one, _ in results]
        for number, cells in shown_elsewhere(pairs, done).items():
            faults.setdefault(number, set()).update(cells)
        new = masks_of(faults, masks, done)
        again = [k for k in faults if also_hiding(chosen, new, k) is not chosen]
        if not again:
            break
        masks, faults = new, {}
        for k in again:
            results[k] = protected_sheet(tables[k], also_hiding(chosen, masks, k))
    protected = [one for one, _ in results]
    outcomes = [outcome for _, outcome in results]
    for outcome in outcomes:
        outcome.check()
    check_linked(tables, pairs, protected)
    together, unjudged = judged_together(margins, found.links, remainders, protected, chosen)
    for k, one in enumerate(together):
        if one is not protected[k]:
            protected[k] = one
            outcomes[k] = sheet_report(tables[k], one)
            outcomes[k].check()
    for k in masks:
        protected[k] = hidden_for_others(protected[k], chosen)
        primary, secondary = status_counts(protected[k])
        outcomes[k] = replace(outcomes[k], primary=primary, secondary=secondary)
    doubtful = frozenset().union(*(one.tables for one in found.remainders))
    if not remainders:
        unjudged = set(doubtful)
    return ProtectedTables(
        tuple(protected),
        tuple(outcomes),
        tuple(sorted(doubtful.union(*found.unknown))),
        tuple(sorted(unjudged.union(*found.unknown))),
        bool(found.links),
    )
