"""What is asked (Query), what is allowed (Policy), and how a query is answered (answer)."""

from discreet.policy.answering import answer, dry_run, evidence
from discreet.policy.attacks import Attack, Effort, attack
from discreet.policy.catalogue import ClosureSize, closure_size
from discreet.policy.in_parts import answer_in_parts
from discreet.policy.judging import Evidence
from discreet.policy.measures import LOSSES, RISKS
from discreet.policy.policy import Policy, parse_policy, read_policy, template
from discreet.policy.pretabular import ready
from discreet.policy.query import Query
from discreet.policy.record import answer_recorded, replay
from discreet.policy.screening import screen
from discreet.policy.search import RUMap, grid, ru_map
from discreet.policy.sections import (
    AreaRules,
    CatalogueRules,
    EditionRules,
    GuardRules,
    QueryRules,
    TableRules,
    Thresholds,
)
from discreet.policy.served_measures import ServedMeasure

__all__ = [
    "LOSSES",
    "RISKS",
    "AreaRules",
    "Attack",
    "CatalogueRules",
    "ClosureSize",
    "EditionRules",
    "Effort",
    "Evidence",
    "GuardRules",
    "Policy",
    "Query",
    "QueryRules",
    "RUMap",
    "ServedMeasure",
    "TableRules",
    "Thresholds",
    "answer",
    "answer_in_parts",
    "answer_recorded",
    "attack",
    "closure_size",
    "dry_run",
    "evidence",
    "grid",
    "parse_policy",
    "read_policy",
    "ready",
    "replay",
    "ru_map",
    "screen",
    "template",
]
