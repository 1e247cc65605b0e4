"""The recipes by the names they are known by; what each is, as published, stands in ``docs/methods/recipes.md``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from discreet.base.arguments import checked, whole
from discreet.methods.contract import Contract
from discreet.methods.keys import Secret, read_secret, read_source
from discreet.methods.perturb.cell_key import CellKey
from discreet.methods.perturb.ptable import PTable
from discreet.methods.perturb.rounding import RandomRound, Round
from discreet.methods.recipes.chain import chained
from discreet.methods.recipes.further_hidden import hidden_until_unknown
from discreet.methods.recipes.redact import MOST_COUNT, Redact
from discreet.methods.suppress.method import Suppress
from discreet.release import Protected
from discreet.rules import Threshold
from discreet.tables.table import Table

CHANGED = Contract(acts_on="table", truthful=False, cellwise=False, transition=False)


@dataclass(frozen=True, kw_only=True)
class HiddenThenRounded:
    """Counts of 1 to ``most`` hidden, the others rounded to the nearest ``base``: what two offices do in their ways."""

    contract: ClassVar[Contract] = CHANGED
    most: int = 7
    base: int = 5
    secondary: bool = False
    key: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole("most", self.most, 1, MOST_COUNT)
        whole("base", self.base, 1)
        object.__setattr__(self, "key", read_secret(self.key))

    @property
    def steps(self) -> tuple[Any, ...]:
        """The methods in their order."""
        return _hidden_then_rounded(self.most, self.base, self.secondary, self.key)


@checked
@dataclass(frozen=True, kw_only=True)
class OpenSAFELY(HiddenThenRounded):
    """Counts of 1 to ``most`` redacted, the others rounded to the nearest ``base``, totals summed from what is shown.

    The order is redaction first. With ``totals="own"`` totals are rounded by themselves, and some redacted counts may
    follow by subtraction; ``secondary`` hides further cells then, so that none does.

    >>> OpenSAFELY()(Table.of([3, 8, 16, 23], ["age"])).published["count"].tolist()
    [50.0, nan, 10.0, 15.0, 25.0]
    """

    totals: Literal["sum", "own"] = "sum"

    def __call__(self, table: Table) -> Protected:
        done = _by_steps(table, self.steps, self.totals)
        return hidden_until_unknown(done) if self.secondary and self.totals == "own" else done


@checked
@dataclass(frozen=True, kw_only=True)
class NHS(HiddenThenRounded):
    """Counts of 1 to ``most`` shown as a mark, the others and all totals rounded to the nearest ``base``; 0 stays 0.

    The rule of NHS England for Hospital Episode Statistics below national level. Totals are rounded by themselves, so
    a hidden count may follow by subtraction: the audit says where, and ``secondary`` hides further cells.

    >>> NHS()(Table.of([3, 0, 16, 23], ["trust"])).published["count"].tolist()
    [40.0, nan, 0.0, 15.0, 25.0]
    """

    def __call__(self, table: Table) -> Protected:
        done = _by_steps(table, self.steps, "own")
        return hidden_until_unknown(done) if self.secondary else done


@checked
@dataclass(frozen=True, kw_only=True)
class CMS11:
    """No count of 1 to ``n`` - 1 shown, nor one that others give away: the cell size policy of CMS. Zeros stay.

    Further cells are hidden so that no small one follows by subtraction. Percentages that would give one away must
    go too: in a sheet they are recomputed from what is shown, or left out.

    >>> CMS11()(Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])).release().method
    'cell suppression'
    """

    contract: ClassVar[Contract] = Contract(acts_on="table", truthful=True, cellwise=False, transition=False)
    n: int = 11
    method: str = "gauss"
    key: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole("n", self.n, 2)
        object.__setattr__(self, "key", read_secret(self.key))

    @property
    def steps(self) -> tuple[Any, ...]:
        """The methods in their order."""
        return (Suppress(Threshold(self.n), method=self.method, key=self.key),)

    def __call__(self, table: Table) -> Protected:
        done: Protected = self.steps[0](table)
        return done


@checked
@dataclass(frozen=True, kw_only=True)
class ONSCellKey:
    """Cell key noise, then counts under ``threshold`` left out: the method of the Office for National Statistics.

    The perturbation table of the census is secret; ``d`` and ``v`` design one (see ``CellKey``), ``ptable`` takes
    yours. ``threshold`` is the 10 of the office's program, which leaves empty cells out, too; 0 shows all counts, as
    the census tables do. ``zeros``: the share of empty cells that show a small count. Record keys, or a ``seed`` for a
    table without records, are needed.

    >>> ONSCellKey(seed=4)(Table.of([3, 12, 16, 23], ["age"])).published["count"].tolist()
    [54.0, nan, 14.0, 17.0, 21.0]
    """

    contract: ClassVar[Contract] = CHANGED
    threshold: int = 10
    d: int = 2
    v: float = 1.0
    zeros: float = 0.0
    ptable: PTable | str | None = None
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole("threshold", self.threshold, 0, MOST_COUNT)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))
        assert self.steps

    @property
    def steps(self) -> tuple[Any, ...]:
        """The methods in their order."""
        noise = CellKey(self.d, self.v, zeros=self.zeros, ptable=self.ptable, seed=self.seed, secret=self.secret)
        return (noise,) if self.threshold < 2 else (noise, Redact(self.threshold - 1, zeros=True))

    def __call__(self, table: Table) -> Protected:
        return _by_steps(table, self.steps, "own")


@checked
@dataclass(frozen=True, kw_only=True)
class StatCanBase5:
    """Random rounding to ``base``, totals by themselves: the rule of Statistics Canada for census counts.

    A last digit of 1 goes down with probability 4/5 and up with 1/5, 2 with 3/5 and 2/5, and so on; 0 and 5 stay. The
    random numbers are those of the cell's records (keys) or of a ``seed``, so that the same table is rounded alike.

    >>> StatCanBase5(seed=1)(Table.of([3, 12, 15, 24], ["age"])).published["count"].tolist()
    [50.0, 0.0, 15.0, 15.0, 25.0]
    """

    contract: ClassVar[Contract] = CHANGED
    base: int = 5
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole("base", self.base, 1)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))

    @property
    def steps(self) -> tuple[Any, ...]:
        """The methods in their order."""
        return (RandomRound(self.base, seed=self.seed, secret=self.secret),)

    def __call__(self, table: Table) -> Protected:
        return _by_steps(table, self.steps, "own")

    def idle(self, *, counts: bool) -> str:
        """Base 1 rounds no count.

        >>> StatCanBase5(base=1, seed=1).idle(counts=True), StatCanBase5(seed=1).idle(counts=True)
        ('to base 1 changes no count', '')
        """
        return "to base 1 changes no count" if counts and self.base == 1 else ""


def _hidden_then_rounded(most: int, base: int, secondary: bool, key: Any) -> tuple[Any, ...]:
    """Small counts hidden, alone or with others that would give them away; then rounding.

    Redaction after suppression hides nothing more; it says that no shown count is small.
    """
    suppressed = (Suppress(Threshold(most + 1), key=key),) if secondary else ()
    return (*suppressed, Redact(most), *(() if base == 1 else (Round(base),)))


def _by_steps(table: Table, steps: Sequence[Any], totals: str) -> Protected:
    return replace(chained(table, steps, totals=totals), truthful=False)
