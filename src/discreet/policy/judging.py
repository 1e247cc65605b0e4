"""What a decision rests on: numbers that anybody could compute who sees the protected table and knows the method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.kinds import Unbounded
from discreet.errors import DiscreetWarning, InputError, Refused, listed
from discreet.methods.by_hand import Publish
from discreet.methods.contract import contract_of, is_without_table, protect, transition_of
from discreet.policy.measures import LOSSES
from discreet.policy.policy import Policy
from discreet.policy.population_models import model_of
from discreet.policy.populations import fewest_people, population_counts
from discreet.policy.posterior import Guess, ShownCounts, bounded_small_share, reach_of, small_share
from discreet.policy.pretabular import twin_of
from discreet.policy.query import Resolved
from discreet.policy.sections import TableRules
from discreet.release import Protected
from discreet.risk.transition import Transition
from discreet.tables.layout import Layout
from discreet.tables.table import Table
from discreet.utility import hellinger_utility

Risks = dict[str, Array]

DRAWS = 4  # tables guessed to estimate the risk and the utility
POPULATIONS = 200  # populations drawn for all guesses together, where the data are a sample
MOST = 4_000_000  # cells of them


@checked
@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a decision rests on: numbers computed from a protected table alone.

    ``before`` and ``after`` are the expected risks in the policy's first measure, ``risks`` has (before, after) in
    each of them; ``utility`` is 1 − HD/√N and ``loss`` the expected loss in the policy's measure of it.

    >>> Evidence(population=500, mean=250, small_share=0.0, before=0.1, after=0.1, utility=None).unchanged.utility
    1.0
    """

    population: float
    mean: float
    small_share: float
    before: float
    after: float
    utility: float | None
    loss: Unbounded | None = None
    risks: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def unchanged(self) -> Evidence:
        """The evidence of the same table published as it is."""
        same = {name: (before, before) for name, (before, _) in self.risks.items()}
        return replace(self, after=self.before, utility=1.0, loss=0.0, risks=same)


def weigh_evidence(
    protected: Protected, method: Any, resolved: Resolved, policy: Policy, *, risks: bool = True
) -> Evidence:
    """The evidence of a protected table, as anybody could compute it who sees the whole of it.

    Without ``risks`` they are left out, where no threshold of the policy needs them.

    All of it is about the table before it is filtered, so that no choice of a filter opens what another closes; only
    the population is that of the asked one. Risks and losses are expected ones, over the tables that the method could
    have shown like this (``guesses``). A method without a transition matrix is credited with nothing: its risk after is
    that of what is shown. A table of magnitudes is judged by its counts, protected in the same way. Where the policy
    says that the data are a sample, the risk is that of the population behind it (``population`` of [risk]). Data that
    were changed before counting, and then published, are judged by their twin (``discreet.policy.pretabular``).
    """
    return Grounds.of(protected, method, policy).weigh(resolved, policy, risks=risks)


@dataclass(frozen=True, eq=False)
class Grounds:
    """What the evidence of a protected table rests on, whichever population is asked (confidential)."""

    asked: Protected
    counts: Protected
    method: Any
    shown: Array
    twin: Array | None
    transition: Transition | None
    small_share: float
    guess: Guess | None

    @classmethod
    def of(cls, protected: Protected, method: Any, policy: Policy) -> Grounds:
        """Of a protected table; one of magnitudes is judged by its counts."""
        asked, twin = protected, None if contract_of(method).protects else twin_of(protected.table)
        if "count" not in protected.published:
            protected = counted(protected.table, method, policy)
        shown, hidden = _shown(protected)
        transition = _transition_of(method, protected.table.layout, shown)
        share = _small_share(protected, shown, hidden, transition, policy.table.small)
        if twin is not None:
            # single cells of a twin scatter too far, those of the changed data too little: whichever finds more
            share = max(share, float(((twin > 0) & (twin <= policy.table.small)).mean()))
        guess = None if transition is None or shown.sum() <= 0 else Guess.of(shown, transition)
        return cls(asked, protected, method, shown, twin, transition, share, guess)

    def weigh(self, resolved: Resolved, policy: Policy, *, risks: bool, quality: bool = True) -> Evidence:
        """The evidence for one query; without ``quality`` utility and loss are left out, where nobody looks at them."""
        shown, total = self.shown, int(self.shown.sum())
        if total <= 0:
            worst = dict.fromkeys(policy.risk.measures.names, (1.0, 1.0))
            return Evidence(
                population=0, mean=0, small_share=self.small_share, before=1, after=1, utility=None, risks=worst
            )
        size = _population_size(self.asked, self.method, policy, total) if policy.risk.population else None
        judged = _Judged({}, None, None)
        if risks or quality:
            judged = _Judged.of(self, resolved, policy, size, risks)
        before, after = judged.risks.get(policy.risk.measures.names[0], (1.0, 1.0))
        people = partial(population_counts, self.counts)
        return Evidence(
            population=fewest_people(self.counts.table.dimensions, resolved, people),
            mean=float(shown.mean()),
            small_share=self.small_share,
            before=before,
            after=after,
            utility=judged.utility,
            loss=judged.loss,
            risks=judged.risks,
        )


