"""What a table shows, in the finest codes of its source, so that tables of one source can be set against each other.

It is made of a Release and the codebook, and holds no more than these.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.audits.joined.common_cells import Axis
from discreet.base.annotations import Array
from discreet.data.codebook import Codebook
from discreet.data.dimension import Dimension
from discreet.release import CONFIDENTIAL, Release


@dataclass(frozen=True, eq=False, kw_only=True)
class Shown:
    """The cells of one published table. ``fixed`` are the finest codes of a population that is not an axis.

    >>> import discreet as dc
    >>> book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["1", "2"]),))
    >>> release = dc.protect(dc.Table.of([3, 8], list(book.dimensions)), dc.Round(5)).release()
    >>> Shown.of(release, book, {}, name="areas").values["count"].tolist()
    [10.0, 5.0, 10.0]
    """

    name: str
    unit: str
    source: str
    axes: tuple[Axis, ...]
    leaves: Mapping[str, int]
    """How many finest codes each of its axes, and each dimension of its population, has in the codebook."""
    fixed: Mapping[str, tuple[int, ...]]
    fixed_words: str
    cells: Array
    hidden: Array
    values: Mapping[str, Array]
    """In whole units of the last decimal; 0 where hidden."""
    decimals: Mapping[str, int]
    exact: bool | None
    """Whether the values shown are the true ones; None: nobody says, so they are set against nothing."""
    problem: str = ""
    """Why it cannot be set against other tables, if it cannot."""

    @classmethod
    def of(
        cls,
        release: Release,
        book: Codebook,
        population: Mapping[str, Sequence[str]],
        *,
        name: str,
        unit: str = "",
        source: str = "",
        filtered: bool = False,
        truthful: bool | None = None,
    ) -> Shown:
        """``filtered``: the release was cut out of a larger table, so that its own axes show whole categories.

        ``truthful``: whether its values are the true ones, for a release that does not say, such as one of a file.

        >>> import discreet as dc
        >>> book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["1", "2"]),))
        >>> release = dc.protect(dc.Table.of([3, 8], list(book.dimensions)), dc.Round(5)).release()
        >>> Shown.of(release, book, {}, name="areas").exact
        False
        """
        known = {d.name: d for d in book.dimensions}
        axes, problem = [], ""
        within = {n: _leaves(known[n], codes) for n, codes in population.items()}
        for dimension in release.dimensions:
            keep = None if filtered else within.get(dimension.name)
            axis = _axis(dimension, known[dimension.name], keep)
            if axis is None:
                problem = f"its categories of {dimension.name!r} are not those of the codebook"
            axes.append(axis or Axis(dimension.name, dimension.codes, (), ()))
        inside = {d.name for d in release.dimensions}
        fixed = {n: tuple(sorted(leaves)) for n, leaves in within.items() if n not in inside}
        gone = np.asarray(release.status == CONFIDENTIAL)
        return cls(
            name=name,
            unit=unit or name,
            source=source,
            axes=tuple(axes),
            fixed=fixed,
            leaves={n: len(known[n].leaves) for n in (*(d.name for d in release.dimensions), *fixed)},
            fixed_words=", ".join(f"{n}={'|'.join(population[n])}" for n in fixed),
            cells=np.asarray(release.codes),
            hidden=gone,
            values={m: _units(v, release.decimals[m]) for m, v in release.values.items()},
            decimals=dict(release.decimals),
            problem=problem,
            exact=release.truthful if truthful is None else truthful,
        )

    def words(self, cell: int) -> str:
        """A cell by its codes, totals left out.

        >>> import discreet as dc
        >>> book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["1", "2"]),))
        >>> release = dc.protect(dc.Table.of([3, 8], list(book.dimensions)), dc.Round(5)).release()
        >>> table = Shown.of(release, book, {}, name="areas")
        >>> table.words(0), table.words(1)
        ('all', 'area=1')
        """
        said = [
            f"{axis.name}={axis.codes[code]}"
            for axis, code in zip(self.axes, self.cells[cell], strict=True)
            if code != axis.total
        ]
        return ", ".join([*said, *([self.fixed_words] if self.fixed_words else [])]) or "all"

    def to_bytes(self) -> bytes:
        """For a file that ``from_bytes`` reads back.

        >>> import discreet as dc
        >>> book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["1", "2"]),))
        >>> release = dc.protect(dc.Table.of([3, 8], list(book.dimensions)), dc.Round(5)).release()
        >>> table = Shown.of(release, book, {}, name="areas")
        >>> Shown.from_bytes(table.to_bytes()).name
        'areas'
        """
        head: dict[str, Any] = {
            k: getattr(self, k) for k in ("name", "unit", "source", "fixed_words", "exact", "problem")
        }
        head |= {
            "fixed": dict(self.fixed),
            "leaves": dict(self.leaves),
            "decimals": dict(self.decimals),
            "axes": [asdict(a) for a in self.axes],
        }
        arrays = {f"value {k}": v for k, v in enumerate(self.values.values())}
        meta = np.frombuffer(json.dumps({**head, "measures": list(self.values)}).encode(), np.uint8)
        out = io.BytesIO()
        np.savez_compressed(out, meta=meta, cells=self.cells, hidden=self.hidden, **arrays)  # type: ignore[arg-type]
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Shown:
        """What ``to_bytes`` wrote.

        >>> import discreet as dc
        >>> book = dc.Codebook(dimensions=(dc.Dimension.flat("area", ["1", "2"]),))
        >>> release = dc.protect(dc.Table.of([3, 8], list(book.dimensions)), dc.Round(5)).release()
        >>> table = Shown.of(release, book, {}, name="areas")
        >>> Shown.from_bytes(table.to_bytes()).values["count"].tolist()
        [10.0, 5.0, 10.0]
        """
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            head = json.loads(held["meta"].tobytes())
            values = {m: held[f"value {k}"] for k, m in enumerate(head.pop("measures"))}
            cells, hidden = held["cells"], held["hidden"]
        axes = tuple(
            Axis(
                a["name"],
                tuple(a["codes"]),
                tuple(tuple(p) for p in a["parts"]),
                tuple((p, tuple((c, s) for c, s in parts)) for p, parts in a["sums"]),
                a["total"],
                a["virtual"],
            )
            for a in head.pop("axes")
        )
        fixed = {n: tuple(leaves) for n, leaves in head.pop("fixed").items()}
        return cls(axes=axes, fixed=fixed, cells=cells, hidden=hidden, values=values, **head)


def _units(values: Array, decimals: int) -> Array:
    return np.asarray(np.rint(np.nan_to_num(np.asarray(values, float)) * 10.0**decimals))


def _leaves(dimension: Dimension, codes: Sequence[str]) -> set[int]:
    return {dimension.leaf_position[leaf] + 1 for code in codes for leaf in dimension.leaves_of(code)}


def _axis(dimension: Dimension, known: Dimension, within: set[int] | None) -> Axis | None:
    """A dimension of a release in the finest codes of the codebook; None if it has categories of its own."""
    if not all(leaf in known.position for leaf in dimension.leaves):
        return None
    finest = {leaf: known.leaves_of(leaf) for leaf in dimension.leaves}
    held = [leaf for parts in finest.values() for leaf in parts]
    if len(held) != len(set(held)) or set(held) != set(known.leaves):
        return None
    codes, parts = list(dimension.codes), []
    for code in codes:
        places = [
            (known.leaf_position[leaf] + 1) * sign
            for part, sign in dimension.leaves_of(code).items()
            for leaf in finest[part]
        ]
        parts.append(tuple(sorted(p for p in places if within is None or abs(p) in within)))
    position = dimension.position
    sums = [(position[c], tuple((position[p], s) for p, s in of)) for c, of in dimension.relations]
    if dimension.total is not None:
        return Axis(dimension.name, tuple(codes), tuple(parts), tuple(sums), position[dimension.total])
    every = [position[leaf] for leaf in dimension.leaves]
    whole = tuple(sorted(p for leaf in every for p in parts[leaf]))
    sums.append((len(codes), tuple((leaf, 1) for leaf in every)))
    return Axis(dimension.name, (*codes, ""), (*parts, whole), tuple(sums), len(codes), True)
