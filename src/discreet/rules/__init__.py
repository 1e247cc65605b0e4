"""Rules: which cells of a table are sensitive, and why."""

from discreet.rules.apriori import Marks, Request, read_marks
from discreet.rules.base import AllOf, AnyOf, Custom, Rule, as_rule, from_dict, from_toml, parse
from discreet.rules.disclosure import DirectDisclosure, GroupDisclosure, KDisclosure
from discreet.rules.insider import TSensitivity
from discreet.rules.levels import Asked, Levels, asked, read_levels
from discreet.rules.magnitude import PQ, Dominance, EntropyRule, FewContributors, PPercent
from discreet.rules.threshold import Threshold
from discreet.rules.waivers import Waived

__all__ = [
    "PQ",
    "AllOf",
    "AnyOf",
    "Asked",
    "Custom",
    "DirectDisclosure",
    "Dominance",
    "EntropyRule",
    "FewContributors",
    "GroupDisclosure",
    "KDisclosure",
    "Levels",
    "Marks",
    "PPercent",
    "Request",
    "Rule",
    "TSensitivity",
    "Threshold",
    "Waived",
    "as_rule",
    "asked",
    "from_dict",
    "from_toml",
    "parse",
    "read_levels",
    "read_marks",
]
