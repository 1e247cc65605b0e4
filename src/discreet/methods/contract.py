"""What a method says of itself, and ``protect``, which holds it to that.

A method is anything that can be called with a Table (or with Microdata) and has a ``contract``. Policies, the check of
tables against each other, tables in parts and the risk-utility map go by the contract alone; what a method does not say
is an error there, never a guess.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np

from discreet.base.arguments import checked
from discreet.base.kinds import told
from discreet.errors import InputError, listed
from discreet.release import Protected
from discreet.tables.table import Table, code_columns

if TYPE_CHECKING:
    from discreet.data.dimension import Dimension
    from discreet.release.noise_law import NoiseLaw
    from discreet.risk.transition import Transition

Method = Callable[[Table], Protected]

EXAMPLE = 'contract = Contract(acts_on="table", truthful=False, cellwise=False, transition=False)'
NEEDED = {
    "counts": ("variables",),
    "categories": ("variables", "variable", "probabilities", "seed"),
    "places": ("variables", "geography", "even", "seed"),
    "population": ("variables", "drawn_codes"),
}
"""What a step before counting has beside its contract, for the estimate of the data before it."""
SECRETS = ("secret", "key")
"""Parameters that hold a secret: never shown or written, and not read from a policy."""
UNKEYED = (
    "suppression without a key is a public function of the table, so anybody who has the program can rule out tables "
    "that give another pattern; name a secret"
)
LEAST = 0.01
"""The least chance of a small count, or share of the records, that a method must change to be called protection."""


@checked
@dataclasses.dataclass(frozen=True, kw_only=True)
class Contract:
    """What a method says of itself; the four that have no default must be said.

    >>> Contract(acts_on="table", truthful=False, cellwise=True, transition=True).protects
    True
    """

    acts_on: Literal["records", "table"]
    """Whether it turns Microdata into Microdata before anything is counted, or a Table into a Protected."""
    truthful: bool | None
    """Whether every value that it shows is the true one. False: they are changed. None: some are true and some are
    changed (margins kept, cells drawn at random), so that nothing may rely on either."""
    cellwise: bool
    """Whether what becomes of a cell depends on that cell alone, so that a table can be protected part by part."""
    transition: bool
    """Whether it has a method ``transition(table)``: P(shows j | was i) of one count. If it is cellwise, the matrix is
    the same for every table and is asked for without one."""
    protects: bool = True
    """False for what publishes a table as it is."""
    rule: Literal["", "cells", "lines"] = ""
    """Whether it takes a ``rule`` that says which cells are sensitive, or also which sums of a line ("lines"); then it
    has ``governing_rule()``."""
    step: Literal["", "counts", "categories", "places", "population"] = ""
    """What it moves as a step before counting: counts of the cube, categories of a variable, records from place to
    place, or the whole population, which is drawn again. It decides how the data before the step are estimated
    (``discreet.policy.pretabular``)."""
    words: str = ""
    """What is done before counting, in words for the public."""
    amounts: bool = False
    """Whether it protects what one person gives to a sum, and not only how many there are."""

    def __post_init__(self) -> None:
        if self.acts_on == "records" and (self.cellwise or self.transition or self.rule):
            raise InputError("a method on records has no cells: cellwise=False, transition=False and no rule")
        if (self.acts_on == "records" or self.step) and not self.words:
            raise InputError("say what is done before counting, in words for the public: words=...")
        if self.step and (self.step in ("counts", "population")) != (self.acts_on == "table"):
            raise InputError(
                f"step={self.step!r}: a step moves 'counts' or the 'population' of a table, or 'categories' or "
                "'places' of records"
            )
        if self.step == "counts" and not self.transition:
            raise InputError("a step that moves counts is judged by its transition matrix: transition=True")
        if not self.protects and not self.truthful:
            raise InputError("what does not protect shows the truth: truthful=True")


# -- what a method may have beside its contract -----------------------------------------------------------------


@runtime_checkable
class SaysIdle(Protocol):
    """A method that knows which of its parameters protect nothing."""

    def idle(self, *, counts: bool) -> str:
        """Why these parameters protect nothing, to be read after the method's name; empty if they do something.

        ``counts``: whether the table is one of counts.
        """
        ...


@runtime_checkable
class SaysUntouched(Protocol):
    """A method that leaves some tables as they are, whatever the data."""

    def untouched(self, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> str:
        """What a table that it changes is like, if the one of these variables at these levels is not; else empty."""
        ...


@runtime_checkable
class SaysNoise(Protocol):
    """A method whose published parameters say how far true values may be from shown ones, other than by a matrix."""

    def noise_law(self, dimensions: Sequence[Dimension]) -> NoiseLaw | None:
        """The law for data of these dimensions; None where nothing can be said."""
        ...


# -- asking -----------------------------------------------------------------------------------------------------


def title(method: object) -> str:
    """What a method is called in a message: its class or function."""
    own = method if isinstance(method, type) or inspect.isroutine(method) else type(method)
    return str(getattr(own, "__name__", own))


def contract_of(method: object) -> Contract:
    """What a method, or its class, says of itself; an error that names what to add if it says nothing."""
    contract = getattr(method, "contract", None)
    if not isinstance(contract, Contract):
        raise InputError(
            f"{title(method)} does not state what it does, so it cannot be used here: give it {EXAMPLE}, with what "
            "holds for it"
        )
    return contract


def transition_of(method: Any, table: Table | None = None) -> Transition | None:
    """P(shows j | was i) of a method that says that it has such a matrix; None if it says that it has none."""
    if not contract_of(method).transition:
        return None
    matrix: Transition = method.transition() if table is None else method.transition(table)
    return matrix


def seldom(chance: float, what: str) -> str:
    """What is said of parameters that change something less often than ``LEAST``; empty if they do it often enough."""
    if chance >= LEAST - 1e-9:
        return ""
    return f"with these parameters changes almost nothing ({what} with a chance below {LEAST:.0%})"


# -- holding a method to it -------------------------------------------------------------------------------------


def check_class(kind: Any) -> None:
    """Raise unless a class is a frozen dataclass that does what its contract says, so far as that can be seen."""
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind) and "__call__" in dir(kind)):
        raise InputError(f"{title(kind)} is not a dataclass with __call__: put @dataclass(frozen=True) above the class")
    if not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise InputError(f"{title(kind)} can change after it is made: write @dataclass(frozen=True) above the class")
    contract = contract_of(kind)
    matrix = getattr(kind, "transition", None)
    if contract.transition != callable(matrix):
        has = "has no method transition(table)" if contract.transition else "has a method transition"
        raise InputError(f"{title(kind)} {has}, and its contract says transition={contract.transition}: change either")
    if contract.transition and contract.cellwise and not is_without_table(matrix):
        raise InputError(
            f"{title(kind)} is cellwise, so its matrix is asked for without a table: transition(self, table=None)"
        )
    if contract.rule and not ("rule" in parameters_of(kind) and callable(getattr(kind, "governing_rule", None))):
        raise InputError(f"{title(kind)} takes a rule by its contract: give it a field rule and governing_rule()")
    if lacks := [name for name in NEEDED.get(contract.step, ()) if name not in {*dir(kind), *parameters_of(kind)}]:
        raise InputError(f"{title(kind)} is a step that moves {contract.step} by its contract: give it {listed(lacks)}")


@lru_cache(maxsize=256)
def is_without_table(matrix: Any) -> bool:
    """Whether a method's ``transition`` can be asked for without a table."""
    try:
        inspect.signature(matrix).bind(object())
    except TypeError:
        return False
    return True


