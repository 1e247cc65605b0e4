"""Which lines of a table give an attribute away: Frank's patterns and the measures of the 2011 UK census.

A line runs along ``axis``: for a matrix axis=1 (the default, the last) looks at the rows, axis=0 at the columns. With
``batch=1`` the first axis numbers tables of one shape, and results hold one number a table.
[PSD14]_ is Antal, Shlomo & Elliot 2014, section 3.9 of the thesis [Ant16]_; [Fra76]_ is O. Frank 1976, as section
2.3.2.2.1 of the thesis gives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import Array, FloatOrArray, read_counts, same_shape, tables

if TYPE_CHECKING:
    import pandas as pd

Lines = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FrankPatterns:
    """One truth value a line, in the shape of the table without the axis. ``pair`` implies ``singleton``.

    >>> patterns = frank_patterns([[0, 1, 0], [1, 0, 1], [1, 0, 5], [2, 2, 0]])
    >>> patterns.alone.tolist(), patterns.pair.tolist()
    ([True, False, False, False], [False, True, False, False])
    """

    alone: Lines
    pair: Lines
    singleton: Lines

    def summary(self) -> pd.DataFrame:
        """Number and share of lines with each pattern.

        >>> frank_patterns([[0, 1, 0], [1, 0, 1], [1, 0, 5], [2, 2, 0]]).summary()["lines"].to_dict()
        {'alone': 1, 'pair': 1, 'singleton': 2}
        """
        import pandas as pd  # half of this package's import time: only when a frame is asked for

        patterns = {"alone": self.alone, "pair": self.pair, "singleton": self.singleton}
        rows = [(name, int(lines.sum()), float(lines.mean())) for name, lines in patterns.items()]
        return pd.DataFrame(rows, columns=["pattern", "lines", "share"]).set_index("pattern")


@dataclass(frozen=True)
class Share:
    """``kept`` of ``at_risk`` lines or cells, 0 where none is at risk; numbers for one table, arrays for a batch.

    >>> share = gad_star([[0, 4], [2, 0]], [[0, 3], [3, 3]])
    >>> share.kept, share.at_risk, share.value
    (1, 2, 0.5)
    """

    value: FloatOrArray
    kept: int | Array
    at_risk: int | Array

    @classmethod
    def of(cls, kept: Lines, at_risk: Lines, shape: tuple[int, ...], batch: int) -> Share:
        """The quotient, 0 for 0/0, of the lines of each table; the first ``batch`` axes of ``shape`` number them.

        >>> Share.of(np.array([True, False, False]), np.array([True, True, False]), (3,), 0)
        Share(value=0.5, kept=1, at_risk=2)
        """
        if not 0 <= batch < len(shape) + 1:
            raise InputError(f"batch={batch}: give how many leading axes number the tables")
        tables_ = shape[:batch]
        k, n = (x.reshape(*tables_, -1).sum(axis=-1) for x in (kept, at_risk))
        value = np.divide(k, n, out=np.zeros(np.shape(n)), where=n > 0)
        return cls(value, k, n) if batch else cls(float(value), int(k), int(n))


@checked
def frank_patterns(counts: Any, *, axis: int = -1) -> FrankPatterns:
    """The three row patterns that disclose [Fra76]_.

    ``alone``: one unit in the line; who finds it learns its category. ``pair``: two units in two cells; each learns
    the other's. ``singleton``: two populated cells, at least one of them a 1; that unit learns the category of all
    others.

    >>> frank_patterns([[0, 1, 0], [1, 0, 1], [1, 0, 5], [2, 2, 0]]).singleton
    array([False,  True,  True, False])
    """
    array = read_counts(counts)
    rows, batch = tables(array, axis)
    total, filled = rows.sum(axis=1), np.count_nonzero(rows, axis=1)
    singleton = _singleton(rows)
    return FrankPatterns(
        alone=(total == 1).reshape(batch),
        pair=((total == 2) & (filled == 2)).reshape(batch),
        singleton=singleton.reshape(batch),
    )


@checked
def gad(before: Any, after: Any, stayed: Any, *, axis: int = -1, batch: int = 0) -> Share:
    """Group attribute disclosure that survives a pre-tabular method: GAD of section 4 of [PSD14]_.

    Of the lines with one populated cell before, those with the same single cell after *and* the same units in it.
    ``stayed`` is the number of units of each cell that are in it before and after (from the microdata).

    >>> gad([[0, 3], [2, 0]], [[0, 3], [2, 0]], [[0, 3], [1, 0]])
    Share(value=0.5, kept=1, at_risk=2)
    """
    (f, g, same), shape = _alike(axis, before=before, after=after, stayed=stayed)
    one = np.count_nonzero(f, axis=1) == 1
    return Share.of(one & _unmoved(f, g, same), one, shape, batch)


@checked
def gad_star(before: Any, after: Any, *, axis: int = -1, batch: int = 0) -> Share:
    """GAD* of section 4 of [PSD14]_, for post-tabular methods: the same single cell is populated before and after.

    >>> gad_star([[0, 4], [2, 0]], [[0, 3], [3, 3]])
    Share(value=0.5, kept=1, at_risk=2)
    """
    (f, g), shape = _alike(axis, before=before, after=after)
    one = np.count_nonzero(f, axis=1) == 1
    return Share.of(one & ((f > 0) == (g > 0)).all(axis=1), one, shape, batch)


@checked
def wgad(before: Any, after: Any, stayed: Any, *, axis: int = -1, batch: int = 0) -> Share:
    """Within-group attribute disclosure that survives: WGAD of section 4 of [PSD14]_.

    Of the lines with two populated cells, one of them a 1, those with the same units in the same two cells after.

    >>> wgad([[1, 3], [1, 4]], [[1, 3], [1, 4]], [[1, 3], [0, 4]])
    Share(value=0.5, kept=1, at_risk=2)
    """
    (f, g, same), shape = _alike(axis, before=before, after=after, stayed=stayed)
    two = _singleton(f)
    return Share.of(two & _unmoved(f, g, same), two, shape, batch)


@checked
def wgad_star(before: Any, after: Any, *, axis: int = -1, batch: int = 0) -> Share:
    """WGAD* of section 4 of [PSD14]_: the same two cells are populated before and after, with a 1 both times.

    >>> wgad_star([[1, 3], [1, 4]], [[1, 5], [3, 3]])
    Share(value=0.5, kept=1, at_risk=2)
    """
    (f, g), shape = _alike(axis, before=before, after=after)
    two = _singleton(f)
    return Share.of(two & _singleton(g) & ((f > 0) == (g > 0)).all(axis=1), two, shape, batch)


@checked
def dr(before: Any, after: Any, *, batch: int = 0) -> Share:
    """Share of the ones and twos of the perturbed table that are true: DR of section 4 of [PSD14]_.

    >>> dr([1, 2, 2, 7], [1, 1, 2, 7]).value
    0.6666666666666666
    """
    f, g = read_counts(before, "before"), read_counts(after, "after")
    same_shape(f, g)
    small = (g == 1) | (g == 2)
    return Share.of(small & (f == g), small, f.shape, batch)


def _singleton(rows: Array) -> Lines:
    out: Lines = (np.count_nonzero(rows, axis=1) == 2) & (rows == 1).any(axis=1)
    return out


def _unmoved(f: Array, g: Array, stayed: Array) -> Lines:
    out: Lines = ((f == g) & (f == stayed)).all(axis=1)
    return out


def _alike(axis: int, **arrays: Any) -> tuple[list[Array], tuple[int, ...]]:
    """The lines of several arrays of one shape as rows, and that shape without the axis of the lines."""
    read = [read_counts(array, name) for name, array in arrays.items()]
    for other in read[1:]:
        same_shape(read[0], other)
    rows = [tables(array, axis) for array in read]
    return [r for r, _ in rows], rows[0][1]
