"""Publishing programmes that tests share."""

from __future__ import annotations

from pathlib import Path

from discreet.publishing import (
    Finding,
    Programme,
    parse_programme,
)

HEAD = """
[programme]
name = "A census"
data = "people.parquet"
codebook = "people.toml"
output = "out"
"""


KEYED = """
[defaults]
method = "cell-key"
"""


MANY = (
    HEAD
    + KEYED
    + """
[[table]]
name = "all"
combinations = { of = ["area", "sex", "age"], sizes = [1, 2, 3] }
formats = ["csv", "json-stat"]

[[table]]
name = "{by}-in-{area}"
by = ["sex"]
combinations = { of = ["age"], sizes = [1] }
for_each = { area = "area" }

[[table]]
name = "coarse"
by = ["area:level 1", "sex"]
for_each = { age = ["0", "1", "2", "3"] }

[[table]]
name = "men"
where = { sex = "m" }
combinations = { of = ["area", "age"], sizes = [1, 2] }
"""
)


def made(text: str, output: str = "out") -> Programme:
    return parse_programme(text.replace('"out"', f'"{output}"'))


def files(folder: str | Path) -> dict[str, bytes]:
    """The published tables, without the report."""
    return {p.name: p.read_bytes() for p in Path(folder).iterdir() if p.is_file() and p.stem != "report"}


def kinds(findings: tuple[Finding, ...] | list[Finding], level: str = "error") -> list[str]:
    return [f.kind for f in findings if f.level == level]