def parameters_of(kind: Any) -> list[str]:
    """The parameters of a method: the fields of its class."""
    return [f.name for f in dataclasses.fields(kind) if f.init]


@checked
def protect(table: Table, method: Method) -> Protected:
    """Apply a method: any callable from Table to Protected; those of discreet are frozen values.

    What the method says of its values (``Contract.truthful``) is looked at and stands in what comes back.

    >>> from discreet import Hide
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> protect(t, Hide(t.where(area="1", sex="1"))).release()
    Release(area x sex: 9 cells, 1 not shown; count)
    """
    protected: object = method(table)
    if not isinstance(protected, Protected):
        raise InputError(f"a method turns a Table into a Protected; this one gave {told('back', protected)}")
    if not _of_this_table(protected, table):
        raise InputError(
            f"{title(method)} gave back a Protected of another table than the one it was given: its cells and their "
            "true values must be those of that table; codes may be added to them, as Redesign does"
        )
    if getattr(method, "contract", None) is not None:  # a plain function may be tried out; nothing hangs on it then
        protected = _as_said(protected, contract_of(method).truthful, title(method))
    return dataclasses.replace(protected, call=method)


def _of_this_table(protected: Protected, table: Table) -> bool:
    """Whether it tells of the inner cells of this table, with their true values, and of every cell to be published."""
    other = protected.table
    if other is table:
        return True
    ours, theirs = table.layout, other.layout
    if ours != theirs:
        leaves = [(d.name, d.leaves) for d in ours.dimensions]
        if leaves != [(d.name, d.leaves) for d in theirs.dimensions] or not np.array_equal(ours.inner, theirs.inner):
            return False
        if not _cells_of(table) <= _cells_of(other):
            return False
    for name in {table.measure, *protected.published}:
        one, two = table.statistics.get(name), other.statistics.get(name)
        if one is None or two is None or one.decimals != two.decimals or not np.array_equal(one.inner, two.inner):
            return False
    return True


def _cells_of(table: Table) -> set[tuple[str, ...]]:
    """The codes of every cell."""
    columns = code_columns(table.layout)
    return set(zip(*(np.asarray(columns[d.name]).tolist() for d in table.dimensions), strict=True))


def _as_said(protected: Protected, truthful: bool | None, name: str) -> Protected:
    """The same, with what the contract says of its values where the method left that open."""
    stated = protected.truthful
    agrees = stated is None or stated == truthful
    if not agrees:
        raise InputError(
            f"{name} says truthful={truthful} in its contract and truthful={stated} of this table: make them agree"
        )
    return protected if stated == truthful else dataclasses.replace(protected, truthful=truthful)
