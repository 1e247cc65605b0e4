"""How a table is decided: protected by the methods in turn, judged, and released if it passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from discreet.data.dimension import Dimension
from discreet.errors import Refused
from discreet.methods.by_hand import Publish
from discreet.methods.contract import protect
from discreet.methods.effect import check_hides
from discreet.methods.likely import law_of
from discreet.policy.area_release import WithheldAreas
from discreet.policy.judging import Evidence, below_t1, counted, table_rules, thresholds, weigh_evidence
from discreet.policy.policy import Policy
from discreet.policy.populations import Closed, without_closed
from discreet.policy.query import Resolved
from discreet.policy.steps import words_of
from discreet.policy.whole_variables import WholeVariables
from discreet.release import Protected, Release
from discreet.release.noise_law import NoiseLaw, NoNoise
from discreet.tables.table import Table

SEEN = "The quality stated is an estimate from the changed data."
UNSEEN = "What that costs is not stated."
COUNTS = ("count", "weighted count")
UNPROTECTED = "Published as it is: no number was changed or hidden to protect anybody."
BANDS = ((0.99, "very high"), (0.95, "high"), (0.85, "moderate"), (0.0, "low"))


def answer_table(table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables) -> Release:
    """The answer to a query that ``check_query`` allows, from the table of it before its population is chosen.

    ``whole`` knows, for all tables of the same data, which populations are not broken down.
    """
    chosen, evidence, closed = protect_by(table, resolved, policy, whole)
    release = released(without_closed(chosen, closed), evidence, resolved, policy, closed)
    return replace(release, noise=noise_of(chosen, policy, list(whole.dimensions.values())))


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
    table: Table, resolved: Resolved, policy: Policy, whole: WholeVariables
) -> tuple[Protected, Evidence, Closed]:
    """The table by the first method that passes, or with ``search`` by the one of best expected utility that does; with
    its evidence and the populations that it may not break down.

    Before any of them T1 is looked at: a table whose risk is below it is published as it is, if the rules for tables
    allow it ([Ant16]_ section 5.2, step 4). The risk is the one expected from what the first method would show, and it
    is one of counts, so it lets no table of magnitudes out.
    """
    passed: list[tuple[Protected, Evidence, Closed]] = []
    refusals: list[Refused] = []
    for number in range(len(policy.methods)):
        method = policy.make(number, [*resolved.levels])
        protected = protect(table, method)
        check_hides(protected)
        evidence = weigh_evidence(protected, method, resolved, policy, risks=policy.risk.decides)
        closed = whole.closed(table.dimensions)
        if policy.areas.variable:
            people = protected if COUNTS[0] in protected.published else counted(table, method, policy)
            closed = replace(closed, areas=WithheldAreas.of(people, policy.areas))
        try:
            table_rules(evidence, policy, resolved)
            closed.check(resolved)
            if number == 0 and table.measure in COUNTS and below_t1(evidence, policy):
                return Publish()(table), evidence.unchanged, closed
            thresholds(evidence, policy)
        except Refused as refused:
            refusals.append(refused)
            continue
        passed.append((protected, evidence, closed))
        if not policy.search:
            break
    if not passed:
        raise refusals[0]
    return min(passed, key=lambda pair: pair[1].loss if pair[1].loss is not None else math.inf)


# -- out --------------------------------------------------------------------------------------------------------


def released(chosen: Protected, evidence: Evidence, resolved: Resolved, policy: Policy, closed: Closed) -> Release:
    """What is given of a decided table: its population, with notes."""
    return filtered(
        noted_release(chosen, evidence, resolved, policy, closed),
        {name: codes for name, (_, codes) in resolved.population.items()},
    )


def noted_release(chosen: Protected, evidence: Evidence, resolved: Resolved, policy: Policy, closed: Closed) -> Release:
    """The whole of a decided table, before its population is cut out."""
    open_ = [] if policy.before else protection_notes(chosen)
    notes = [*policy.notes, *open_, *_quality(evidence, policy), *population_notes(resolved)]
    notes += closed.notes(chosen.table.layout)
    if policy.before:
        notes.insert(
            len(policy.notes), f"Before counting: {words_of(policy.before)}. {SEEN if evidence.utility else UNSEEN}"
        )
        chosen = replace(chosen, method=changed_words(chosen, policy), truthful=False)
    return chosen.release(notes=notes)


def changed_words(protected: Protected, policy: Policy) -> str:
    """What was done to a table of changed data, the step first."""
    return words_of(policy.before) if protected.as_it_is else f"{words_of(policy.before)}; {protected.method}"


def protection_notes(protected: Protected) -> list[str]:
    """That a table is not protected, where it is not."""
    return [UNPROTECTED] if protected.as_it_is else []


def population_notes(resolved: Resolved) -> list[str]:
    """Whom a filtered table is about."""
    notes = []
    for name, (_, codes) in resolved.population.items():
        label = " or ".join(resolved.source[name].label(c) for c in codes)
        notes.append(f"Population: {name} = {label}.")
    return notes


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