def counted(table: Table, method: Any, policy: Policy) -> Protected:
    """The counts behind a table of magnitudes, protected by the same method."""
    counts = replace(table, measure="count", magnitude=None)
    try:
        return protect(counts, method)
    except InputError:
        if policy.table == TableRules() and policy.risk.t2 is None and policy.risk.t3 is None:
            return Publish()(replace(counts, statistics=_nothing(counts)))
        raise Refused(
            "measure", "the policy's rules for counts cannot be applied to this measure", "ask for counts"
        ) from None


def _nothing(table: Table) -> dict[str, Any]:
    """Counts of zero: a stand-in where no rule looks at counts."""
    held = table.statistics["count"]
    return {"count": replace(held, inner=np.zeros_like(held.inner), cells=np.zeros_like(held.cells))}


# -- risk and loss ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judged:
    """Expected risks before and after by measure, utility and loss; None where they cannot be told."""

    risks: dict[str, tuple[float, float]]
    utility: float | None
    loss: float | None

    @classmethod
    def of(cls, grounds: Grounds, resolved: Resolved, policy: Policy, size: int | None, wanted: bool) -> _Judged:
        counts, transition, twin = grounds.shown, grounds.transition, grounds.twin
        measures = policy.risk.measures
        rng = np.random.default_rng(int(resolved.query.digest[:16], 16))  # the same query is judged alike each time
        was = counts[None] if twin is None else twin[None]
        if grounds.guess is not None:
            was = grounds.guess.drawn(rng, DRAWS)
        if len(was):
            was = was[was.sum(axis=tuple(range(1, was.ndim))) > 0]
        if not len(was):
            return cls(dict.fromkeys(measures.names, (1.0, 1.0)), None, None)
        axes, now = tuple(range(1, was.ndim)), np.broadcast_to(counts, was.shape)
        before: Risks = {}
        after: Risks = {}
        if not wanted:
            pass
        elif size is not None:
            before, after = _sampled(was, counts, policy, size, rng)
        else:
            before = measures.before(was, axes)
            same = np.asarray((was == now).mean(axis=axes)) if twin is not None else None
            unmoved = transition is None and twin is None
            after = before if unmoved else measures.after(was, now, axes, transition, same)
        risks = {name: (float(np.mean(before[name])), float(np.mean(after[name]))) for name in before}
        if (transition is None and contract_of(grounds.method).protects) or (policy.before and twin is None):
            return cls(risks, None, None)
        kept = np.asarray(hellinger_utility(was, now, axis=axes))
        loss = 1.0 - kept if policy.loss == "hellinger" else LOSSES[policy.loss](was, now, axes)
        return cls(risks, float(np.mean(kept)), float(np.mean(loss)))


