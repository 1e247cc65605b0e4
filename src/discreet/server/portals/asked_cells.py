"""The cells of a selection, asked of the table server: a table for each measure, all or none of them given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import Refused
from discreet.policy.query import Resolved
from discreet.release import Release
from discreet.server.auth import Caller
from discreet.server.portals.portal_table import PortalTable
from discreet.server.portals.selected_cells import selected
from discreet.server.portals.selecting import Selection, selection_query
from discreet.server.queries import address as address_of
from discreet.server.service import Reply


@dataclass(frozen=True)
class AskedCells:
    """The selected cells of each measure, the replies that they are from, and the addresses of the whole tables."""

    parts: tuple[Release, ...]
    replies: tuple[Reply, ...]
    addresses: Mapping[str, str]

    @property
    def reply(self) -> Reply:
        """The reply whose headers go with all: one that the guard has something to say of, if there is any."""
        return next((reply for reply in self.replies if reply.flag is not None), self.replies[0])

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return sum(map(len, self.parts))

    @property
    def cached(self) -> bool:
        """Whether nothing of it was made anew."""
        return all(reply.cached for reply in self.replies)


async def asked_cells(table: PortalTable, caller: Caller, chosen: Selection) -> AskedCells:
    """The selected cells as answered to the caller; ``Refused`` where one of the measures is.

    Each measure is a table of its own, by the rules for it and with its line in the record. What the codebook refuses
    is refused before anything is asked.
    """
    queries = {one: selection_query(table, chosen, one) for one in chosen.measures}
    asked = {one: table.service.resolved(query) for one, query in queries.items()}
    replies = {}
    if len(asked) > 1:
        _check_together(table, asked)
    for one, resolved in asked.items():
        replies[one] = await table.service.ask(caller, resolved)
        if len(asked) > 1 and isinstance(refused := replies[one].answer.result, Refused):
            raise _of_measure(table, one, refused)
    parts = tuple(selected(reply.release, table.variables, chosen.codes, one) for one, reply in replies.items())
    addresses = {one: f"/api/table?{address_of(query)}" for one, query in queries.items()}
    return AskedCells(parts, tuple(replies.values()), addresses)


def _check_together(table: PortalTable, asked: Mapping[str, Resolved]) -> None:
    """Raise ``Refused`` if the codebook refuses one of several measures, or all together have too many cells."""
    for one, resolved in asked.items():
        try:
            table.service.check(resolved)
        except Refused as refused:
            raise _of_measure(table, one, refused) from None
    cells, most = sum(resolved.cells for resolved in asked.values()), table.service.policy.query.max_cells
    if cells > most:
        hint = "select fewer measures at a time, or less detail"
        raise Refused("max_cells", f"{cells:,} cells of {len(asked)} measures are asked, {most:,} are allowed", hint)


def _of_measure(table: PortalTable, measure: str, refused: Refused) -> Refused:
    return Refused(refused.rule, f"{table.measures[measure]}: {refused.reason}", refused.hint)
