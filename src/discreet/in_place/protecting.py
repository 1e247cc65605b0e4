"""The table of a sheet protected and audited: cells that the sheet does not have are not published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.in_place.protection_report import ProtectionReport, report_on
from discreet.in_place.sorted_rows import order_remarks
from discreet.methods.contract import Method, protect
from discreet.methods.effect import check_effect
from discreet.methods.suppress.method import Suppress
from discreet.release import Protected, Status
from discreet.rules import Threshold
from discreet.sheets.sheet_table import SheetTable


def protected_sheet(sheet: SheetTable, chosen: Method) -> tuple[Protected, ProtectionReport]:
    """The table of a sheet, protected, and what came of it."""
    table = sheet.table
    if table.measure != "count":
        raise InputError(f"{sheet.name!r}: the numbers are sums of {table.measure!r}, not counts; see discreet.protect")
    check_effect(chosen)
    absent = absent_cells(sheet)
    done = without_absent(protect(table, _knowing(chosen, absent)), absent)
    if isinstance(chosen, Suppress) and (n := _threshold(chosen.rule)) is not None:
        least = 0 if _hides_zeros(chosen.rule) else 1
        counts = f"counts from {least} to {n - 1}" if n - 1 > least else f"counts of {least}"
        done = replace(done, method=f"{counts} and cells that would give them away are not shown")
    return done, sheet_report(sheet, done)


def sheet_report(sheet: SheetTable, done: Protected) -> ProtectionReport:
    """What came of the table of a sheet."""
    outcome = report_on(done, sheet.name)
    return replace(outcome, remarks=(*outcome.remarks, *order_remarks(sheet, done)))


def absent_cells(sheet: SheetTable) -> Array:
    """Cells of the table that do not stand on the sheet, such as margins that it leaves out.

    A combination of finest labels of the sheet that has no cell there counts as zero, and whoever reads the sheet takes
    it so: it is not absent but known, and hides nothing.
    """
    layout = sheet.table.layout
    absent = np.array([not places for places in sheet.places_in(layout)])
    zero = absent & (sheet.table.value == 0)
    if zero.any():
        for axis, dimension in enumerate(layout.dimensions):
            listed = {codes[axis] for codes, places in sheet.places.items() if places}
            finest = [code in dimension.leaf_position and code in listed for code in dimension.codes]
            zero &= np.array(finest)[layout.codes[:, axis]]
    return np.asarray(absent & ~zero)


def _knowing(chosen: Method, absent: Array) -> Method:
    """Suppression that is told which cells are not published, so that it need not protect them."""
    if isinstance(chosen, Suppress) and chosen.hidden is None and absent.any():
        return replace(chosen, hidden=absent)
    return chosen


def without_absent(done: Protected, absent: Array) -> Protected:
    """What is published of a table, without its ``absent`` cells, as those that a sheet does not have."""
    if not (absent & ~done.hidden).any():
        return replace(done, status=np.where(absent, Status.NEVER.value, done.status)) if absent.any() else done
    status = np.where(absent, Status.NEVER.value, done.status)
    published = {name: np.where(absent, np.nan, np.asarray(values, float)) for name, values in done.published.items()}
    room = done.room
    if room.bounds is not None:
        room = replace(
            room, bounds=(np.where(absent, -np.inf, room.bounds[0]), np.where(absent, np.inf, room.bounds[1]))
        )
    return replace(done, status=status, published=published, room=room)


def _hides_zeros(rule: Any) -> bool:
    """Whether a threshold rule, alone or among others, hides empty cells, too."""
    return any(isinstance(one, Threshold) and one.zeros for one in getattr(rule, "rules", (rule,)))


def _threshold(rule: Any) -> int | None:
    """The n of a threshold rule, alone or among others."""
    rules = getattr(rule, "rules", (rule,))
    return next((one.n for one in rules if isinstance(one, Threshold)), None)
