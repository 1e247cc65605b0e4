"""A table to be suppressed: what is asked, the roles of its cells, and what follows from both, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.suppress.model import requirements
from discreet.methods.suppress.model.earlier_tables import hidden_before
from discreet.methods.suppress.model.keyed_draw import KeyedDraw, drawn
from discreet.methods.suppress.model.parameters import SuppressParameters
from discreet.methods.suppress.model.problem import Requirements
from discreet.methods.suppress.model.roles import Roles, roles_of
from discreet.methods.suppress.model.singletons import Owners, Singletons, find, owners
from discreet.methods.suppress.model.tuning import DEFAULT, Tuning
from discreet.tables.table import Table

if TYPE_CHECKING:
    from discreet.audits.known import Known

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Task:
    """What all steps of a suppression work on. ``hidden`` is everywhere a mask over the columns of ``roles.matrix``.

    Nothing is computed before it is asked for, so that what cannot be judged is refused by the step that needs it.
    """

    asked: SuppressParameters
    table: Table
    roles: Roles
    tuning: Tuning = DEFAULT
    decoys_wanted: bool = True
    given_draw: KeyedDraw | None = None
    _quantities: dict[bool, requirements.Quantities] = field(default_factory=dict, init=False, repr=False)
    _requirements: dict[bool, Requirements] = field(default_factory=dict, init=False, repr=False)
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, asked: SuppressParameters, table: Table, *, clash: bool = False, tuning: Tuning = DEFAULT) -> Task:
        """The task of a table; ``clash`` lets a cell be sensitive and forced at once."""
        return cls(asked, table, roles_of(asked, table, clash=clash), tuning)

    @property
    def withheld(self) -> Array:
        """Columns that are hidden whatever happens."""
        return self.sensitive | self.roles.never

    @cached_property
    def draw(self) -> KeyedDraw:
        """What the key decides; nothing without one."""
        nothing = KeyedDraw(np.ones(self.roles.n), np.zeros(self.roles.n, bool))
        draw = nothing
        if self.given_draw is not None:
            draw = self.given_draw
        elif self.asked.key is not None:
            draw = drawn(self.asked.key, self.table, self.roles, self.tuning.key)
        return draw if self.decoys_wanted else replace(draw, decoys=nothing.decoys)

    @property
    def sensitive(self) -> Array:
        """Columns of which nothing may follow from equations: those that a rule calls sensitive, and decoys."""
        return self.roles.primary | self.draw.decoys

    def with_draw(self, draw: KeyedDraw) -> Task:
        """The same with another draw; what does not depend on it is not computed again."""
        other = copy(self)
        object.__setattr__(other, "given_draw", draw)
        other.__dict__.pop("draw", None)
        return other

    def kept(self, name: str, compute: Callable[[], T]) -> T:
        """What a step computes of the task once, whatever is drawn."""
        if name not in self._kept:
            self._kept[name] = compute()
        kept: T = self._kept[name]
        return kept

    def without_decoys(self) -> Task:
        """The same, with no cell protected that is not sensitive."""
        return replace(self, decoys_wanted=False)

    @cached_property
    def singletons(self) -> Singletons:
        """Who knows what beforehand."""
        primary = self.roles.primary[: len(self.table)]
        zeros = self.roles.zeros or bool((primary & self.roles.empty[: len(self.table)]).any())
        return find(self.table, self.asked.singletons, primary, zeros=zeros)

    @cached_property
    def owners(self) -> Owners | None:
        """The contributors who know their own cells; None if nobody is asked."""
        return owners(self.singletons, self.table, safe_zeros=self.roles.safe_zeros)

    @cached_property
    def hidden_before(self) -> Array | None:
        """Cells that last period's table hid; None if there is none."""
        return None if self.asked.last is None else hidden_before(self.table, self.asked.last)

    @cached_property
    def values(self) -> Array:
        """The value of every column in whole units of the last decimal."""
        inner = self.table.statistic(self.table.measure).inner
        return np.asarray(self.roles.joined.layout.aggregate(inner), float)

    def quantities(self, hidden: Array) -> requirements.Quantities:
        """Values of the columns and what is known of each once hidden."""
        occupied = self._occupied(hidden)
        if occupied not in self._quantities:
            self._quantities[occupied] = requirements.quantities(self.table, self.roles, self.values, occupied=occupied)
        return self._quantities[occupied]

    def requirements(self, hidden: Array) -> Requirements:
        """What must be possible for an intruder who knows nothing more, in units of the last decimal."""
        occupied = self._occupied(hidden)
        if occupied not in self._requirements:
            quantities = self.quantities(hidden)
            self._requirements[occupied] = requirements.required(self.table, self.roles, quantities)
        return self._requirements[occupied]

    def known(self, hidden: Array) -> Known:
        """What an intruder knows when these columns are hidden."""
        return requirements.known_of(self.table, self.roles, self.quantities(hidden), hidden)

    def _occupied(self, hidden: Array) -> bool:
        """Whether everybody knows that somebody is in every hidden cell: only this of a pattern changes quantities."""
        if not self.roles.safe_zeros or self.table.measure != "count":
            return False
        return not bool(((self.values == 0) & hidden & ~self.roles.never).any())
