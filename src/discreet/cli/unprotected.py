"""discreet protect: what would write the true table is an error, unless it is asked for by name; then it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.cli.console import say
from discreet.cli.option_texts import filters

if TYPE_CHECKING:
    from discreet.data.dimension import Dimension
    from discreet.methods.contract import Contract
    from discreet.release import Protected
    from discreet.tables.table import Table

ASK = "to write the true numbers, ask for it by name: --method publish"


def check_made(name: str, method: Any, which: Mapping[str, Any]) -> None:
    """Refuse a method whose rule or parameters protect nothing, before anything is read."""
    from discreet.methods.effect import check_effect

    if name != "publish":
        check_effect(method, counts=which["value"] is None, ask=ASK)


def check_table(method: Any, names: Sequence[str], dimensions: Iterable[Dimension], where: Any) -> None:
    """Refuse a method that leaves this table as it is, from the codebook alone."""
    from discreet.methods.touching import check_touched, level_of

    known = {d.name: d for d in dimensions}
    asked = {name: name for name in names if name in known}
    for name, codes in (filters(where) or {}).items():
        if name in known and name not in asked:
            asked[name] = level_of(known[name], [str(code) for code in codes])
    check_touched(method, asked, known, ask=ASK)


def check_done(name: str, done: Protected) -> None:
    """Refuse what the method's own bounds say is the true table."""
    from discreet.methods.effect import check_hides

    if name != "publish":
        check_hides(done)


@dataclass(frozen=True)
class Looked:
    """A method whose outcome is looked at, part by part."""

    name: str
    method: Any

    @property
    def contract(self) -> Contract:
        """That of the method."""
        from discreet.methods.contract import contract_of

        return contract_of(self.method)

    def __call__(self, table: Table) -> Protected:
        from discreet.methods.contract import protect

        done = protect(table, self.method)
        check_done(self.name, done)
        return done


def say_unprotected(method: str) -> None:
    """Say on stderr that a table is published as it is, if it is."""
    from discreet.release import AS_IT_IS

    if method == AS_IT_IS:
        say("warning: this table is not protected: it is published as it is")
