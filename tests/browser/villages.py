"""Records with a variable of 600 categories on three levels, and a policy under which several of them can be picked."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

import discreet as dc
from discreet.data.variable_description import VariableDescription

NAMES = [f"m{k:03d}" for k in range(600)]
POLICY = """
[query]
max_dimensions = 3
max_filters = 2
max_cells = 5000
nested_only = false
[[method]]
name = "random-round"
seed = 31415926535897932384
"""


def records(persons: int = 30_000) -> dc.Microdata:
    """Persons of 600 villages in 40 districts of 4 provinces, as many in each."""
    above = {code: f"D{k // 15:02d}" for k, code in enumerate(NAMES)} | {f"D{k:02d}": f"P{k // 10}" for k in range(40)}
    labels = {code: f"Village {k}" for k, code in enumerate(NAMES)}
    labels |= {f"D{k:02d}": f"District {k + 1}" for k in range(40)} | {f"P{k}": f"Province {k + 1}" for k in range(4)}
    words = VariableDescription(
        "Municipality", "Where a person lives.", levels={"level 1": "Provinces", "level 2": "Districts"}
    )
    area = replace(dc.Dimension.from_parents("municipality", above, labels=labels), description=words)
    sex = dc.Dimension.flat("sex", ["f", "m"])
    job = dc.Dimension.flat("job", [f"j{k}" for k in range(30)])
    book = dc.Codebook(dimensions=(area, sex, job), title="Persons of four provinces", source="made up", date="2026")
    columns = {
        "municipality": [NAMES[k % 600] for k in range(persons)],
        "sex": ["fm"[(k // 600) % 2] for k in range(persons)],
        "job": [f"j{(k // 7) % 30}" for k in range(persons)],
    }
    return dc.Microdata.read(pa.table(columns), book)
