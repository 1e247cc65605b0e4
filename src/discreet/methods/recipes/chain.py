"""Chain: methods one after the other, each on what the one before publishes, and what is known of the truth behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.kinds import told
from discreet.errors import InputError
from discreet.methods import contract, method, parameters
from discreet.methods.contract import Contract, SaysIdle, contract_of, title
from discreet.methods.keys import Secret, read_source
from discreet.methods.perturb.outcome import count_cells
from discreet.methods.recipes.redact import Redact
from discreet.methods.recipes.shown_sums import sums_of_shown
from discreet.release import Protected
from discreet.tables.table import Table

OWN, SUM = "own", "sum"


@runtime_checkable
class CellStep(Protocol):
    """A method that looks at one count at a time and knows which counts stand behind a value that it shows."""

    def behind(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The least and greatest count that is shown as one from ``lower`` to ``upper``."""
        ...


@checked
@dataclass(frozen=True)
class Chain:
    """Methods in a row on a table of counts; each works on what the one before publishes.

    ``steps`` are methods, or their names with parameters, as a policy writes them: ``{"name": "round", "base": 5}``.
    The first may be any method that works on a table; those after it look at one cell at a time (redact, round,
    random-round, midpoint6, cell-key). A cell that one step hides stays hidden. ``totals``: "own", every total goes
    through the steps by itself; "sum", it is the sum of the inner cells that are shown. ``seed`` and ``secret`` go
    to the one step that draws random numbers. What a reader can tell of the true counts, whatever the steps, is handed
    to the audit.

    >>> from discreet import Redact, Round
    >>> table = Table.of([[3, 8], [16, 23]], ["age", "ill"])
    >>> Chain((Redact(7), Round(5)), totals="sum")(table).published["count"].tolist()
    [50.0, 15.0, 35.0, 10.0, nan, 10.0, 40.0, 15.0, 25.0]
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=None, cellwise=False, transition=False)
    steps: Sequence[Any]
    totals: Literal["own", "sum"] = field(default="own", kw_only=True)
    seed: int | None = field(default=None, kw_only=True)
    secret: str | bytes | Secret | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))
        steps = tuple(_step(one, self.seed, self.secret) for one in self.steps)
        object.__setattr__(self, "steps", steps)
        check_steps_in_row(steps)

    def __call__(self, table: Table) -> Protected:
        return replace(chained(table, self.steps, totals=self.totals), truthful=None)

    def idle(self, *, counts: bool) -> str:
        """A chain does nothing if none of its steps does.

        >>> from discreet import Redact, Round
        >>> Chain((Round(1),)).idle(counts=True), Chain((Redact(7), Round(5))).idle(counts=True)
        ('has steps of which none changes anything', '')
        """
        words = [one.idle(counts=counts) if isinstance(one, SaysIdle) else "" for one in self.steps]
        return "" if any(not said for said in words) else "has steps of which none changes anything"


def _step(one: Any, seed: int | None, secret: Any) -> Any:
    """A step as a method; one that is named takes the chain's seed or secret where it has none of its own."""
    if isinstance(one, str):
        one = {"name": one}
    if not isinstance(one, Mapping):
        return one
    stated = {str(key): value for key, value in one.items()}
    name = stated.pop("name", None)
    if not isinstance(name, str):
        raise InputError('a step of a chain is a method, its name, or {"name": ..., parameters}')
    known = parameters(name)
    if contract(name).rule and "rule" not in stated:
        raise InputError(f'step {name!r} needs a rule: {{"name": "{name}", "rule": "threshold(n=3)"}}')
    if "seed" not in stated and "secret" not in stated:
        stated |= {
            key: value for key, value in (("seed", seed), ("secret", secret)) if value is not None and key in known
        }
    return method(name, **stated)


def check_steps_in_row(steps: Sequence[Any]) -> None:
    """Raise for steps that cannot follow each other, or whose random numbers would be the same."""
    if not steps:
        raise InputError("a chain needs at least one step, such as Redact(7) or Round(5)")
    for one in steps:
        if not callable(one):
            raise InputError(f"{told('steps', one)}: a step is a method, such as Round(5)")
        if contract_of(one).acts_on != "table":
            raise InputError(f"{title(one)} changes records before they are counted: it is not a step of a chain")
    for one in steps[1:]:
        if not isinstance(one, CellStep):
            raise InputError(
                f"{title(one)} looks at the whole table, so it can only be the first step of a chain: put it first, or "
                "take redact, round, random-round, midpoint6 or cell-key after it"
            )
    first = steps[0]
    if len(steps) > 1 and not isinstance(first, CellStep) and contract_of(first).truthful is not True:
        raise InputError(
            f"what stands behind the values of {title(first)} is not known once they are changed again: let it stand "
            "alone, or begin with a method that hides cells or looks at one at a time"
        )
    random = [one for one in steps if hasattr(one, "seed")]
    sources = [(one.seed, one.secret) for one in random]
    if any(source in sources[:k] for k, source in enumerate(sources)):
        raise InputError("two steps of a chain would draw the same random numbers: give each a seed of its own")


