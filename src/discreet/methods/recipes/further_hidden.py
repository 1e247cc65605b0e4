"""More cells hidden after rounding: what rounded numbers say of counts that suppression left open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.audits.auditing import audit
from discreet.audits.one_person import open_by_one
from discreet.audits.report import EXACT, NARROW, Audit
from discreet.audits.view import view
from discreet.base.annotations import Array
from discreet.release import Protected, Status

SMALL = 10
"""Below this a count that is known exactly is one of few people, whatever method was to hide it."""
ROUNDS = 10
"""How often the table is audited; what still follows then is for whoever audits it to refuse."""


def exposed_cells(report: Audit) -> Array:
    """Which audited cells are known and must not be: sensitive ones, and small counts that were changed."""
    status, truth = report.status, report.truth
    assert status is not None
    assert truth is not None
    small = (np.abs(truth) > 0) & (np.abs(truth) < SMALL)
    guarded = (status == Status.PRIMARY.value) | ((status != Status.SECONDARY.value) & small)
    return np.asarray(known_cells(report) & guarded)


def known_cells(report: Audit) -> Array:
    """Which audited cells that are published are known exactly or too closely."""
    return np.asarray(np.isin(report.finding, [EXACT, NARROW]) & (np.asarray(report.status) != Status.NEVER.value))


def hidden_until_unknown(done: Protected) -> Protected:
    """The table with further cells hidden until no small count follows from what is shown.

    A shown count is more than the largest that is hidden, so that rounding takes it up more often than down: of a sum
    that was rounded down, little may be left for what is hidden. Beside each count that follows the smallest one shown
    in a line with it is hidden, too.
    """
    for _ in range(ROUNDS):
        seen = view(done)
        asked = np.flatnonzero(seen.withheld & ~open_by_one(seen))
        if not len(asked):
            break
        report = audit(done, targets=asked)
        more = _beside(done, report.number[exposed_cells(report)])
        if not more.any():
            break
        done = _without(done, more)
    return done


def _beside(done: Protected, cells: Array) -> Array:
    """Of some cells those that are shown, and for each other the smallest shown that has all labels but one of it."""
    layout = done.table.layout
    shown = ~done.hidden & (done.table.value > 0) & (layout.inner_of_cell >= 0)
    more = np.zeros(len(done.table), bool)
    more[cells] = ~done.hidden[cells]
    for cell in cells[done.hidden[cells]].tolist():
        differing = (layout.codes != layout.codes[cell]).sum(axis=1)
        near = np.flatnonzero(shown & (differing == 1))
        if len(near) and not more[near].any():
            more[near[np.argmin(done.table.value[near])]] = True
    return more


def _without(done: Protected, gone: Array) -> Protected:
    """The table with cells hidden as secondary suppressions; a mark says nothing of them."""
    room = done.room
    if room.lower is not None and room.upper is not None:
        room = replace(room, lower=np.where(gone, -np.inf, room.lower), upper=np.where(gone, np.inf, room.upper))
    if room.bounds is not None:
        least, most = room.bounds
        room = replace(room, bounds=(np.where(gone, -np.inf, least), np.where(gone, np.inf, most)))
    return replace(
        done,
        published={name: np.where(gone, np.nan, np.asarray(values, float)) for name, values in done.published.items()},
        status=np.where(gone, Status.SECONDARY.value, done.status),
        room=room,
    )