def _sampled(was: Array, shown: Array, policy: Policy, size: int, rng: np.random.Generator) -> tuple[Risks, Risks]:
    """R2(F, f) of populations F drawn behind each guessed sample f, before protection and with what is shown.

    (4.3.1) of [Ant16]_, as ``assess_sample`` has it; sampling is a protection, and the method one more.
    """
    measures, model = policy.risk.measures, model_of(policy.risk.population)
    number = max(2, min(POPULATIONS // len(was), MOST // max(shown.size * len(was), 1)))
    axes = tuple(range(1, shown.ndim + 1))
    pairs: list[tuple[Risks, Risks]] = []
    for sample in was:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscreetWarning)  # what a model finds odd is no matter of the public
            estimate = model.fit(sample, max(size, int(sample.sum())))
        drawn = estimate.draw(number, seed=int(rng.integers(2**62)))
        before = measures.after(drawn, np.broadcast_to(sample, drawn.shape), axes, None)
        after = before
        if sample is not shown and not np.array_equal(sample, shown):
            after = measures.after(drawn, np.broadcast_to(shown, drawn.shape), axes, None)
        pairs.append((before, after))
    return tuple(  # type: ignore[return-value]
        {name: np.concatenate([np.atleast_1d(pair[k][name]) for pair in pairs]) for name in measures.names}
        for k in (0, 1)
    )


def _population_size(protected: Protected, method: Any, policy: Policy, n: int) -> int:
    """N as everybody can know it: given in the policy, or the weighted total that is shown."""
    stated = policy.risk.population_size
    if isinstance(stated, int):
        return max(stated, n)
    name = "weighted count"
    if name not in protected.table.statistics:
        raise InputError(
            "the policy judges tables as those of a sample, and the data have no weights: say how many people there "
            "are ([risk] population_size = N), or name the column of weights in the codebook"
        )
    if name not in protected.published:
        protected = protect(replace(protected.table, measure=name, magnitude=None), method)
    shown = np.asarray(protected.published[name], float)
    return max(round(float(np.nanmax(shown, initial=0.0))), n)


# -- cells ------------------------------------------------------------------------------------------------------


def _small_share(protected: Protected, shown: Array, hidden: Array, transition: Transition | None, small: int) -> float:
    """Expected share of small cells, given what is shown: by the method's matrix, or by the bounds that it tells."""
    layout, room = protected.table.layout, protected.room
    if transition is not None:
        return small_share(ShownCounts.of(shown, hidden, small, reach_of(transition)), transition, small)
    if room.lower is not None and room.upper is not None:
        low, high = (layout.dense(_inner(protected, np.asarray(side, float))) for side in (room.lower, room.upper))
        return bounded_small_share(shown, low, high, hidden, small)
    return small_share(ShownCounts.of(shown, hidden, small, 0), None, small)


def _transition_of(method: Any, layout: Layout, counts: Array) -> Transition | None:
    """The matrix of a method for what is shown: one made for the true table would tell of it."""
    if not contract_of(method).transition or is_without_table(type(method).transition):
        return transition_of(method)
    return transition_of(method, Table.of(counts, layout.dimensions))  # structural zeros are cells as any other


def _inner(protected: Protected, cells: Array) -> Array:
    """Values of published cells laid out over the inner ones."""
    layout = protected.table.layout
    inner = np.full(layout.n_inner, np.nan)
    at = layout.inner_of_cell >= 0
    inner[layout.inner_of_cell[at]] = cells[at]
    return inner


def _shown(protected: Protected) -> tuple[Array, Array]:
    """What is shown of the inner cells (0 where hidden), and which are hidden, as arrays."""
    layout, inner = protected.table.layout, protected.shown_inner()
    counts = np.rint(np.maximum(np.nan_to_num(inner), 0)).astype(np.int64)
    return layout.dense(counts), layout.dense(np.isnan(inner))


# -- decisions --------------------------------------------------------------------------------------------------


def table_rules(evidence: Evidence, policy: Policy, resolved: Resolved) -> None:
    """The rules for tables, on the protected one before it is filtered."""
    rules = policy.table
    if evidence.population < rules.min_population:
        of = f" in one of the codes of {listed(resolved.several)}" if resolved.several else ""
        hint = "leave out small codes, or take a coarser level" if resolved.several else "choose a larger population"
        raise Refused("min_population", f"fewer than {rules.min_population:,} people{of}", hint)
    if evidence.mean < rules.min_mean:
        raise Refused("min_mean", f"fewer than {rules.min_mean:g} people per cell", "ask for less detail")
    if evidence.small_share > rules.max_small_share:
        raise Refused(
            "max_small_share",
            f"more than {rules.max_small_share:.0%} of the cells are small",
            "ask for less detail or a larger population",
        )


def below_t1(evidence: Evidence, policy: Policy) -> bool:
    """Whether the expected risk before is below T1, in every measure."""
    t1 = policy.risk.limits("t1")
    return bool(t1) and all(evidence.risks[name][0] < limit for name, limit in t1.items())


def thresholds(evidence: Evidence, policy: Policy) -> None:
    """T2, in every measure, and T3; what cannot be told is above any limit."""
    for name, limit in policy.risk.limits("t2").items():
        if not evidence.risks[name][1] <= limit:
            of = f" ({name})" if len(policy.risk.measures.names) > 1 else ""
            raise Refused("t2", f"the risk after protection{of} is above what is allowed", "ask for less detail")
    if policy.risk.t3 is not None and (evidence.loss is None or not evidence.loss <= policy.risk.t3):
        raise Refused("t3", "protection would cost more than is allowed", "ask for less detail")