def chained(table: Table, steps: Sequence[Any], *, totals: str = OWN) -> Protected:
    """The table after all steps, with the bounds that hold for the true counts; ``truthful`` is left open."""
    count_cells(table, "a chain of methods")
    first: Protected = steps[0](table)
    state = _State.after_first(table, first)
    for step in steps[1:]:
        state = state.after(step)
    lower, upper = _behind(steps[:-1], *_of_shown(state.last))
    words = ", then ".join(state.words)
    room = replace(first.room, lower=None, upper=None, bounds=_of_marks(steps, first, state.gone))
    shown = ~state.gone
    if not np.array_equal(lower[shown], upper[shown]) or state.changed:
        low = np.where(shown, np.maximum(lower, np.where(table.layout.signed, -np.inf, 0)), -np.inf)
        room = replace(room, lower=low, upper=np.where(shown, upper, np.inf))
    if room.levels is None:
        nothing = np.zeros(len(table))
        room = replace(room, levels=(nothing, nothing, nothing))
    published = {"count": np.where(state.gone, np.nan, state.values.astype(float))}
    done = Protected(table, published, state.status, words, {"steps": tuple(map(title, steps))}, room=room)
    return sums_of_shown(done) if totals == SUM else done


@dataclass(frozen=True, eq=False)
class _State:
    """The cells after some steps: values (0 where hidden), what is hidden, and the words of every step."""

    table: Table
    last: Protected
    values: Array
    gone: Array
    status: Array
    words: tuple[str, ...]
    changed: bool

    @classmethod
    def after_first(cls, table: Table, first: Protected) -> _State:
        gone, changed = first.hidden, first.truthful is not True
        return cls(table, first, _whole_values(first, gone), gone, first.status, (first.method,), changed)

    def after(self, step: Any) -> _State:
        """One step more, on the values of now."""
        held = self.table.statistics["count"]
        current = replace(self.table, statistics={**self.table.statistics, "count": replace(held, cells=self.values)})
        done: Protected = step(current)
        new = done.hidden & ~self.gone
        gone, changed = self.gone | new, self.changed or done.truthful is not True
        status = np.where(new, done.status, self.status)
        return _State(self.table, done, _whole_values(done, gone), gone, status, (*self.words, done.method), changed)


def _of_marks(steps: Sequence[Any], first: Protected, gone: Array) -> tuple[Array, Array]:
    """The least and greatest true count of every hidden cell: a mark does not say which step it is of."""
    if not isinstance(steps[0], CellStep):
        return first.room.bounds or (np.full(len(gone), -np.inf), np.full(len(gone), np.inf))  # type: ignore[return-value]
    ends = [_behind(steps[:k], *_ends(step)) for k, step in enumerate(steps) if isinstance(step, Redact)]
    least = min((float(low[0]) for low, _ in ends), default=-np.inf)
    most = max((float(high[0]) for _, high in ends), default=np.inf)
    bounded = gone & ~first.table.layout.signed
    return np.where(bounded, max(least, 0), -np.inf), np.where(bounded, most, np.inf)


def _ends(step: Redact) -> tuple[Array, Array]:
    return np.array([0.0 if step.zeros else 1.0]), np.array([float(step.most)])


def _whole_values(done: Protected, gone: Array) -> Array:
    return np.where(gone | done.hidden, 0, np.nan_to_num(np.asarray(done.published["count"], float))).astype(np.int64)


def _of_shown(done: Protected) -> tuple[Array, Array]:
    """What the values that a step shows say of those it was given."""
    if done.room.lower is not None and done.room.upper is not None:
        return np.asarray(done.room.lower, float), np.asarray(done.room.upper, float)
    shown = np.nan_to_num(np.asarray(done.published["count"], float))
    return shown, shown


def _behind(steps: Sequence[Any], lower: Array, upper: Array) -> tuple[Array, Array]:
    """From bounds on what some steps show to bounds on what they were given; a step that only hides changes none."""
    for step in reversed(steps):
        if isinstance(step, CellStep):
            lower, upper = step.behind(lower, upper)
    return lower, upper
