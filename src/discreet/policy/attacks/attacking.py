"""attack(): what everything that a policy ever answers gives away, all answers together. Off line, by the owner."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from discreet.base import deadline
from discreet.base.arguments import checked, positive, whole
from discreet.base.resume import ResumeFile
from discreet.data.microdata import Microdata
from discreet.errors import DiscreetError, InputError, OutOfTimeError
from discreet.methods import contract, parameters
from discreet.policy.attacks.answers import AllAnswers, Truth, collect, merged
from discreet.policy.attacks.attack_report import Attack, Attacked, pooled
from discreet.policy.attacks.averaging import averaged
from discreet.policy.attacks.edition_differences import edition_difference
from discreet.policy.attacks.equal_sets import equal_sets
from discreet.policy.attacks.finding import AttackFinding
from discreet.policy.attacks.least_squares import Recovered, fit_margins, recovered
from discreet.policy.attacks.mechanism import AS_HELD, Mechanism, mechanism_of
from discreet.policy.attacks.one_population import attacked_population
from discreet.policy.attacks.query_search import searched_targets
from discreet.policy.attacks.sampling import Effort
from discreet.policy.attacks.shadow import learned_mechanism
from discreet.policy.attacks.small_populations import SmallPopulation, small_populations
from discreet.policy.attacks.subtracting import differences
from discreet.policy.attacks.two_way import TwoWayModel
from discreet.policy.attacks.zeros import zero_proofs
from discreet.policy.policy import Policy
from discreet.policy.pretabular import TWIN, cube_of, with_record_keys
from discreet.tables.table import Table

Progress = Callable[[str], None]

LATE = "there was no time left"
LIMIT = 2_000  # people of populations that are attacked
TRIALS = 2  # of edition differences
ADDED = 10  # new records, if the policy does not wait for more


@checked
def attack(
    data: Microdata | Table,
    policy: Policy,
    *,
    limit: int = LIMIT,
    most: int = 12,
    together: int = 1,
    also: Sequence[Policy] = (),
    secrets: int = 1,
    editions: bool = True,
    targets: int = 20,
    effort: Effort | None = None,
    answers: AllAnswers | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Ask for everything that ``policy`` allows and rebuild what can be rebuilt.

    ``limit``: populations of fewer people are attacked, ``most`` of them: in turn the smallest that the policy breaks
    down (``min_population``), the largest and the smallest of all; ``together=2`` takes as many pairs of categories
    too. ``also``: policies of other roles, whose answers the same caller has as well; the chances of the noise are
    those of ``policy``, and cells that show different numbers make the verdict unknown. ``secrets``: the policy's own,
    and so many less one for the purpose, since one noise is luck. ``editions``: whether a second edition with few new
    records is set against the first. ``targets``: people of whom all but one attribute is known, and about whom the
    best questions are searched. ``answers``: what a running server of the policy has given (``collect_by``), instead
    of what it would give; then there is one secret, the server's, no other role and no second edition. What there is
    no time for (``time_limit``, in seconds) is unknown. ``resume`` names a file, private to its owner, in which
    populations that are done are kept.

    >>> import discreet as dc
    >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
    >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
    >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
    >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
    >>> report.requests, report.cells, report.verdict
    (1, 12, <Verdict.UNKNOWN: 'unknown'>)
    """
    for name, number in (("limit", limit), ("most", most), ("together", together), ("secrets", secrets)):
        whole(name, number, 1)
    whole("targets", targets, 0)
    if time_limit is not None:
        positive("time_limit", time_limit)
    _check_true(data)
    data = with_record_keys(data, policy)
    if answers is not None and secrets > 1:
        raise InputError(f"secrets={secrets}: answers of a running server have one secret, the server's own")
    if answers is not None and also:
        raise InputError("also: answers of a running server are those of one role; leave the other policies out")
    say: Progress = progress or (lambda _: None)
    with (
        nullcontext() if time_limit is None else deadline.within(time_limit),
        nullcontext() if resume is None else ResumeFile.open(resume) as file,
    ):
        truth = Truth.of(data)
        every = small_populations(truth, limit=limit, together=together, most=1_000_000)
        kinds = [[one for one in every if len(one.codes) == n] for n in range(1, together + 1)]
        chosen = [one for kind in kinds for one in _exposed(kind, most, policy.table.min_population)]
        task = _Task(data, truth, chosen, effort or Effort(), say, file, answers, tuple(also))
        rounds = [
            task.run(
                one,
                number,
                seed + number,
                targets=targets if number == 0 else 0,
                simple=number == 0,
                editions=editions and number == 0 and answers is None,
            )
            for number, one in enumerate(_policies(policy, secrets, seed))
        ]
    left = len(every) - len(task.chosen)
    further = [f"{left:,} further populations under {limit:,} people"] if left else []
    omitted = _omitted(limit, targets, task.effort, editions=editions and answers is None)
    return _report(policy, rounds, further, omitted)


