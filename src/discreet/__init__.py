"""Statistical disclosure control for tables: measure, protect, prove, serve.

>>> import discreet as dc
>>> table = dc.Table.of([[17, 0], [12, 1]], ["area", "injury"])
>>> dc.protect(table, dc.Hide([{"area": "2", "injury": "2"}])).release()
Release(area x injury: 9 cells, 1 not shown; count)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from discreet.base.version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from discreet import audits, datasets, formats, information, plot, population, publishing, risk, utility
    from discreet.audits import Audit, OwnerAudit, audit, difference, insiders, owner_audit, unions
    from discreet.base.verdicts import Verdict
    from discreet.data.codebook import Codebook, read_codebook
    from discreet.data.dimension import Dimension
    from discreet.data.microdata import Microdata
    from discreet.errors import (
        DiscreetError,
        DiscreetWarning,
        InputError,
        NotAdditiveError,
        OutOfTimeError,
        Refused,
        Unjudged,
    )
    from discreet.formats import write
    from discreet.in_place.count_frames import apply_recipe, perturb_counts, round_counts, suppress_small_counts
    from discreet.in_place.protection_report import ProtectionReport
    from discreet.methods import register
    from discreet.methods.by_hand import Hide, Publish
    from discreet.methods.contract import Contract, protect
    from discreet.methods.perturb.barnard import Barnard
    from discreet.methods.perturb.cell_key import CellKey
    from discreet.methods.perturb.cell_key_magnitude import CellKeyMagnitude
    from discreet.methods.perturb.controlled import ControlledRound
    from discreet.methods.perturb.cta import CTA
    from discreet.methods.perturb.noise import expected_hellinger
    from discreet.methods.perturb.ptable import PTable
    from discreet.methods.perturb.rounding import RandomRound, Round, SemiControlledRound
    from discreet.methods.perturb.same_margins import SameMargins
    from discreet.methods.perturb.small_counts import SmallCountRound
    from discreet.methods.perturb.stochastic import Stochastic
    from discreet.methods.recipes.chain import Chain
    from discreet.methods.recipes.midpoint import MidpointRound
    from discreet.methods.recipes.offices import CMS11, NHS, ONSCellKey, OpenSAFELY, StatCanBase5
    from discreet.methods.recipes.redact import Redact
    from discreet.methods.records.moves import Moves, moves
    from discreet.methods.records.pram import Pram
    from discreet.methods.records.recode import GlobalRecode, Sample
    from discreet.methods.records.swapping import Swap
    from discreet.methods.redesign import Redesign
    from discreet.methods.suppress import Suppress
    from discreet.methods.suppress.diagnosis import Diagnosis
    from discreet.methods.suppress.exact.optimal import Optimal
    from discreet.methods.suppress.hitas.hitas import Modular
    from discreet.methods.suppress.method import diagnose
    from discreet.methods.synthetic.privacy_budget import DiscreteGaussian
    from discreet.methods.synthetic.synthetic import Synthetic
    from discreet.parts import Parts, protect_in_parts
    from discreet.policy import Policy, Query, RUMap, answer, grid, read_policy, ru_map
    from discreet.release import Protected, Release, Status
    from discreet.risk import (
        SampleRisk,
        Transition,
        assess_sample,
        expected_r2,
        jos15_after,
        jos15_risk,
        line_risks,
        r1,
        r1_star,
        r2,
        r2_star,
    )
    from discreet.risk.risk_report import RiskReport, assess
    from discreet.rules import (
        PQ,
        AllOf,
        AnyOf,
        DirectDisclosure,
        Dominance,
        EntropyRule,
        FewContributors,
        GroupDisclosure,
        KDisclosure,
        Levels,
        Marks,
        PPercent,
        Request,
        Rule,
        Threshold,
        TSensitivity,
        Waived,
        read_levels,
        read_marks,
    )
    from discreet.sheets.reading_sheets import read_table, read_tables
    from discreet.sheets.sheet_table import SheetTable
    from discreet.tables.room import Room
    from discreet.tables.table import Table
    from discreet.tables.tabulation import tabulate
    from discreet.utility import compare

# Names are loaded when first used, so that `import discreet` and `discreet --help` stay quick.
_HOME = {
    "AllOf": "rules",
    "AnyOf": "rules",
    "Audit": "audits",
    "Barnard": "methods.perturb.barnard",
    "CMS11": "methods.recipes.offices",
    "CTA": "methods.perturb.cta",
    "CellKey": "methods.perturb.cell_key",
    "CellKeyMagnitude": "methods.perturb.cell_key_magnitude",
    "Chain": "methods.recipes.chain",
    "Codebook": "data.codebook",
    "Contract": "methods.contract",
    "ControlledRound": "methods.perturb.controlled",
    "Diagnosis": "methods.suppress.diagnosis",
    "Dimension": "data.dimension",
    "DiscreteGaussian": "methods.synthetic.privacy_budget",
    "DirectDisclosure": "rules",
    "DiscreetError": "errors",
    "DiscreetWarning": "errors",
    "Dominance": "rules",
    "EntropyRule": "rules",
    "FewContributors": "rules",
    "GlobalRecode": "methods.records.recode",
    "GroupDisclosure": "rules",
    "Hide": "methods.by_hand",
    "InputError": "errors",
    "KDisclosure": "rules",
    "Levels": "rules",
    "Marks": "rules",
    "Microdata": "data.microdata",
    "MidpointRound": "methods.recipes.midpoint",
    "Moves": "methods.records.moves",
    "Modular": "methods.suppress.hitas.hitas",
    "NHS": "methods.recipes.offices",
    "NotAdditiveError": "errors",
    "ONSCellKey": "methods.recipes.offices",
    "OpenSAFELY": "methods.recipes.offices",
    "OutOfTimeError": "errors",
    "Optimal": "methods.suppress.exact.optimal",
    "ProtectionReport": "in_place.protection_report",
    "OwnerAudit": "audits",
    "PPercent": "rules",
    "PQ": "rules",
    "PTable": "methods.perturb.ptable",
    "Parts": "parts",
    "Policy": "policy",
    "Pram": "methods.records.pram",
    "Protected": "release",
    "Publish": "methods.by_hand",
    "Query": "policy",
    "RUMap": "policy",
    "RandomRound": "methods.perturb.rounding",
    "Redact": "methods.recipes.redact",
    "Redesign": "methods.redesign",
    "Refused": "errors",
    "Release": "release",
    "Request": "rules",
    "RiskReport": "risk.risk_report",
    "Room": "tables.room",
    "Round": "methods.perturb.rounding",
    "Rule": "rules",
    "SameMargins": "methods.perturb.same_margins",
    "Sample": "methods.records.recode",
    "SampleRisk": "risk",
    "SemiControlledRound": "methods.perturb.rounding",
    "SheetTable": "sheets.sheet_table",
    "SmallCountRound": "methods.perturb.small_counts",
    "StatCanBase5": "methods.recipes.offices",
    "Status": "release",
    "Stochastic": "methods.perturb.stochastic",
    "Suppress": "methods.suppress",
    "Swap": "methods.records.swapping",
    "Synthetic": "methods.synthetic.synthetic",
    "TSensitivity": "rules",
    "Table": "tables.table",
    "Threshold": "rules",
    "Transition": "risk",
    "Unjudged": "errors",
    "Verdict": "base.verdicts",
    "Waived": "rules",
    "answer": "policy",
    "apply_recipe": "in_place.count_frames",
    "assess": "risk.risk_report",
    "assess_sample": "risk",
    "audit": "audits",
    "audits": "audits",
    "compare": "utility",
    "datasets": "datasets",
    "difference": "audits",
    "diagnose": "methods.suppress.method",
    "expected_hellinger": "methods.perturb.noise",
    "expected_r2": "risk",
    "formats": "formats",
    "grid": "policy",
    "information": "information",
    "insiders": "audits",
    "jos15_after": "risk",
    "jos15_risk": "risk",
    "line_risks": "risk",
    "moves": "methods.records.moves",
    "owner_audit": "audits",
    "perturb_counts": "in_place.count_frames",
    "plot": "plot",
    "policy": "policy",
    "population": "population",
    "publishing": "publishing",
    "protect": "methods.contract",
    "protect_in_parts": "parts",
    "r1": "risk",
    "r1_star": "risk",
    "r2": "risk",
    "r2_star": "risk",
    "read_codebook": "data.codebook",
    "read_levels": "rules",
    "read_marks": "rules",
    "read_policy": "policy",
    "read_table": "sheets.reading_sheets",
    "read_tables": "sheets.reading_sheets",
    "register": "methods",
    "risk": "risk",
    "round_counts": "in_place.count_frames",
    "ru_map": "policy",
    "suppress_small_counts": "in_place.count_frames",
    "tabulate": "tables.tabulation",
    "unions": "audits",
    "utility": "utility",
    "write": "formats",
}

__all__ = [
    "CMS11",
    "CTA",
    "NHS",
    "PQ",
    "AllOf",
    "AnyOf",
    "Audit",
    "Barnard",
    "CellKey",
    "CellKeyMagnitude",
    "Chain",
    "Codebook",
    "Contract",
    "ControlledRound",
    "Diagnosis",
    "Dimension",
    "DirectDisclosure",
    "DiscreetError",
    "DiscreetWarning",
    "DiscreteGaussian",
    "Dominance",
    "EntropyRule",
    "FewContributors",
    "GlobalRecode",
    "GroupDisclosure",
    "Hide",
    "InputError",
    "KDisclosure",
    "Levels",
    "Marks",
    "Microdata",
    "MidpointRound",
    "Modular",
    "Moves",
    "NotAdditiveError",
    "ONSCellKey",
    "OpenSAFELY",
    "Optimal",
    "OutOfTimeError",
    "OwnerAudit",
    "PPercent",
    "PTable",
    "Parts",
    "Policy",
    "Pram",
    "Protected",
    "ProtectionReport",
    "Publish",
    "Query",
    "RUMap",
    "RandomRound",
    "Redact",
    "Redesign",
    "Refused",
    "Release",
    "Request",
    "RiskReport",
    "Room",
    "Round",
    "Rule",
    "SameMargins",
    "Sample",
    "SampleRisk",
    "SemiControlledRound",
    "SheetTable",
    "SmallCountRound",
    "StatCanBase5",
    "Status",
    "Stochastic",
    "Suppress",
    "Swap",
    "Synthetic",
    "TSensitivity",
    "Table",
    "Threshold",
    "Transition",
    "Unjudged",
    "Verdict",
    "Waived",
    "answer",
    "apply_recipe",
    "assess",
    "assess_sample",
    "audit",
    "audits",
    "compare",
    "datasets",
    "diagnose",
    "difference",
    "expected_hellinger",
    "expected_r2",
    "formats",
    "grid",
    "information",
    "insiders",
    "jos15_after",
    "jos15_risk",
    "line_risks",
    "moves",
    "owner_audit",
    "perturb_counts",
    "plot",
    "policy",
    "population",
    "protect",
    "protect_in_parts",
    "publishing",
    "r1",
    "r1_star",
    "r2",
    "r2_star",
    "read_codebook",
    "read_levels",
    "read_marks",
    "read_policy",
    "read_table",
    "read_tables",
    "register",
    "risk",
    "round_counts",
    "ru_map",
    "suppress_small_counts",
    "tabulate",
    "unions",
    "utility",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    module = importlib.import_module(f"discreet.{_HOME[name]}")
    return module if name == _HOME[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
