"""How a table is decided: protected by the methods in turn, judged, and released if it passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from discreet.data.dimension import Dimension
from discreet.errors import Refused
from discreet.methods.by_hand import Publish
from discreet.methods.contract import protect
from discreet.methods.effect import check_hides
from discreet.methods.likely import law_of
from discreet.policy.area_release import WithheldAreas
from discreet.policy.judging import Evidence, Grounds, below_t1, counted, table_rules, thresholds
from discreet.policy.measure_words import population_words
from discreet.policy.policy import Policy
from discreet.policy.populations import Closed, without_closed
from discreet.policy.query import Resolved
from discreet.policy.steps import words_of
from discreet.policy.whole_variables import WholeVariables
from discreet.release import AS_IT_IS, Protected, Release
from discreet.release.noise_law import NoiseLaw, NoNoise
from discreet.tables.table import Table

CHANGED = "The data were changed before counting."  # how, the method says
SEEN = "The quality stated is an estimate from the changed data."
UNSEEN = "What that costs is not stated."
COUNTS = ("count", "weighted count")
UNPROTECTED = "Published as it is: no number was changed or hidden to protect anybody."
BANDS = ((0.99, "very high"), (0.95, "high"), (0.85, "moderate"), (0.0, "low"))


def answer_table(table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables) -> Release:
    """The answer to a query that ``check_query`` allows, from the table of it before its population is chosen.

    ``whole`` knows, for all tables of the same data, which populations are not broken down.
    """
    chosen, evidence = protect_by(table, resolved, policy, whole)
    noise = noise_of(chosen.protected, policy, list(whole.dimensions.values()))
    release = noted_release(chosen, evidence, resolved, policy, noise=noise)
    return filtered(release, {name: codes for name, (_, codes) in resolved.population.items()})


def noise_of(chosen: Protected, policy: Policy, dimensions: Sequence[Dimension]) -> NoiseLaw | None:
    """What the policy's method says of true counts behind shown ones; None if it says nothing, or is not to.

    ``dimensions`` are those of all data, to which steps before counting are done.
    """
    if policy.utility == "none" or chosen.table.measure != "count":
        return None
    done = (
        NoNoise() if chosen.as_it_is else None if chosen.call is None else law_of(chosen.call, chosen.table.dimensions)
    )
    if not policy.before:
        return done
    steps = policy.steps
    return law_of(steps[0], dimensions) if len(steps) == 1 and isinstance(done, NoNoise) else None


def protect_by(
    table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables, *, quality: bool = True
) -> tuple[ProtectedTable, Evidence]:
    """The table by the first method that passes, or with ``search`` by the one of best expected utility that does; with
    its evidence, which states no ``quality`` where neither the caller nor a rule asks for it.

    Before any of them T1 is looked at: a table whose risk is below it is published as it is, if the rules for tables
    allow it ([Ant16]_ section 5.2, step 4). The risk is the one expected from what the first method would show, and it
    is one of counts, so it lets no table of magnitudes out.
    """
    passed: list[tuple[ProtectedTable, Evidence]] = []
    refusals: list[Refused] = []
    quality = quality or policy.search or policy.risk.t3 is not None
    for number in range(len(policy.methods)):
        make = partial(ProtectedTable.of, table, number, resolved, policy, whole)
        tried = whole.held.worked_out(table, ("protected", number), make)
        evidence = tried.grounds.weigh(resolved, policy, risks=policy.risk.decides, quality=quality)
        try:
            table_rules(evidence, policy, resolved)
            tried.closed.check(resolved)
            if number == 0 and table.measure in COUNTS and below_t1(evidence, policy):
                return replace(tried, protected=Publish()(table)), evidence.unchanged
            thresholds(evidence, policy)
        except Refused as refused:
            refusals.append(refused)
            continue
        passed.append((tried, evidence))
        if not policy.search:
            break
    if not passed:
        raise refusals[0]
    return min(passed, key=lambda pair: pair[1].loss if pair[1].loss is not None else math.inf)


@dataclass(frozen=True, eq=False)
class ProtectedTable:
    """A table by one method, with what the decision rests on and what it may not break down, whichever population is
    asked (confidential)."""

    protected: Protected
    grounds: Grounds
    closed: Closed

    @classmethod
    def of(cls, table: Table, number: int, resolved: Resolved, policy: Policy, whole: WholeVariables) -> ProtectedTable:
        """By one of the policy's methods."""
        method = policy.make(number, [*resolved.levels])
        protected = protect(table, method)
        check_hides(protected)
        grounds = Grounds.of(protected, method, policy)
        closed = whole.closed(table.dimensions)
        if policy.areas.variable:
            people = protected if COUNTS[0] in protected.published else counted(table, method, policy)
            closed = replace(closed, areas=WithheldAreas.of(people, policy.areas))
        return cls(protected, grounds, closed)

    @cached_property
    def shown(self) -> Protected:
        """Without what breaks a closed population down."""
        return without_closed(self.protected, self.closed)

    @cached_property
    def release(self) -> Release:
        """All of what is shown, before anything is noted."""
        return self.shown.release()

    @cached_property
    def closed_notes(self) -> tuple[str, ...]:
        """What is not shown, for readers."""
        return tuple(self.closed.notes(self.shown.table.layout))


# -- out --------------------------------------------------------------------------------------------------------


def noted_release(
    chosen: ProtectedTable, evidence: Evidence, resolved: Resolved, policy: Policy, *last: str, **more: Any
) -> Release:
    """The whole of a decided table, before its population is cut out: with ``last`` notes, and ``more`` of what a
    release says."""
    open_ = [] if policy.before else protection_notes(chosen.protected)
    notes = [*policy.notes, *open_, *_quality(evidence, policy), *population_notes(resolved), *chosen.closed_notes]
    if not policy.before:
        return replace(chosen.release, notes=(*notes, *last), **more)
    notes.insert(len(policy.notes), f"{CHANGED} {SEEN if evidence.utility else UNSEEN}")
    method = changed_words(more.get("method", chosen.protected.method), policy)
    return replace(chosen.release, notes=(*notes, *last), **{**more, "method": method, "truthful": False})


def changed_words(method: str, policy: Policy) -> str:
    """What was done to a table of changed data, the step first: whatever of it is shown, counts or shares of them."""
    return words_of(policy.before) if method == AS_IT_IS else f"{words_of(policy.before)}; {method}"


def protection_notes(protected: Protected) -> list[str]:
    """That a table is not protected, where it is not."""
    return [UNPROTECTED] if protected.as_it_is else []


def population_notes(resolved: Resolved) -> list[str]:
    """Whom a filtered table is about."""
    return [f"Population: {words}." for words in population_words(resolved)]


def _quality(evidence: Evidence, policy: Policy) -> list[str]:
    if policy.utility == "none" or evidence.utility is None:
        return []
    if policy.utility == "expected" and policy.loss != "hellinger" and evidence.loss is not None:
        loss = f"{evidence.loss:.2f}" if math.isfinite(evidence.loss) else "infinite"
        return [f"Expected loss ({policy.loss}) {loss} (0 is the table itself)."]
    if policy.utility == "expected":
        return [f"Expected utility {evidence.utility:.2f} (1 is the table itself)."]
    return [f"Expected quality: {next(word for least, word in BANDS if evidence.utility >= least)}."]


def filtered(release: Release, population: Mapping[str, Sequence[str]]) -> Release:
    """The cells of one population; a dimension with a single code falls away."""
    for name, codes in population.items():
        release = release.only(name, codes)
    return release