def _exposed(every: Sequence[SmallPopulation], most: int, least: int) -> list[SmallPopulation]:
    """In turn the smallest that the policy breaks down, the largest, and the smallest of all: of those below its
    minimum a policy tells least, of the largest most."""
    turns = itertools.zip_longest((one for one in every if one.people >= least), reversed(every), every)
    chosen = list(dict.fromkeys(one for turn in turns for one in turn if one is not None))[:most]
    return [one for one in every if one in chosen]


def _omitted(limit: int, targets: int, effort: Effort, *, editions: bool) -> Iterator[str]:
    """What whoever called left out or cut short: a pass says nothing of it."""
    usual = Effort()
    if limit < LIMIT:
        yield f"populations of {limit:,} people and more"
    if not targets:
        yield "the search for queries about targets"
    if not editions:
        yield "differences of editions"
    if any(getattr(effort, field.name) < getattr(usual, field.name) for field in fields(usual)):
        yield "sampling as long as usual"


def _check_true(data: Microdata | Table) -> None:
    """Refuse a cube of changed data: what attacks find would be set against the wrong counts."""
    if any(name.startswith(TWIN) for name in getattr(data, "statistics", {})):
        raise InputError(
            "this cube holds data that the policy's steps have changed ([[before]]), and an attack is judged by the "
            "true ones: give the records, or a cube counted without --policy"
        )


def _policies(policy: Policy, number: int, seed: int) -> list[Policy]:
    """The policy with its own secret and with others, where its methods take one."""
    stated = [*policy.before, *policy.methods]
    keyed = any("secret" in parameters(name) and "seed" not in settings for name, settings in stated)
    others = [hashlib.sha256(f"discreet attack {seed} {k}".encode()).digest() for k in range(1, number if keyed else 1)]
    return [policy, *(replace(policy, secret=one) for one in others)]


def _unused(policy: Policy) -> Iterator[str]:
    """What the answers tell that no attack here uses."""
    for name, _ in policy.methods:
        if contract(name).rule:
            yield f"which cells {name!r} hides is not used here: audit its tables with `discreet audit`"
    if policy.measures:
        yield "sums and means of measures: counts are attacked, they are not"
    if len(policy.methods) > 1:
        yield "several methods in one policy: a cell may show several numbers, and how they go together is not used"


