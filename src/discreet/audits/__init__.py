"""What an intruder can still work out of a release: intervals, bits, ranks, insiders."""

from __future__ import annotations

from discreet.audits.auditing import audit
from discreet.audits.by_subtraction import DerivedPopulation, Differences, difference
from discreet.audits.certificate import Certificate
from discreet.audits.contradiction import InfeasibleError
from discreet.audits.contributors import insiders, unions
from discreet.audits.feasible_sample import FeasibleSample, enumerated, sampled
from discreet.audits.frechet import frechet
from discreet.audits.intruders import Intruder
from discreet.audits.known import Known, intervals, settled_intervals, unmovable
from discreet.audits.lines import Lines
from discreet.audits.linked import exactly_known, freedom, redundant, released_rank, spare
from discreet.audits.owner_attack import owner_audit
from discreet.audits.owner_report import OwnerAudit
from discreet.audits.report import Audit
from discreet.audits.view import View, view

__all__ = [
    "Audit",
    "Certificate",
    "DerivedPopulation",
    "Differences",
    "FeasibleSample",
    "InfeasibleError",
    "Intruder",
    "Known",
    "Lines",
    "OwnerAudit",
    "View",
    "audit",
    "difference",
    "enumerated",
    "exactly_known",
    "frechet",
    "freedom",
    "insiders",
    "intervals",
    "owner_audit",
    "redundant",
    "released_rank",
    "sampled",
    "settled_intervals",
    "spare",
    "unions",
    "unmovable",
    "view",
]
