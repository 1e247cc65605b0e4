"""Statistical disclosure control for tables: measure, protect, prove, serve.

>>> import discreet as dc
>>> table = dc.Table.of([[17, 0], [12, 1]], ["area", "injury"])
>>> dc.protect(table, dc.Hide([{"area": "2", "injury": "2"}])).release()
Release(area x injury: 9 cells, 1 not shown; count)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from discreet import datasets, information, plot, risk, utility
    from discreet.codebook import Codebook, read_codebook
    from discreet.dimension import Dimension
    from discreet.errors import DiscreetError, InputError, NotAdditiveError, Refused
    from discreet.microdata import Microdata
    from discreet.release import Hide, Protected, Publish, Release, Status, protect
    from discreet.risk import (
        Transition,
        expected_r2,
        jos15_after,
        jos15_risk,
        line_risks,
        r1,
        r1_star,
        r2,
        r2_star,
    )
    from discreet.risk.report import RiskReport, assess
    from discreet.table import Table, tabulate
    from discreet.utility import compare

# Names are loaded when first used, so that `import discreet` and `discreet --help` stay quick.
_HOME = {
    "Codebook": "codebook",
    "Dimension": "dimension",
    "DiscreetError": "errors",
    "Hide": "release",
    "InputError": "errors",
    "Microdata": "microdata",
    "NotAdditiveError": "errors",
    "Protected": "release",
    "Publish": "release",
    "Refused": "errors",
    "Release": "release",
    "RiskReport": "risk.report",
    "Status": "release",
    "Table": "table",
    "Transition": "risk",
    "assess": "risk.report",
    "compare": "utility",
    "datasets": "datasets",
    "expected_r2": "risk",
    "information": "information",
    "jos15_after": "risk",
    "jos15_risk": "risk",
    "line_risks": "risk",
    "plot": "plot",
    "protect": "release",
    "r1": "risk",
    "r1_star": "risk",
    "r2": "risk",
    "r2_star": "risk",
    "read_codebook": "codebook",
    "risk": "risk",
    "tabulate": "table",
    "utility": "utility",
}

__all__ = [
    "Codebook",
    "Dimension",
    "DiscreetError",
    "Hide",
    "InputError",
    "Microdata",
    "NotAdditiveError",
    "Protected",
    "Publish",
    "Refused",
    "Release",
    "RiskReport",
    "Status",
    "Table",
    "Transition",
    "assess",
    "compare",
    "datasets",
    "expected_r2",
    "information",
    "jos15_after",
    "jos15_risk",
    "line_risks",
    "plot",
    "protect",
    "r1",
    "r1_star",
    "r2",
    "r2_star",
    "read_codebook",
    "risk",
    "tabulate",
    "utility",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    module = importlib.import_module(f"discreet.{_HOME[name]}")
    return module if name == _HOME[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
