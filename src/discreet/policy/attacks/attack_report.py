"""What an attack on everything that a policy answers has found, and the verdict on the policy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from discreet.base.verdicts import Verdict
from discreet.policy.attacks.claims import Calibration, Claimed
from discreet.policy.attacks.least_squares import Recovered

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.05
"""By how much an attack may be better than the two-way model, or than the best single number."""
CHANCE = 0.05
"""An excess that would come about with this chance or more may be chance: then it cannot be judged."""


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
        """Fail where the attack is better than the model by more than may be; unknown where it could not be run."""
        if self.why:
            return Verdict.UNKNOWN
        verdicts = [_judged(one) for one in self.claimed]
        if self.counts is not None:
            verdicts.append(judged_counts(self.counts))
        return Verdict.worst(verdicts)


def _judged(claimed: Claimed) -> Verdict:
    """Claims may be right no more often than those of the model, but for the margin."""
    return _above(claimed.right, claimed.claims, claimed.baseline_precision + MARGIN)


def judged_counts(counts: Recovered) -> Verdict:
    """Counts of 1 to 3 may be hit no more often than by the best single number, but for the margin."""
    return _above(round(counts.exact * counts.small), counts.small, counts.single + MARGIN)


def _above(right: int, number: int, allowed: float) -> Verdict:
    """A share above what is allowed fails unless it may be chance; then nobody can say."""
    from scipy.stats import binom

    if not number or right / number <= allowed:
        return Verdict.PASS
    by_chance = float(binom.sf(right - 1, number, min(allowed, 1.0)))
    return Verdict.UNKNOWN if by_chance >= CHANCE else Verdict.FAIL


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The worst case of a policy: what all its answers together give away. Rates only; no record is in it."""

    policy: str
    """The digest of the policy."""
    mechanism: str
    requests: int
    refused: int
    tables: int
    cells: int
    conflicts: int
    left_out: int
    secrets: int
    populations: tuple[Attacked, ...]
    counts: tuple[tuple[int, Recovered], ...]
    """Least squares over all margins, by the number of variables of a cell."""
    unjudged: tuple[str, ...] = ()
    """What could not be judged, in words. Then the verdict is never a pass."""

    @property
    def verdict(self) -> Verdict:
        """Pass only if everything was tried and nothing is beyond its threshold."""
        parts = [one.verdict for one in self.populations]
        parts += [judged_counts(one) for _, one in self.counts]
        if self.unjudged or self.left_out:
            parts.append(Verdict.UNKNOWN)
        return Verdict.worst(parts) if parts else Verdict.UNKNOWN

    def to_frame(self) -> pd.DataFrame:
        """One row for every population and probability."""
        import pandas as pd

        return pd.DataFrame([row for one in self.populations for row in _rows(one)])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON."""
        return {**asdict(self), "verdict": self.verdict.value}

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1)

    def summary(self) -> str:
        """What was found, in lines to be read."""
        lines = [
            f"closure: {self.requests:,} requests, {self.refused:,} refused, {self.cells:,} distinct cells; "
            f"{self.mechanism}; {self.secrets} secret{'s' if self.secrets > 1 else ''}"
        ]
        if self.left_out:
            lines.append(f"not enumerated: {self.left_out:,} requests, of which nothing is known")
        for number, one in self.counts:
            lines.append(
                f"cells of {number} variables: RMSE {one.rmse_shown:.2f} as shown, {one.rmse:.2f} after least squares; "
                f"counts 1-3 exact {one.exact:.0%} (best single number {one.single:.0%})"
            )
        lines += [_line(one) for one in self.populations]
        lines += [f"not judged: {words}" for words in self.unjudged]
        return "\n".join([*lines, f"verdict: {self.verdict.value}"])


def _rows(one: Attacked) -> list[dict[str, Any]]:
    head = {"population": one.name, "people": one.people, "verdict": one.verdict.value, "why": one.why}
    if not one.claimed:
        return [head]
    return [
        {
            **head,
            "probability": claimed.probability,
            "claims": claimed.claims,
            "right": claimed.right,
            "precision": claimed.precision,
            "baseline": claimed.baseline_precision,
            "covered": covered,
            "expected": claimed.expected,
            "counts 1-3 exact": one.counts.exact if one.counts else None,
            "single number": one.counts.single if one.counts else None,
        }
        for claimed, covered in zip(one.claimed, one.covered, strict=True)
    ]


def _line(one: Attacked) -> str:
    if one.why:
        return f"{one.name}: unknown, {one.why}"
    parts = [
        f"p > {claimed.probability:g}: {claimed.right} of {claimed.claims} right ({claimed.precision:.0%}, "
        f"model {claimed.baseline_precision:.0%}), {covered:.0%} of the people"
        for claimed, covered in zip(one.claimed, one.covered, strict=True)
    ]
    if one.counts is not None:
        parts.append(f"counts 1-3 exact {one.counts.exact:.0%} (single number {one.counts.single:.0%})")
    doubt = "" if one.mixed else "; chains differ, those that fit best were taken"
    return f"{one.name} (about {one.people:,}): {'; '.join(parts)}{doubt}: {one.verdict.value}"


def worst_population(populations: Sequence[Attacked]) -> Attacked | None:
    """The one with the largest excess of precision over the model, at any probability."""

    def excess(one: Attacked) -> float:
        return max((c.precision - c.baseline_precision for c in one.claimed if c.claims), default=-1.0)

    return max(populations, key=excess, default=None)
