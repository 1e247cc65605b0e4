"""A call of every public name that is right: what tests change one argument of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import discreet as dc

COUNTS = np.array([[17, 0, 5], [12, 1, 9], [4, 8, 6]])
TABLE = dc.Table.of(COUNTS, ["area", "job"])
PEOPLE = pd.DataFrame(
    {"area": list("NSEW") * 6, "job": list("abc") * 8, "pay": np.arange(24) ** 2, "id": [f"p{k}" for k in range(24)]}
)
WIDE = pd.DataFrame({"f": [20, 3, 23], "m": [9, 30, 39], "All": [29, 33, 62]}, index=["a", "b", "All"])
SHEET = dc.read_table(WIDE)
MICRO = dc.Microdata.of(PEOPLE, dimensions=["area", "job"], magnitudes=["pay"], unit="id")
PAY = dc.tabulate(MICRO, by=["area", "job"], value="pay")
DONE = dc.protect(TABLE, dc.Suppress(dc.Threshold(3)))
RELEASE = DONE.release()
AUDIT = dc.audit(DONE)
REPORT = dc.assess(TABLE)
SAMPLE = dc.assess_sample(COUNTS, 1000, populations=5)
POLICY = dc.Policy(methods=(("round", {"base": 3}),))
PARTS = dc.Parts.of(MICRO, ["area", "job"])
FILES = {
    "book.toml": '[[dimension]]\nname = "area"\ncodes = ["N", "S"]\n',
    "levels.csv": "area,job,above\n1,1,3\n",
    "marks.csv": "area,job,mark\n1,1,u\n",
    "policy.toml": '[[method]]\nname = "round"\nbase = 3\n',
}

RULE = {"rule": dc.Threshold(3)}
BEFORE_AFTER = {"before": COUNTS, "after": COUNTS}
EXAMPLES: dict[str, dict[str, Any]] = {
    "CTA": RULE,
    "CMS11": {},
    "NHS": {},
    "PQ": {"p": 10, "q": 50},
    "AllOf": {"rules": (dc.Threshold(3),)},
    "AnyOf": {"rules": (dc.Threshold(3),)},
    "Audit": {
        "view": AUDIT.view,
        "number": AUDIT.number,
        "lower": AUDIT.lower,
        "upper": AUDIT.upper,
        "truth": AUDIT.truth,
    },
    "Barnard": {"seed": 1},
    "CellKey": {"seed": 1},
    "CellKeyMagnitude": {"seed": 1},
    "Codebook": {"dimensions": TABLE.dimensions},
    "Contract": {"acts_on": "table", "truthful": False, "cellwise": False, "transition": False},
    "ControlledRound": {},
    "Diagnosis": {"table": TABLE, "lift": DONE.hidden, "marks": 1, "least": True, "hopeless": DONE.hidden},
    "Dimension": {"name": "area", "leaves": ("1", "2")},
    "DirectDisclosure": {},
    "DiscreteGaussian": {"seed": 1},
    "Dominance": {"n": 1, "k": 75},
    "EntropyRule": {"t": 0.5},
    "FewContributors": {"n": 2},
    "GlobalRecode": {"variable": "area", "groups": {"O": ["N", "S"]}},
    "GroupDisclosure": {},
    "Hide": {"cells": [0]},
    "KDisclosure": {},
    "Levels": {"above": [1.0] * len(TABLE)},
    "Marks": {},
    "Microdata": {"engine": MICRO.engine, "codebook": MICRO.codebook},
    "Modular": {},
    "Optimal": {},
    "OwnerAudit": {
        "number": np.array([0]),
        "values": (np.array([1, 2]),),
        "chances": (np.array([0.5, 0.5]),),
        "fitting": 2,
        "surviving": 2,
        "complete": True,
        "calls": 2,
        "keyed": False,
    },
    "PPercent": {"p": 10},
    "Moves": {"shape": (2,), "was": np.array([0]), "is_": np.array([1])},
    "PTable": {"probabilities": dc.PTable.design(2, 1).probabilities},
    "Parts": {"data": MICRO, "dimensions": MICRO.dimensions},
    "Policy": {"methods": (("round", {"base": 3}),)},
    "Pram": {"variable": "job", "seed": 1},
    "Protected": {"table": TABLE, "published": DONE.published, "status": DONE.status, "method": "m"},
    "Publish": {},
    "Query": {"variables": (("area", "area"),)},
    "RUMap": {"frame": pd.DataFrame({"risk": [0.1], "loss": [0.1]})},
    "Chain": {"steps": (dc.Redact(3), dc.Round(5))},
    "MidpointRound": {},
    "ONSCellKey": {"seed": 1},
    "OpenSAFELY": {},
    "ProtectionReport": {
        "name": "t",
        "method": "m",
        "cells": 4,
        "primary": 1,
        "secondary": 1,
        "changed": False,
        "lost": 0.1,
        "audited": 2,
        "exact": 0,
        "verdict": dc.Verdict.PASS,
    },
    "Redact": {},
    "StatCanBase5": {"seed": 1},
    "apply_recipe": {"frame": WIDE, "recipe": "nhs"},
    "perturb_counts": {"frame": WIDE, "seed": 1},
    "round_counts": {"frame": WIDE},
    "suppress_small_counts": {"frame": WIDE, "under": 6},
    "RandomRound": {"seed": 1},
    "Redesign": {"merge": {"area": {"A": ["1", "2"]}}},
    "Release": {n: getattr(RELEASE, n) for n in ("dimensions", "codes", "values", "decimals", "status", "method")},
    "Request": {"cells": [0]},
    "RiskReport": {"table": TABLE, "before": REPORT.before, "after": None, "numbers": {}, "utility": None},
    "Room": {"lower": np.zeros(16), "upper": np.ones(16)},
    "Round": {},
    "SameMargins": {"seed": 1},
    "Sample": {"fraction": 0.5, "seed": 1},
    "SampleRisk": {n: getattr(SAMPLE, n) for n in ("estimates", "draws", "weights", "level", "seed")},
    "SemiControlledRound": {"seed": 1},
    "SheetTable": {
        "grid": SHEET.grid,
        "layout": SHEET.layout,
        "measure": "count",
        "published": SHEET.published,
        "places": SHEET.places,
    },
    "SmallCountRound": {"seed": 1},
    "Stochastic": {"seed": 1},
    "Suppress": RULE,
    "Swap": {"geography": "area", "seed": 1},
    "Synthetic": {"seed": 1},
    "TSensitivity": {"t": 0.5},
    "Table": {"layout": TABLE.layout, "statistics": TABLE.statistics},
    "Threshold": {"n": 3},
    "Transition": {"matrix": np.eye(3)},
    "Waived": {"rule": dc.PPercent(10), "protected": PAY},
    "answer": {"data": TABLE, "query": "area", "policy": POLICY},
    "assess": {"table": TABLE},
    "assess_sample": {"counts": COUNTS, "population": 1000, "populations": 5},
    "audit": {"released": DONE},
    "compare": BEFORE_AFTER,
    "diagnose": {"table": TABLE, "suppress": dc.Suppress(dc.Threshold(3)), "seconds": 2.0},
    "difference": {"released": {"january": RELEASE, "february": RELEASE}},
    "expected_hellinger": {"counts": COUNTS, "transition": np.eye(3)},
    "expected_r2": {"before": COUNTS, "method": dc.Transition.rounding(3), "draws": 5, "seed": 1},
    "grid": {"name": "round", "base": [3, 5]},
    "insiders": {"protected": DONE},
    "jos15_after": {"before": COUNTS, "after": COUNTS // 3 * 3, "transition": dc.Transition.rounding(3)},
    "jos15_risk": {"counts": COUNTS},
    "line_risks": {"counts": COUNTS},
    "moves": {"before": MICRO, "after": MICRO, "by": "area"},
    "owner_audit": {"protected": DONE, "call": DONE.call, "draws": 5, "calls": 50},
    "protect": {"table": TABLE, "method": dc.Publish()},
    "protect_in_parts": {"data": MICRO, "by": ["area"], "method": dc.Round(3), "path": "parts.csv"},
    "r1": {"counts": COUNTS},
    "r1_star": {"counts": COUNTS},
    "r2": BEFORE_AFTER,
    "r2_star": BEFORE_AFTER,
    "read_codebook": {"path": "book.toml"},
    "read_levels": {"path": "levels.csv"},
    "read_marks": {"path": "marks.csv"},
    "read_policy": {"path": "policy.toml"},
    "read_table": {"source": WIDE},
    "read_tables": {"source": WIDE},
    "register": {"name": "tried", "kind": dc.SemiControlledRound},
    "ru_map": {"table": TABLE, "methods": [dc.Round(3)]},
    "tabulate": {"data": MICRO, "by": ["area"]},
    "unions": {"protected": DONE, "rule": dc.Threshold(3)},
    "write": {"release": RELEASE, "path": "out.csv"},
}