@dataclass(frozen=True, eq=False)
class _Round:
    """What one secret gives."""

    answers: AllAnswers
    mechanism: str
    counts: tuple[tuple[int, Recovered], ...]
    populations: tuple[Attacked, ...]
    findings: tuple[AttackFinding, ...]
    unjudged: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Task:
    """What is attacked, and how."""

    data: Microdata | Table
    truth: Truth
    chosen: Sequence[SmallPopulation]
    effort: Effort
    say: Progress
    file: ResumeFile | None
    answers: AllAnswers | None = None
    also: tuple[Policy, ...] = ()

    def run(self, policy: Policy, number: int, seed: int, *, targets: int, simple: bool, editions: bool) -> _Round:
        """Everything with one secret."""
        answers = self.answers
        if answers is None:
            self.say(f"secret {number + 1}: asking for everything")
            roles = [policy, *(replace(one, secret=policy.secret) if number else one for one in self.also)]
            # steps before counting are kept by what they were done to
            answers = merged([collect(copy(self.data), one) for one in roles])
        if not answers.tables:
            return _Round(answers, "none seen", (), (), (), ("everything: no table was answered",))
        model = TwoWayModel.of(answers, self.truth.possible)
        unjudged = list(_unused(policy))
        counts: tuple[tuple[int, Recovered], ...] = ()
        findings: list[AttackFinding] = []
        mechanisms = self._mechanisms(policy, model, seed)
        if simple:
            with _in_time(unjudged, "least squares over all margins"):
                self.say("least squares over all margins")
                counts = self._least_squares(answers, model, unjudged)
            with _in_time(unjudged, "the simple attacks"):
                self.say("zeros, equal sets, differences, averages")
                findings += self._simple(answers, model, mechanisms)
        if targets:
            with _in_time(unjudged, "the search for queries"):
                self.say("queries about targets")
                findings += searched_targets(answers, self.truth, model, mechanisms[-1], number=targets, seed=seed)
        if editions:
            with _in_time(unjudged, "differences of editions"):
                self.say("editions")
                findings += self._editions(policy, answers, seed, unjudged)
        attacked = tuple(self._populations(policy, answers, model, mechanisms, seed))
        words = " or ".join(one.words for one in mechanisms)
        return _Round(answers, words, counts, attacked, tuple(findings), tuple(unjudged))

    def _mechanisms(self, policy: Policy, model: TwoWayModel, seed: int) -> list[Mechanism]:
        """The chances that the policy states; else those that shadow data show, and numbers taken as they are."""
        stated = mechanism_of(policy)
        if stated is not None and not policy.before:
            return [stated]
        self.say("chances learned from shadow data")
        learned = learned_mechanism(cube_of(self.data), policy, model, seed)
        first = stated or AS_HELD
        return [first] if learned is None else [first, learned]

    def _least_squares(
        self, answers: AllAnswers, model: TwoWayModel, unjudged: list[str]
    ) -> tuple[tuple[int, Recovered], ...]:
        fitted = fit_margins(answers, model)
        if fitted is None:
            unjudged.append("least squares over all margins: there are too many combinations of codes")
            return ()
        sizes = sorted({len(frame) for frame in answers.frames} - {0})
        scores = [(size, recovered(answers, self.truth, fitted, size)) for size in sizes]
        return tuple((size, one) for size, one in scores if one is not None)

    def _simple(
        self, answers: AllAnswers, model: TwoWayModel, mechanisms: Sequence[Mechanism]
    ) -> Iterator[AttackFinding]:
        yield from zero_proofs(answers, self.truth, mechanisms[0], model)
        if (same := equal_sets(answers, self.truth, model)) is not None:
            yield same
        yield from differences(answers, self.truth, model)
        for size in sorted({len(frame) for frame in answers.frames} - {0})[:-1]:
            if (mean := averaged(answers, self.truth, size)) is not None:
                yield mean

    def _editions(self, policy: Policy, answers: AllAnswers, seed: int, unjudged: list[str]) -> Iterator[AttackFinding]:
        for added in (1, max(ADDED, policy.min_changes)):
            try:
                trials = TRIALS if added <= ADDED else 1
                yield edition_difference(cube_of(self.data), policy, answers, added=added, trials=trials, seed=seed)
            except OutOfTimeError:
                raise
            except DiscreetError:
                unjudged.append("differences of editions: the policy cannot answer from counts with new records")
                return

    def _populations(
        self,
        policy: Policy,
        answers: AllAnswers,
        model: TwoWayModel,
        mechanisms: Sequence[Mechanism],
        seed: int,
    ) -> Iterator[Attacked]:
        kept = {} if self.file is None else {row["key"]: row["attacked"] for row in self.file.rows() if "key" in row}
        for number, population in enumerate(self.chosen):
            key = self._key(policy, population, seed)
            if key in kept:
                yield Attacked.from_dict(kept[key])
                continue
            self.say(f"population {number + 1} of {len(self.chosen)}: {population.name}")
            try:
                result = attacked_population(answers, self.truth, model, mechanisms, population, self.effort, seed)
            except OutOfTimeError:
                yield Attacked(name=population.name, people=-1, why=LATE)
                continue
            if self.file is not None:
                self.file.append({"key": key, "attacked": result.to_dict()})
            yield result

    def _key(self, policy: Policy, population: SmallPopulation, seed: int) -> str:
        """What a kept result belongs to: the data, the policy with its secret, the population and the effort."""
        state = hashlib.sha256(np.ascontiguousarray(self.truth.counts).tobytes())
        for frame, values in () if self.answers is None else sorted(self.answers.frames.items()):
            state.update(repr(frame).encode() + np.ascontiguousarray(values).tobytes())
        roles = [one.digest for one in self.also]
        state.update(repr((policy.digest, roles, policy.secret, population.codes, self.effort, seed)).encode())
        return state.hexdigest()


@contextmanager
def _in_time(unjudged: list[str], what: str) -> Iterator[None]:
    try:
        yield
    except OutOfTimeError:
        unjudged.append(f"{what}: {LATE}")


def _report(policy: Policy, rounds: Sequence[_Round], unjudged: Sequence[str], omitted: Iterator[str]) -> Attack:
    first = rounds[0]
    return Attack(
        policy=policy.digest,
        mechanism=first.mechanism,
        requests=first.answers.requests,
        refused=first.answers.refused,
        tables=first.answers.tables,
        cells=first.answers.cells,
        hidden=first.answers.hidden,
        conflicts=first.answers.conflicts,
        left_out=first.answers.left_out,
        secrets=len(rounds),
        populations=tuple(pooled(every) for every in zip(*(one.populations for one in rounds), strict=True)),
        counts=first.counts,
        findings=first.findings,
        unjudged=(*unjudged, *first.unjudged),
        omitted=tuple(omitted),
    )
