"""What an attack on everything that a policy answers has found, and the verdict on the policy."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.files import HTML, check_suffix, write_whole
from discreet.base.verdicts import Verdict
from discreet.policy.attacks.claims import Calibration, Claimed
from discreet.policy.attacks.finding import AttackFinding
from discreet.policy.attacks.least_squares import Recovered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARGIN = 0.05
"""By how much an attack may be better than the two-way model, or than the best single number."""
CHANCE = 0.05
"""An excess that would come about with this chance or more may be chance: then it cannot be judged."""
SURE = 1.645  # standard deviations that chance exceeds so seldom


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """One small population: records claimed, and counts of 1 to 3 recovered, over all secrets together."""

    name: str
    people: int
    """As shown; -1 where their number is not."""
    claimed: tuple[Claimed, ...] = ()
    calibration: Calibration | None = None
    counts: Recovered | None = None
    covered: tuple[float, ...] = ()
    """Of the people, the share whose record is among the right claims, at each probability."""
    mixed: bool = True
    why: str = ""
    """Why it could not be attacked; empty if it was."""

    @property
    def verdict(self) -> Verdict:
        """Fail where the attack is better than the model by more than may be.

        Unknown where it could not be run, or its claims are right far less often than they promise: an attack that is
        wrong about the population does not show that none succeeds.
        """
        if self.why:
            return Verdict.UNKNOWN
        verdicts = [_judged(one) for one in self.claimed]
        verdicts += [Verdict.UNKNOWN for one in self.claimed if one.miscalibrated]
        if self.counts is not None:
            verdicts.append(judged_counts(self.counts))
        return Verdict.worst(verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Attacked:
        """The value that ``to_dict`` wrote."""
        fields = dict(kept)
        fields["claimed"] = tuple(Claimed(**one) for one in kept["claimed"])
        fields["covered"] = tuple(kept["covered"])
        if kept["calibration"] is not None:
            fields["calibration"] = Calibration(**{name: tuple(v) for name, v in kept["calibration"].items()})
        if kept["counts"] is not None:
            fields["counts"] = Recovered(**kept["counts"])
        return cls(**fields)


def excess(one: Attacked) -> float:
    """By how much the claims are more often right than the model's, at the probability where that is most."""
    return max((c.precision - c.baseline_precision for c in one.claimed if c.claims), default=-1.0)


def pooled(rounds: Sequence[Attacked]) -> Attacked:
    """One population over all secrets: claims are added up, rates of counts are means."""
    first = rounds[0]
    if failed := [one for one in rounds if one.why]:
        return failed[0]
    claimed = list(first.claimed)
    calibration = first.calibration
    for other in rounds[1:]:
        claimed = [a + b for a, b in zip(claimed, other.claimed, strict=True)]
        if calibration is not None and other.calibration is not None:
            calibration = calibration + other.calibration
    return replace(
        first,
        claimed=tuple(claimed),
        calibration=calibration,
        counts=_mean([one.counts for one in rounds if one.counts is not None]),
        covered=tuple(float(np.mean(column)) for column in zip(*(one.covered for one in rounds), strict=True)),
        mixed=all(one.mixed for one in rounds),
    )


def _mean(every: Sequence[Recovered]) -> Recovered | None:
    """Over secrets: the cells are the same, the noise is not."""
    if not every:
        return None
    names = ("rmse_shown", "rmse", "exact_shown", "exact", "single")
    means = {name: float(np.mean([getattr(one, name) for one in every])) for name in names}
    return Recovered(cells=every[0].cells, small=every[0].small, **means)


def _judged(claimed: Claimed) -> Verdict:
    """Claims may be right no more often than those of the model, but for the margin."""
    return _above(claimed.right, claimed.claims, claimed.baseline_precision + MARGIN)


def judged_counts(counts: Recovered) -> Verdict:
    """Counts of 1 to 3 may be hit no more often than by the best single number, but for the margin."""
    return _above(round(counts.exact * counts.small), counts.small, counts.single + MARGIN)


def judged_finding(one: AttackFinding) -> Verdict:
    """A simple attack may succeed no more often than one without the answers, but for the margin."""
    allowed = min(one.blind + MARGIN, 1.0)
    if not one.cases or one.rate <= allowed:
        return Verdict.PASS
    if not one.fair:
        return Verdict.UNKNOWN
    if not one.area:
        return _above(round(one.rate * one.cases), one.cases, allowed)
    spread = math.sqrt((one.cases + 1) / 3) / one.cases  # of an area by chance, with as many of one kind as the other
    return Verdict.FAIL if one.rate - allowed > SURE * spread else Verdict.UNKNOWN


