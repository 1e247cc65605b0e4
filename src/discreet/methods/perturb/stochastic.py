"""Stochastic perturbation of counts with an invariant matrix. [JOS15]_ section 3.3, Shlomo and Young (2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from discreet.base.annotations import Array, Floats
from discreet.base.arguments import checked, share, whole
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.methods.contract import Contract
from discreet.methods.invariance import apportioned, assign, draw, invariant, read_matrix
from discreet.methods.keys import Secret, generator, read_source, uniforms, zero_uniforms
from discreet.methods.perturb.controlled import controlled
from discreet.methods.perturb.outcome import count_cells, perturbed
from discreet.methods.perturb.rounding import groups_of
from discreet.population.ipf import ipf
from discreet.release import Protected
from discreet.risk.transition import Transition
from discreet.tables.layout import Layout
from discreet.tables.table import Table

MOST = 1000  # the largest matrix is of a thousand counts: more would take gigabytes and hours


@checked
@dataclass(frozen=True, kw_only=True)
class Stochastic:
    """Inner counts moved by a transition matrix that keeps the distribution of counts. [JOS15]_ section 3.3.

    The matrix is given, or designed: a count stays with probability ``stay``, else it goes to another at most
    ``window`` away, within the blocks {0}, {1, ..., cap - period}, {the rest}; a count above ``cap`` moves as the one
    of the last ``period`` rows that is congruent to it. It is made invariant for the counts of every group of
    ``control`` (R = PQ, then alpha R + (1 - alpha) I). With ``exact`` the expected numbers are met by drawing without
    replacement: how often each count occurs, and so each group's total, is kept to the unit. ``restore`` names margins
    to give back their true values, by proportional fitting and controlled rounding to base 1. Everything else is
    summed, so the table adds up.

    >>> from discreet import Table
    >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> made = Stochastic(stay=0.5, seed=1)(t).published["count"]
    >>> int(made[0]), sorted(made[t.is_inner].tolist())
    (6, [0, 1, 2, 3])
    """

    contract: ClassVar[Contract] = Contract(
        acts_on="table",
        truthful=False,
        cellwise=False,
        transition=True,
        step="counts",
        words="counts of all combinations perturbed at random",
    )
    stay: float = 0.75
    window: int = 2
    cap: int = 10
    period: int = 5
    matrix: Any = None
    alpha: float = 1.0
    invariant: bool = True
    exact: bool = True
    control: Sequence[str] | str = ()
    restore: Sequence[Sequence[str] | str] = ()
    seed: int | None = None
    secret: str | bytes | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        share("stay", self.stay)
        share("alpha", self.alpha)
        control = (self.control,) if isinstance(self.control, str) else tuple(self.control)
        restore = tuple((m,) if isinstance(m, str) else tuple(m) for m in self.restore)
        object.__setattr__(self, "control", control)
        object.__setattr__(self, "restore", restore)
        object.__setattr__(self, "secret", read_source(self.seed, self.secret))
        whole("cap", self.cap, 1, MOST)
        if self.matrix is None:
            matrix = designed(self.stay, self.window, self.cap, self.period)
        else:
            matrix = read_matrix(self.matrix)
        if not 1 <= self.period <= len(matrix):
            raise InputError(f"period={self.period}: give 1 to the number of rows of the matrix, {len(matrix)}")
        object.__setattr__(self, "matrix", tuple(tuple(row) for row in matrix.tolist()))
        if restore:  # margins are true, cells are not: nothing may hang on either
            object.__setattr__(self, "contract", replace(self.contract, truthful=None))

    def __call__(self, table: Table) -> Protected:
        count_cells(table, "stochastic perturbation")
        true = table.statistic("count").inner
        self._check_cap(true)
        chance = uniforms(table, seed=self.seed, secret=self.secret, inner=True)
        empty = np.flatnonzero(true == 0)
        chance[empty] = zero_uniforms(table, empty, seed=self.seed, secret=self.secret, inner=True)
        group, groups = groups_of(table, self.control)
        shown = np.empty_like(true)
        for g in range(groups):
            at = np.flatnonzero(group == g)
            row = self._row(true[at])
            matrix = self._matrix(row)
            if self.exact:
                numbers = apportioned(matrix, np.bincount(row, minlength=len(matrix)), generator(chance[at]))
                shown[at] = true[at] + assign(row, chance[at], numbers) - row
            else:
                shown[at] = true[at] + draw(row, chance[at], matrix) - row
        if self.restore:
            shown = restored(table, true, shown, self.restore)
        return self._protected(table, shown)

    def _protected(self, table: Table, inner: Array) -> Protected:
        shown = table.layout.aggregate(inner)
        words = "counts perturbed at random with their distribution kept"
        details: dict[str, Any] = {"matrix": np.array(self.matrix), "seed": self.seed, "restore": self.restore}
        if self.restore:
            exact = _restored_cells(table, self.restore)
            p = np.array(self.matrix)
            empty_stay = p[0, 0] == 1 and not p[1:, 0].any()
            lower = np.where(exact, shown, (shown > 0) & empty_stay)
            upper = np.where(exact, shown, np.inf)
            protected = perturbed(table, shown, words + ", margins restored", lower=lower, upper=upper, **details)
            return replace(protected, truthful=self.contract.truthful)
        move = np.abs(np.subtract.outer(np.arange(len(self.matrix)), np.arange(len(self.matrix))))
        held = np.array(self.matrix) > 0
        reach = 2 * int(move[held].max()) if self.invariant else int(move[held].max())  # there and back again
        width = np.minimum(reach, len(self.matrix) - 1) * table.layout.parts
        return perturbed(table, shown, words, lower=shown - width, upper=shown + width, **details)

    def transition(self, table: Table) -> Transition:
        """P(shows j | was i) for the inner counts of a table, its control groups taken as one.

        >>> t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> transition = Stochastic(stay=0.8, cap=3, period=1, seed=1).transition(t)
        >>> [(shown, round(p, 2)) for shown, p in transition.outcomes(1)]
        [(1, 0.68), (2, 0.32)]
        """
        return Transition(self._matrix(self._row(table.statistic("count").inner)), period=self.period)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it names."""
        return tuple(self.control)

    def untouched(self, asked: Mapping[str, str], dimensions: Mapping[str, Dimension]) -> str:
        """Restored margins are true, and so are control totals if the counts keep their distribution exactly.

        >>> method = Stochastic(restore=["area"], seed=1)
        >>> method.untouched({"area": "area"}, {}), method.untouched({"area": "area", "sex": "sex"}, {})
        ('ask for one with a variable beside those of control and restore', '')
        """
        kept = [set(margin) for margin in self.restore]
        if self.exact and self.invariant:
            kept.append(set(self.control))
        if not any(set(asked) <= margin for margin in kept):
            return ""
        return "ask for one with a variable beside those of control and restore"

    def _matrix(self, rows: Array) -> Floats:
        p = np.array(self.matrix)
        if self.invariant:
            return invariant(p, np.bincount(rows, minlength=len(p)), self.alpha)
        return self.alpha * p + (1 - self.alpha) * np.eye(len(p))

    def _row(self, counts: Array) -> Array:
        last = len(self.matrix) - 1
        return np.where(counts <= last, counts, last - (last - counts) % self.period)

    def _check_cap(self, counts: Array) -> None:
        """A count above the cap borrows a row, which must then lead to rows that others like it borrow too."""
        p = np.array(self.matrix)
        top = len(p) - self.period
        open_ = p[top:, :top].any() or p[:top, top:].any()
        if open_ and self.period < len(p) and (counts >= len(p)).any():
            raise InputError(
                "there are counts above the matrix's last row, and its last rows (period=) lead to "
                "others; give a larger matrix, or one whose last rows form a block"
            )


