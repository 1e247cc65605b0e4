"""Tables of one file judged together: what follows from all that they show, and what more is hidden for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audits.joined.argument import Arguments
from discreet.audits.known import Known
from discreet.audits.report import EXACT, Audit
from discreet.audits.view import View, view
from discreet.audits.view_audit import of_view
from discreet.base.annotations import Array
from discreet.errors import Refused, many
from discreet.in_place.margin_links import MarginLink, groups
from discreet.in_place.possible_parts import Remainder
from discreet.in_place.table_margins import TableMargins
from discreet.methods.recipes.further_hidden import exposed_cells
from discreet.release import Protected, Status
from discreet.tables import relations as related

JOINT_ROUNDS = 60
"""How often more is hidden before tables are refused."""
ARGUED = 12
"""Cells that follow from several tables for which shown numbers are looked for in one round."""


def joint_view(
    members: Sequence[int],
    tables: Sequence[TableMargins | Remainder],
    links: Sequence[MarginLink],
    done: Sequence[Protected],
) -> View:
    """What linked tables say together, each with its own cells, and an equation for every margin in common.

    As in an audit of the file a count that is not shown is 1 at least, unless zeros are hidden, too; what is left of a
    table without others may be nothing.
    """
    from scipy.sparse import block_diag, coo_array, csr_array, vstack

    seen = [view(done[k]) for k in members]
    known = [one.known for one in seen]
    matrix = csr_array(block_diag([one.matrix for one in known], format="csr"))
    cells, inner = matrix.shape[1], matrix.shape[0]
    variable = related.variable_of_inner(matrix)
    size = max(cells, int(variable.max(initial=-1)) + 1)
    first_inner = dict(zip(members, np.cumsum([0, *(one.matrix.shape[0] for one in known)]), strict=False))
    rows, columns, factors = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    own = [link for link in links if link.whole[0] in first_inner]
    for k in members:
        rest = tables[k]
        own += rest.links(k, tables, done) if isinstance(rest, Remainder) else []
    for row, link in enumerate(own):
        for sign, (table, codes) in ((-1, link.whole), *((1, part) for part in link.parts)):
            at, signs = tables[table].inner_cells(codes)
            rows.append(np.full(len(at), row))
            columns.append(variable[at + first_inner[table]])
            factors.append(sign * signs.astype(float))
    tied = coo_array((np.concatenate(factors), (np.concatenate(rows), np.concatenate(columns))), shape=(len(own), size))
    sums = csr_array(tied)
    sums.eliminate_zeros()  # a sum that is the same on both sides says nothing
    relations = csr_array(vstack([related.of_matrix(matrix), sums[np.diff(sums.indptr) > 0]], format="csr"))
    lower = np.concatenate([one.lower for one in known])
    truth = np.concatenate([one.truth for one in seen if one.truth is not None])
    gone = np.concatenate([_not_shown(done[k]) & isinstance(tables[k], TableMargins) for k in members])
    if not (gone & (truth <= 0)).any():
        lower = np.where(gone, np.maximum(lower, 1.0), lower)
    return View(
        Known(
            matrix=matrix,
            lower=lower,
            upper=np.concatenate([one.upper for one in known]),
            inner_lower=np.concatenate([one.inner_lower for one in known]),
            inner_upper=np.full(inner, np.inf),
            integer=all(one.integer for one in known),
            relations=relations,
        ),
        truth,
        tuple(done[k].table.layout for k in members),
        seen[0].measure,
        max(one.decimals for one in seen),
        sensitive=np.concatenate([_primary(done[k]) for k in members]),
        names=tuple(tables[k].name for k in members),
    )


def _not_shown(one: Protected) -> Array:
    return np.asarray(one.hidden & (one.status != Status.NEVER.value))


def _primary(one: Protected) -> Array:
    return np.asarray(one.hidden & (one.status == Status.PRIMARY.value))


def joint_report(seen: View, members: Sequence[int], done: Sequence[Protected]) -> Audit:
    """The audit of linked tables together: of every cell that is not shown as it is and stands on a sheet."""
    status = np.concatenate([done[k].status for k in members])
    targets = np.flatnonzero(seen.withheld & (status != Status.NEVER.value))
    report = of_view(seen, targets)
    return replace(report, status=status[report.number])


def judged_together(
    tables: Sequence[TableMargins],
    links: Sequence[MarginLink],
    remainders: Sequence[Remainder],
    done: Sequence[Protected],
    chosen: Any,
) -> tuple[list[Protected], set[int]]:
    """All tables with what more must be hidden; and tables that may be parts of others and cannot be protected as such.

    Raises where tables are linked and nothing more can be hidden.
    """
    more: list[TableMargins | Remainder] = [*tables, *remainders]
    held = [*done, *(one.hidden(chosen) for one in remainders)]
    unjudged: set[int] = set()
    tied = [*(link.tables for link in links), *((k, *one.tables) for k, one in enumerate(remainders, len(tables)))]
    for members in groups(tied, len(more)):
        own = [k for k in members if k < len(tables)]
        try:
            together = hiding_more(members, more, links, held)
        except Refused:
            if own == members:
                raise
            unjudged.update(own)
            together = held
            for sure in groups([link.tables for link in links], len(tables)):
                if set(sure) <= set(own):
                    together = hiding_more(sure, tables, links, together)
        for k in own:
            held[k] = together[k]
    return held[: len(tables)], unjudged


def hiding_more(
    members: Sequence[int],
    tables: Sequence[TableMargins | Remainder],
    links: Sequence[MarginLink],
    done: Sequence[Protected],
) -> list[Protected]:
    """The tables with further cells hidden until none that must stay unknown follows from all of them together.

    Raises where nothing more can be hidden, or where a method changes values instead of hiding them.
    """
    results = list(done)
    starts = np.cumsum([0, *(len(done[k].table) for k in members)])
    for _ in range(JOINT_ROUNDS):
        if not any(seen_cells.any() for seen_cells in (_withheld(results[k]) for k in members)):
            return results
        seen = joint_view(members, tables, links, results)
        report = joint_report(seen, members, results)
        bad = report.number[exposed_cells(report)]
        if not len(bad):
            sure = [link for link in links if link.sure]
            own = [k for k in members if not isinstance(tables[k], Remainder)]
            if len(sure) < len(links) or len(own) < len(members):
                report = joint_report(joint_view(own, tables, sure, results), own, results)
                starts = np.cumsum([0, *(len(results[k].table) for k in own)])
            return _known_shown(own, starts, report, results)
        stands = np.concatenate([np.full(len(results[k].table), isinstance(tables[k], TableMargins)) for k in members])
        more = _further_cells(seen, report, bad, [results[k] for k in members], stands)
        if not more:
            break
        for k, start, end in zip(members, starts[:-1], starts[1:], strict=True):
            own = [cell - start for cell in more if start <= cell < end]
            if own:
                results[k] = with_hidden(results[k], own)
    names = ", ".join(repr(tables[k].name) for k in members)
    raise Refused(
        "linked tables",
        f"{many(len(bad), 'cell that must stay unknown follows', 'cells that must stay unknown follow')} from {names} "
        "together, and hiding more does not help",
        "give the tables a larger threshold (--hide-under), leave totals out of one of them, or protect and publish "
        "one alone (--sheet)",
    )


def _known_shown(members: Sequence[int], starts: Array, report: Audit, done: Sequence[Protected]) -> list[Protected]:
    """The tables with secondary suppressions shown again that follow from all of them: hiding them hides nothing."""
    results = list(done)
    known = report.number[(report.finding == EXACT) & (np.asarray(report.status) == Status.SECONDARY.value)]
    for k, start, end in zip(members, starts[:-1], starts[1:], strict=True):
        one = results[k]
        again = np.zeros(len(one.table), bool)
        again[known[(known >= start) & (known < end)] - start] = one.truthful is True
        if again.any() and set(one.published) == {one.table.measure}:
            values = np.where(again, one.table.value, np.asarray(one.published[one.table.measure], float))
            status = np.where(again, Status.PUBLISHED.value, one.status)
            results[k] = replace(one, published={one.table.measure: values}, status=status)
    return results


def _withheld(one: Protected) -> Array:
    return view(one).withheld


def _further_cells(seen: View, report: Audit, bad: Array, done: Sequence[Protected], stands: Array) -> set[int]:
    """Shown cells to hide: of the numbers that give each cell away the smallest that is not zero.

    Of a difference that does not stand on a sheet (``stands``) those are not looked for: one near to it is taken.
    """
    may = np.concatenate([~one.hidden & (one.table.value > 0) & (one.truthful is True) for one in done])
    value = np.concatenate([one.table.value for one in done])
    system = seen.known.system()
    place = {int(number): k for k, number in enumerate(report.number)}
    arguments = Arguments(seen)
    more: set[int] = set()
    for cell in bad[:ARGUED].tolist():
        ends = report.lower[place[cell]], report.upper[place[cell]]
        terms = arguments.shown_cells(int(cell), *ends) if stands[cell] else ()
        near = [number for number in terms if number < len(may) and may[number]]
        if not near:
            around = system.around(int(cell), 200)
            near = [int(number) for number in around if number < len(may) and may[number]]
        if near and not more.intersection(near):
            more.add(min(near, key=lambda number: (value[number], number)))
    return more


def with_hidden(one: Protected, cells: Sequence[int]) -> Protected:
    """A protected table with further cells hidden, as secondary suppressions."""
    gone = np.zeros(len(one.table), bool)
    gone[list(cells)] = True
    status = np.where(gone, Status.SECONDARY.value, one.status)
    published = {name: np.where(gone, np.nan, np.asarray(values, float)) for name, values in one.published.items()}
    room = one.room
    if room.bounds is not None:
        low, high = (np.asarray(bound, float) for bound in room.bounds)
        room = replace(room, bounds=(np.where(gone, 0.0, low), np.where(gone, np.inf, high)))
    return replace(one, status=status, published=published, room=room)