def _above(right: int, number: int, allowed: float) -> Verdict:
    """A share above what is allowed fails unless it may be chance; then nobody can say."""
    from scipy.stats import binom

    if not number or right / number <= allowed:
        return Verdict.PASS
    by_chance = float(binom.sf(right - 1, number, min(allowed, 1.0)))
    return Verdict.UNKNOWN if by_chance >= CHANCE else Verdict.FAIL


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The worst case of a policy: what all its answers together give away. Rates only; no record is in it.

    Still confidential: rates of success are functions of the truth.

    >>> import discreet as dc
    >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
    >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
    >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
    >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
    >>> report.verdict, report.populations[0].name
    (<Verdict.UNKNOWN: 'unknown'>, 'sex = 3')
    """

    policy: str
    """The digest of the policy."""
    mechanism: str
    requests: int
    refused: int
    tables: int
    cells: int
    hidden: int
    conflicts: int
    left_out: int
    secrets: int
    populations: tuple[Attacked, ...]
    counts: tuple[tuple[int, Recovered], ...]
    """Least squares over all margins, by the number of variables of a cell."""
    findings: tuple[AttackFinding, ...] = ()
    unjudged: tuple[str, ...] = ()
    """What could not be judged, in words. Then the verdict is never a pass."""
    omitted: tuple[str, ...] = ()
    """Attacks that were left out or cut short by choice: the verdict is of the others alone."""
    records: str = ""
    """A name of the records, by which a server knows whether they are those that it serves."""

    @property
    def verdict(self) -> Verdict:
        """Pass only if everything was tried and nothing is beyond its threshold."""
        return Verdict.worst(verdict for _, verdict in self.judged)

    @property
    def judged(self) -> tuple[tuple[str, Verdict], ...]:
        """Everything that the verdict rests on, by name."""
        parts = [(one.name, one.verdict) for one in self.populations]
        parts += [(f"counts 1-3 of {size} variables", judged_counts(one)) for size, one in self.counts]
        parts += [(f"{one.attack}, {one.success}", judged_finding(one)) for one in self.findings]
        missing = [*self.unjudged]
        missing += [f"{self.left_out:,} requests that were not enumerated"] if self.left_out else []
        missing += ["cells that showed two numbers"] if self.conflicts else []
        return (*parts, *((words, Verdict.UNKNOWN) for words in missing))

    @property
    def verdict_words(self) -> str:
        """The verdict, with what was left out beside it."""
        if not self.omitted:
            return self.verdict.value
        return f"{self.verdict.value} (of what was run; left out: {'; '.join(self.omitted)})"

    @property
    def worst(self) -> Attacked | None:
        """The population with the largest excess over the model."""
        return max(self.populations, key=excess, default=None)

    def to_frame(self) -> pd.DataFrame:
        """One row for every population and probability.

        >>> import discreet as dc
        >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
        >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
        >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
        >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
        >>> report.to_frame()["probability"].tolist()
        [0.5, 0.8, 0.95]
        """
        import pandas as pd

        return pd.DataFrame([row for one in self.populations for row in _rows(one)])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON.

        >>> import discreet as dc
        >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
        >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
        >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
        >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
        >>> report.to_dict()["verdict"], report.to_dict()["cells"]
        ('unknown', 12)
        """
        findings = [{**asdict(one), "verdict": judged_finding(one).value} for one in self.findings]
        return {**asdict(self), "findings": findings, "verdict": self.verdict.value}

    def to_json(self) -> str:
        """The same as text.

        >>> import discreet as dc
        >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
        >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
        >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
        >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
        >>> json.loads(report.to_json())["mechanism"]
        'round'
        """
        return json.dumps(self.to_dict(), indent=1)

    def to_html(self, path: str | Path | None = None) -> str:
        """The whole report as one page that needs no network; written, for its owner alone, if a path is given.

        >>> import discreet as dc
        >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
        >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
        >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
        >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
        >>> report.to_html()[:15]
        '<!doctype html>'
        """
        from discreet.policy.attacks.attack_page import attack_page

        check_suffix(path, HTML, "a report")
        text = attack_page(self)
        if path is not None:
            write_whole(path, text.encode(), private=True)
        return text

    def plot(self, ax: Axes | None = None) -> Axes:
        """Of every population the share of claims that are right, beside that of the two-way model.

        >>> import discreet as dc
        >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
        >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
        >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
        >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
        >>> report.plot().get_xlabel()
        'claimed records that are right (share)'
        """
        from discreet import plot

        tried = [one for one in self.populations if one.claimed]
        at = 1 if tried and len(tried[0].claimed) > 1 else 0
        return plot.precision_bars(
            [one.name for one in tried],
            [one.claimed[at].precision for one in tried],
            [one.claimed[at].baseline_precision for one in tried],
            [one.claimed[at].claims for one in tried],
            margin=MARGIN,
            ax=ax,
        )

    def summary(self) -> str:
        """What was found, in lines to be read.

        >>> import discreet as dc
        >>> policy = dc.Policy(methods=(("round", {"base": 5}),))
        >>> table = dc.Table.of([[3, 8, 9], [16, 23, 4]], ["area", "sex"])
        >>> short = dc.policy.Effort(chains=2, fewest=2000, most=2000, samples=20)
        >>> report = dc.policy.attack(table, policy, limit=30, most=1, targets=0, editions=False, effort=short)
        >>> print(report.summary().splitlines()[0])
        closure: 1 requests, 0 refused, 12 distinct cells; round; 1 secret
        """
        lines = [
            f"closure: {self.requests:,} requests, {self.refused:,} refused, {self.cells:,} distinct cells; "
            f"{self.mechanism}; {self.secrets} secret{'s' if self.secrets > 1 else ''}"
        ]
        if self.left_out:
            lines.append(f"not enumerated: {self.left_out:,} requests, of which nothing is known")
        if self.conflicts:
            lines.append(
                f"{self.conflicts:,} times a cell showed another number than before, which no attack here uses"
            )
        lines += [_counts_line(size, one) for size, one in self.counts]
        lines += [
            f"{one.attack}: {one.success} {one.rate:.0%} (without the answers {one.blind:.0%}; {one.cases:,} cases): "
            f"{judged_finding(one).value}"
            for one in self.findings
        ]
        lines += [population_line(one) for one in self.populations]
        lines += [f"not judged: {words}" for words in self.unjudged]
        against = [f"{name} ({verdict.value})" for name, verdict in self.judged if not verdict.ok]
        lines += [f"not a pass: {'; '.join(against)}"] if against else []
        return "\n".join([*lines, f"verdict: {self.verdict_words}"])