def designed(stay: float, window: int, cap: int, period: int) -> Floats:
    """The matrix before it is made invariant: 0 stays, the others move within their block.

    >>> designed(0.5, 1, 4, 2)[1].tolist()
    [0.0, 0.5, 0.5, 0.0, 0.0]
    """
    for name, value, least in (("window", window, 1), ("period", period, 1), ("cap", cap, period)):
        whole(name, value, least)
    p = np.eye(cap + 1)
    for start, end in ((1, cap - period + 1), (cap - period + 1, cap + 1)):
        for i in range(start, end):
            near = [j for j in range(start, end) if j != i and abs(j - i) <= window]
            if near:
                p[i, i] = stay
                p[i, near] = (1 - stay) / len(near)
    return p


def _restored_cells(table: Table, margins: Sequence[Sequence[str]]) -> Array:
    """Published cells that belong to a restored margin: every other variable stands at its total."""
    layout = table.layout
    out = np.zeros(len(layout), bool)
    at_total = [
        np.array([len(d.leaves_of(c)) == len(d.leaves) for c in d.codes])[layout.codes[:, k]]
        for k, d in enumerate(layout.dimensions)
    ]
    for margin in margins:
        others = [t for t, d in zip(at_total, layout.dimensions, strict=True) if d.name not in margin]
        out |= np.logical_and.reduce([np.ones(len(layout), bool), *others])
    return out


def restored(table: Table, true: Array, shown: Array, margins: Sequence[Sequence[str]]) -> Array:
    """Inner counts near ``shown`` that have the true margins: proportional fitting, then controlled rounding to 1."""
    layout = table.layout
    dense, exact = layout.dense(shown).astype(np.float64), layout.dense(true)
    wanted = []
    for margin in margins:
        axes = tuple(sorted(layout.axis(name) for name in margin))
        wanted.append((axes, exact.sum(axis=tuple(a for a in range(exact.ndim) if a not in axes))))
    close = min(1e-9, 1e-7 / max(int(true.sum()), 1))  # to less than what still counts as whole
    fit = ipf(dense, wanted, tolerance=close, iterations=20_000)
    fitted = fit.values.ravel()[layout.inner]
    sums = replace(Layout.of(table.dimensions, margins), possible=layout.possible)
    rounding = controlled(sums, fitted, unpublished=1.0)
    if not (fit.converged and rounding.restricted):
        raise InputError("these margins cannot all be kept in whole numbers; restore fewer (restore=)")
    return rounding.inner
