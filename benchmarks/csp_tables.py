"""Tables of many shapes as instances of cell suppression, for ``csp.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import discreet as dc
from discreet.formats.jj import Instance


def made(folder: Path) -> list[Path]:
    """Hierarchical tables of random turnover, large contributions making cells sensitive, as files."""
    found = []
    for number, (groups, members, sizes) in enumerate(((3, 3, 3), (4, 4, 4), (5, 4, 6))):
        rng = np.random.default_rng(number)
        codes = [f"{chr(65 + g)}{m}" for g in range(groups) for m in range(members)]
        branch = dc.Dimension.from_prefix("branch", codes, [1])
        size = dc.Dimension.flat("size", [f"s{k}" for k in range(sizes)])
        value = rng.lognormal(4, 1.3, (len(codes), sizes)).round() + 1
        table = dc.Table.of(value.astype(np.int64), [branch, size])
        path = folder / f"made{number + 1}.jj"
        path.write_text(_text(table, rng))
        found.append(path)
    return found


def two_way(cells: int, rng: np.random.Generator) -> dc.Table:
    """Magnitudes, a square."""
    edge = max(round(cells**0.5) - 1, 2)
    return dc.Table.of((rng.lognormal(4, 1.5, (edge, edge)).round() + 1).astype(np.int64), ["a", "b"])


def three_way(cells: int, rng: np.random.Generator) -> dc.Table:
    """Magnitudes, edges of about the same length."""
    edge = max(round(cells ** (1 / 3)) - 1, 2)
    shape = (edge, edge, max(round(cells / (edge + 1) ** 2) - 1, 2))
    return dc.Table.of((rng.lognormal(4, 1.5, shape).round() + 1).astype(np.int64), ["a", "b", "c"])


def four_way(cells: int, rng: np.random.Generator) -> dc.Table:
    """Magnitudes, edges of about the same length."""
    edge = max(round(cells ** (1 / 4)) - 1, 2)
    return dc.Table.of((rng.lognormal(4, 1.5, [edge] * 4).round() + 1).astype(np.int64), ["a", "b", "c", "d"])


def hierarchical(cells: int, rng: np.random.Generator) -> dc.Table:
    """Two dimensions, each of groups of groups of three or four members."""
    edge = max(round(cells**0.5 / 1.5), 4)
    sides = [_grouped(name, edge) for name in "ab"]
    return dc.Table.of((rng.lognormal(4, 1.5, (edge, edge)).round() + 1).astype(np.int64), sides)


def hierarchical_three_way(cells: int, rng: np.random.Generator) -> dc.Table:
    """Two dimensions of groups of groups, and a flat one."""
    edge = max(round(cells ** (1 / 3) / 1.5), 4)
    flat = max(round(cells / (1.5 * edge) ** 2) - 1, 2)
    sides = [_grouped("a", edge), _grouped("b", edge), dc.Dimension.flat("c", [f"c{k}" for k in range(flat)])]
    return dc.Table.of((rng.lognormal(4, 1.5, (edge, edge, flat)).round() + 1).astype(np.int64), sides)


def _grouped(name: str, members: int) -> dc.Dimension:
    """Groups of groups of three or four."""
    codes = [f"{chr(65 + k // 12)}{k // 4 % 3}{k % 4}" for k in range(members)]
    return dc.Dimension.from_prefix(name, codes, [1, 2])


def sparse(cells: int, rng: np.random.Generator) -> dc.Table:
    """Three dimensions, more than half of the inner cells empty, a few of the others very large."""
    edge = max(round(cells ** (1 / 3)) - 1, 2)
    value = (rng.lognormal(3, 2.5, [edge] * 3).round() + 1) * (rng.random([edge] * 3) < 0.45)
    return dc.Table.of(value.astype(np.int64), ["a", "b", "c"])


def sparse_four_way(cells: int, rng: np.random.Generator) -> dc.Table:
    """Four dimensions, more than half of the inner cells empty."""
    edge = max(round(cells ** (1 / 4)) - 1, 2)
    value = (rng.lognormal(3, 2.0, [edge] * 4).round() + 1) * (rng.random([edge] * 4) < 0.45)
    return dc.Table.of(value.astype(np.int64), ["a", "b", "c", "d"])


def counts(cells: int, rng: np.random.Generator) -> dc.Table:
    """Counts of people along three dimensions, many of them small."""
    edge = max(round(cells ** (1 / 3)) - 1, 2)
    return dc.Table.of(rng.negative_binomial(0.8, 0.03, [edge] * 3), ["a", "b", "c"])


SHAPES = {
    "two-way": two_way, "three-way": three_way, "four-way": four_way, "hierarchical": hierarchical,
    "hierarchical-three-way": hierarchical_three_way, "sparse": sparse, "sparse-four-way": sparse_four_way,
    "counts": counts,
}  # fmt: skip


def made_of(cells: int, shape: str, folder: Path, share: float = 0.06) -> Path:
    """A table of about so many cells, margins counted, as a file."""
    rng = np.random.default_rng(cells)
    path = folder / f"{shape}-{cells}-{100 * share:g}%.jj"
    path.write_text(_text(SHAPES[shape](cells, rng), rng, share))
    return path


def _text(table: dc.Table, rng: np.random.Generator, share: float = 0.1) -> str:
    """A table as an instance: a share of its inner cells sensitive, each to move by an eighth."""
    from discreet.tables.relations import of_layout

    value = table.value.astype(float)
    sensitive = table.is_inner & (rng.random(len(value)) < share) & (value > 0)
    level = np.where(sensitive, np.ceil(value / 8), 0)
    status = np.where(sensitive, "u", "s")
    rows = of_layout(table.layout)
    nothing = np.zeros(len(value))
    return Instance(
        "made", value, value, status, nothing, 2 * value, level, level, nothing, rows, np.zeros(rows.shape[0])
    ).text()  # fmt: skip