def _counts_line(size: int, one: Recovered) -> str:
    head = (
        f"cells of {size} variable{'s' if size > 1 else ''}: RMSE {one.rmse_shown:.2f} as shown, {one.rmse:.2f} after"
    )
    small = f"; counts 1-3 exact {one.exact:.0%} (best single number {one.single:.0%})" if one.small else ""
    return f"{head} least squares{small}"


def population_line(one: Attacked) -> str:
    """A population in one line."""
    if one.why:
        return f"{one.name}: not attacked, {one.why}: unknown"
    parts = [
        f"p > {claimed.probability:g}: {claimed.right} of {claimed.claims} right ({claimed.precision:.0%}, "
        f"model {claimed.baseline_precision:.0%}), {covered:.0%} of the people"
        for claimed, covered in zip(one.claimed, one.covered, strict=True)
    ]
    people = "number not shown" if one.people < 0 else f"about {one.people:,}"
    return f"{one.name} ({people}): {'; '.join([*parts, *small_counts(one), *doubts(one)])}: {one.verdict.value}"


def small_counts(one: Attacked) -> list[str]:
    """How many counts of 1 to 3 are found; nothing where none was looked for."""
    if one.counts is None:
        return []
    return [f"counts 1-3 exact {one.counts.exact:.0%} (single number {one.counts.single:.0%})"]


def doubts(one: Attacked) -> list[str]:
    """What to know before the claims about a population are believed."""
    found = [] if one.mixed else ["chains differ, those that fit best were taken"]
    if any(claimed.miscalibrated for claimed in one.claimed):
        found.append("far fewer are right than these claims promise, so this attack shows nothing")
    return found


def claim_row(claimed: Claimed, covered: float) -> dict[str, Any]:
    """Claims at one probability by name, with the part of the people that they cover."""
    return {
        "probability": claimed.probability,
        "claims": claimed.claims,
        "right": claimed.right,
        "precision": claimed.precision,
        "baseline": claimed.baseline_precision,
        "covered": covered,
    }


def _rows(one: Attacked) -> list[dict[str, Any]]:
    head = {"population": one.name, "people": one.people, "verdict": one.verdict.value, "why": one.why}
    if not one.claimed:
        return [head]
    return [
        {
            **head,
            **claim_row(claimed, covered),
            "expected": claimed.expected,
            "counts 1-3 exact": one.counts.exact if one.counts else None,
            "single number": one.counts.single if one.counts else None,
        }
        for claimed, covered in zip(one.claimed, one.covered, strict=True)
    ]
