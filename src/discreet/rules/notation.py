"""How rules are named, and their parameters checked and written: percentages, TOML, text as in Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.kinds import is_number, told
from discreet.errors import InputError
from discreet.tables.table import Table

HOMES = {
    "threshold": "threshold:Threshold",
    "dominance": "magnitude:Dominance",
    "p-percent": "magnitude:PPercent",
    "pq": "magnitude:PQ",
    "entropy": "magnitude:EntropyRule",
    "few-contributors": "magnitude:FewContributors",
    "t-sensitivity": "insider:TSensitivity",
    "direct-disclosure": "disclosure:DirectDisclosure",
    "k-disclosure": "disclosure:KDisclosure",
    "group-disclosure": "disclosure:GroupDisclosure",
    "request": "apriori:Request",
}
"""Of every rule by its name in text its module and class."""
_MOST = 1_000_000  # percent, where there is no other limit: ten thousand times the value


def percent(value: float, what: str, *, most: float | None = None) -> None:
    """Refuse what was meant as a fraction: every share of this package is in percent."""
    if not (is_number(value) and 0 <= value <= (_MOST if most is None else most)):
        raise InputError(f"{told(what, value)}: give a percentage from 0 to {_MOST if most is None else most:,}")
    if 0 < value < 1:
        raise InputError(f"{what} is in percent: write {100 * value:g} for {100 * value:g} %, not {value:g}")


def of_value(table: Table, share: float) -> Array:
    """So many percent of the size of every cell."""
    return np.asarray(share / 100 * np.abs(table.value.astype(float)))


def plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): plain_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(v) for v in value]
    return value


def toml_key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else toml_value(key)


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    return repr(value)


def rule_text(rule: Any) -> str:
    """A rule as one writes it, defaults left out."""
    parts = []
    for f in dataclasses.fields(rule):
        value = getattr(rule, f.name)
        if f.default is dataclasses.MISSING or value != f.default:
            parts.append(f"{f.name}={value!r}")
    return f"{type(rule).__name__}({', '.join(parts)})"
