"""What the world may see: a Release has no field in which a true value could stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.files import TEXT, check_suffix, write_whole
from discreet.base.naming import STATUS, beside, heads
from discreet.data.dimension import Dimension
from discreet.errors import InputError, nearest
from discreet.release.noise_law import NoiseLaw, ShownCells
from discreet.release.status import AS_IT_IS, CONFIDENTIAL, OPEN
from discreet.release.sum_errors import SumErrors
from discreet.release.table_words import NO_WORDS, TableWords
from discreet.tables import display
from discreet.tables.means import Means
from discreet.tables.published import Published, of_raw, read_published
from discreet.tables.quotients import Quotient, kept_quotients
from discreet.tables.reading.number_cells import NumberSigns
from discreet.tables.reading.number_marks import NumberMarks
from discreet.tables.reading.parquet_file import arrow_table
from discreet.tables.reading.raw_table import NOT_AVAILABLE
from discreet.tables.row_order import order_note, order_pairs, ordered_lines
from discreet.tables.totals import Totals

if TYPE_CHECKING:
    import pandas as pd

    from discreet.data.codebook import Codebook

_LINES = 1 << 16  # of CSV written at a time, so that the text of a large table never stands in memory as objects


@checked
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release:
    """What the world may see: codes, published values (missing where hidden), one mark for every hidden cell.

    >>> import discreet as dc
    >>> table = dc.Table.of([[3, 8], [16, 23]], ["age", "sex"])
    >>> dc.protect(table, dc.Round(5)).release(title="People").to_csv().decode().splitlines()[:2]
    ['age,sex,count,status', 'Total,Total,50,']
    """

    dimensions: tuple[Dimension, ...]
    codes: Array
    values: Mapping[str, Array]
    decimals: Mapping[str, int]
    status: Array
    method: str
    title: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    words: TableWords = NO_WORDS
    """What it is about, what its measures are called and in which units they are, where somebody said it."""
    truthful: bool | None = None
    """Whether its method says that every value shown is the true one, or changed; None: it does not say."""
    doubts: tuple[str, ...] = ()
    """What of its sums the file it was read from does not tell, in words; an audit of it is no pass then."""
    ranges: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    """Per measure of a table that others published the least and greatest value where a range (<5) stands for one,
    else minus infinity and infinity."""
    assumed: tuple[str, ...] = ()
    """What was taken as so when it was read from a file, a sentence for each, with the option that says otherwise."""
    quotients: Mapping[str, tuple[Quotient, ...]] = field(default_factory=dict)
    """Per measure the percentages that stand beside its numbers in a table that others published."""
    means: Mapping[str, tuple[Means, ...]] = field(default_factory=dict)
    """Per measure the means that stand beside its counts in a table that others published."""
    from_one: bool = False
    """Whether a count that is not shown is taken to be 1 at least, as zeros are shown or nothing says that they are
    hidden: so of a file that does not say it."""
    file: str = ""
    """The file that it was read from beside other tables."""
    noise: NoiseLaw | None = None
    """What the method's published parameters say of true values behind shown counts, where it says something."""
    fixed: tuple[tuple[Dimension, str], ...] = ()
    """The variables that fell away because all cells have one code of them, with that code."""
    in_order: bool = False
    """Whether its rows are said to be sorted by their counts: columns that seem to be are so in hidden cells, too."""

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def cells(self) -> pd.DataFrame:
        """One row per cell: codes, values and status ('c' where a value is confidential)."""
        import pandas as pd

        frame = pd.DataFrame(
            {
                d.name: pd.Categorical.from_codes(self.codes[:, k], categories=pd.Index(d.codes))
                for k, d in enumerate(self.dimensions)
            }
        )
        numbers = {
            name: values if self.decimals[name] else pd.array(np.asarray(values), dtype="Int64")
            for name, values in self.values.items()
        }
        return beside(frame, {**numbers, STATUS: self.status})

    @property
    def as_it_is(self) -> bool:
        """Whether nothing was done to protect anybody."""
        return self.method == AS_IT_IS

    @property
    def marked(self) -> Array:
        """Which cells are marked as confidential."""
        return np.asarray(self.status == CONFIDENTIAL)

    @property
    def left(self) -> dict[str, Array]:
        """Per measure the cells that are marked as confidential and hold a value all the same, where there are any.

        What discreet releases has none; a table that was published by others may.
        """
        shown = {name: self.marked & np.isfinite(values) for name, values in self.values.items()}
        return {name: cells for name, cells in shown.items() if cells.any()}

    def ordered_rows(self, measure: str) -> Array:
        """Pairs of rows, the first with a count not less than the second's, where rows are said to be sorted.

        >>> import pandas as pd
        >>> wards = pd.DataFrame({"ward": list("ABCD"), "count": [90, 50, 20, None], "status": ["", "", "", "c"]})
        >>> replace(Release.of_frame(wards), in_order=True).ordered_rows("count").tolist()
        [[0, 1], [1, 2], [2, 3]]
        """
        return order_pairs(ordered_lines(self.dimensions, self.codes, self.values[measure]) if self.in_order else [])

    def least_hidden(self, measure: str) -> Array:
        """Per row the least that a count which is not shown is taken to be; minus infinity where nothing is.

        >>> import pandas as pd
        >>> wards = pd.DataFrame({"ward": ["A", "B", "All"], "count": [90, None, 92], "status": ["", "c", ""]})
        >>> Release.of_frame(wards, total="All").least_hidden("count").tolist()
        [-inf, 1.0, -inf]
        """
        values = np.asarray(self.values[measure], float)
        nothing = np.full(len(values), -np.inf)
        if not self.from_one or self.decimals[measure] or bool((values[~self.marked] < 0).any()):
            return nothing
        return np.where(np.isnan(values) & (self.status != NOT_AVAILABLE), 1.0, nothing)

    def likely(self, measure: str = "count") -> tuple[Array, Array] | None:
        """The range that holds each true value with a chance of 90 %, by the method alone; None if it says nothing.

        NaN where a value is hidden or nothing can be said.

        >>> import discreet as dc
        >>> policy = dc.policy.parse_policy('[[method]]\\nname = "random-round"\\nbase = 5\\nseed = 1')
        >>> release = dc.answer(dc.datasets.census(500), "sex", policy)
        >>> [side.tolist() for side in (release.values["count"], *release.likely())]
        [[500.0, 230.0, 270.0], [496.0, 226.0, 266.0], [504.0, 234.0, 274.0]]
        """
        cells = self._shown_cells(measure)
        return None if self.noise is None or cells is None else self.noise.ranges(cells)

    def errors(self, measure: str = "count") -> SumErrors | None:
        """What each cell adds to the likely range of a sum of cells; None if the method says nothing of sums.

        >>> import discreet as dc
        >>> policy = dc.policy.parse_policy('[[method]]\\nname = "random-round"\\nbase = 5\\nseed = 1')
        >>> type(dc.answer(dc.datasets.census(500), "age", policy).errors()).__name__
        'SumErrors'
        """
        cells = self._shown_cells(measure)
        return None if self.noise is None or cells is None else self.noise.errors(cells)

    def likely_sum(self, rows: Array, measure: str = "count") -> tuple[float, float] | None:
        """The range that holds the true sum of some cells, none within another, with a chance of 90 %.

        None if the method says nothing of sums or one of the cells is hidden.

        >>> import discreet as dc
        >>> policy = dc.policy.parse_policy('[[method]]\\nname = "random-round"\\nbase = 5\\nseed = 1')
        >>> release = dc.answer(dc.datasets.census(500), "age", policy)
        >>> release.likely_sum(np.array([1, 2, 3])), float(release.values["count"][1:4].sum())
        ((80.0, 100.0), 90.0)
        """
        ranges, errors = self.likely(measure), self.errors(measure)
        values = np.asarray(self.values[measure], float)
        if ranges is None or errors is None or np.isnan(values[rows]).any():
            return None
        return errors.range_of(np.asarray(rows), values, ranges, whole=self.decimals[measure] == 0)

    def _shown_cells(self, measure: str) -> ShownCells | None:
        """The cells as a law of noise takes them; None of what no law is about."""
        if measure not in ("count", "weighted count"):
            return None
        return ShownCells(self.dimensions, self.codes, np.asarray(self.values[measure], float), self.fixed)

    def check_marked(self) -> None:
        """Refuse to hand on a value that is marked as confidential.

        >>> import pandas as pd
        >>> wards = pd.DataFrame({"ward": ["A", "B", "All"], "count": [90, 2, 92], "status": ["", "c", ""]})
        >>> Release.of_frame(wards, total="All").check_marked()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        discreet.errors.InputError: cells are marked as confidential (c) and still hold a value...
        """
        if left := self.left:
            many = int(np.logical_or.reduce(list(left.values())).sum())
            raise InputError(
                f"cells are marked as confidential ({CONFIDENTIAL}) and still hold a value of "
                f"{', '.join(map(repr, left))}, {many:,} of them; nothing is written: remove the values"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON.

        >>> import discreet as dc
        >>> dc.protect(dc.Table.of([3, 8], ["sex"]), dc.Round(5)).release().to_dict()["values"]
        {'count': [10, 5, 10]}
        """
        self.check_marked()
        return self._plain()

    def _plain(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "source": self.source,
            "method": self.method,
            "notes": list(self.notes),
            "dimensions": [
                {"name": d.name, "codes": list(d.codes), "labels": dict(d.labels), "total": d.total}
                for d in self.dimensions
            ],
            "cells": self.codes.tolist(),
            "values": {
                name: [None if v != v else v if self.decimals[name] else int(v) for v in values.tolist()]
                for name, values in self.values.items()
            },
            "status": self.status.tolist(),
        }

    def to_csv(self, path: str | Path | None = None) -> bytes:
        """Codes, values and status as RFC 4180 CSV in UTF-8; hidden values are empty. Written if a path is given.

        >>> import discreet as dc
        >>> dc.protect(dc.Table.of([3, 8], ["sex"]), dc.Redact(9)).release().to_csv().decode().split()
        ['sex,count,status', 'Total,11,', '1,,c', '2,,c']
        """
        check_suffix(path, TEXT, "a CSV")
        self.check_marked()
        data = b"".join([csv_head(self), *csv_pieces(self)])
        if path is not None:
            write_whole(path, data)
        return data

    def only(self, name: str, codes: Sequence[str]) -> Release:
        """The cells with one of some codes; a dimension left with a single code falls away if others remain.

        >>> import discreet as dc
        >>> dc.protect(dc.Table.of([[3, 8], [16, 23]], ["age", "sex"]), dc.Round(5)).release().only("sex", ["2"])
        Release(age: 3 cells, 0 not shown; count)
        """
        names = [d.name for d in self.dimensions]
        if name not in names:
            raise InputError(f"no dimension {name!r}; {nearest(name, names)}")
        axis = names.index(name)
        wanted = np.zeros(len(self.dimensions[axis].codes), bool)
        wanted[[self.dimensions[axis].index(c) for c in codes]] = True
        keep = wanted[self.codes[:, axis]]
        drop = len(codes) == 1 and len(names) > 1
        kept = [k for k in range(len(names)) if not (drop and k == axis)]
        fallen = ((self.dimensions[axis], codes[0]),) if drop else ()
        return replace(
            self,
            dimensions=tuple(self.dimensions[k] for k in kept),
            fixed=(*self.fixed, *fallen),
            codes=read_only(self.codes[keep][:, kept]),
            values={n: read_only(v[keep]) for n, v in self.values.items()},
            status=read_only(self.status[keep]),
            quotients={n: kept_quotients(some, keep) for n, some in self.quotients.items()},
            means={n: tuple(one.kept(keep) for one in some) for n, some in self.means.items()},
        )

    @classmethod
    def read_csv(
        cls, path: str | Path, *, codebook: Codebook | None = None, measures: int | None = None, total: Totals = None
    ) -> Release:
        """A table that ``to_csv`` wrote: dimensions, then ``measures`` columns of numbers, then the status.

        There is one column of numbers unless stated; where another seems to be one, it is asked.
        The codes are those of the file in their order; a codebook gives them order, total and labels. ``total`` says
        which code is the total, as in ``Table.of``; otherwise it is found, hidden cells allowed for.

        >>> import discreet as dc, tempfile
        >>> release = dc.protect(dc.Table.of([[3, 8], [16, 23]], ["age", "sex"]), dc.Round(5)).release()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = release.to_csv(f"{folder}/people.csv")
        ...     Release.read_csv(f"{folder}/people.csv").values["count"].tolist() == release.values["count"].tolist()
        True
        """
        return cls.of_file(read_published(Path(path), codebook, measures, total))

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        codebook: Codebook | None = None,
        measures: int | None = None,
        total: Totals = None,
        decimal: str | None = None,
        thousands: str | None = None,
        marks: Mapping[str, str] | NumberMarks | None = None,
    ) -> Release:
        r"""A published table of a file in any format that ``discreet.write`` writes, by its suffix.

        A CSV may have any separator and no status; marks (c, x, ..) and ranges (<5: 1 to 4) may stand in place of
        numbers. Where numbers can be read in two ways, ``decimal`` and ``thousands`` say how. ``marks`` says what
        others stand for: "suppressed", "zero", "unavailable", "flag" (behind a number), or a range such as "1-4".

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = Path(folder, "people.csv").write_text("area;people\nN;<5\nS;12\nTotal;15\n")
        ...     Release.read(f"{folder}/people.csv")
        Release(area: 3 cells, 1 not shown; people)
        """
        stated = marks if isinstance(marks, NumberMarks) else NumberMarks(marks or {})
        signs = NumberSigns(decimal, thousands, stated)
        return cls.of_file(read_published(Path(path), codebook, measures, total, signs=signs))

    @classmethod
    def of_frame(cls, frame: Any, *, codebook: Codebook | None = None, total: Totals = None) -> Release:
        """A published table of a frame: columns of codes as text, then numbers, then perhaps the status.

        >>> import pandas as pd
        >>> wards = pd.DataFrame({"ward": ["A", "B", "All"], "count": [90, None, 92], "status": ["", "c", ""]})
        >>> Release.of_frame(wards, total="All")
        Release(ward: 3 cells, 1 not shown; count)
        """
        import pyarrow as pa

        arrow = frame.to_arrow() if hasattr(frame, "to_arrow") else pa.Table.from_pandas(frame, preserve_index=False)
        return cls.of_file(of_raw(arrow_table("the frame", arrow), codebook, total))

    @classmethod
    def of_file(cls, published: Published) -> Release:
        r"""What a file held of a release; it does not say how the table was protected.

        A count that it does not show is 1 at least, unless zeros are said to be hidden or a range of it begins at 0.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = Path(folder, "people.csv").write_text("area,count,status\nN,,c\nS,12,\nTotal,15,\n")
        ...     release = Release.of_file(read_published(Path(folder, "people.csv"), None, None, None))
        >>> release.assumed[-1].split(",")[0]
        'a count that is not shown is taken as 1 at least'
        """
        zeros_hidden = published.zeros_hidden or any(bool((low == 0).any()) for low, _ in published.ranges.values())
        release = cls(
            dimensions=published.dimensions,
            codes=published.codes,
            values=published.values,
            decimals=published.decimals,
            status=published.status,
            method=published.words.get("method", ""),
            title=published.words.get("title", ""),
            source=published.words.get("source", ""),
            notes=published.notes,
            doubts=published.doubts,
            ranges=published.ranges,
            assumed=published.assumed,
            from_one=not zeros_hidden,
        )
        told = () if zeros_hidden else _from_one(release)
        for name, values in published.values.items():
            if not published.decimals[name] and (lines := ordered_lines(release.dimensions, release.codes, values)):
                told += (order_note(release.dimensions, lines),)
        return replace(release, assumed=(*release.assumed, *dict.fromkeys(told)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        return self.dimensions == other.dimensions and self._plain() == other._plain()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = " x ".join(d.name for d in self.dimensions)
        gone = int((self.status == CONFIDENTIAL).sum())
        return f"Release({names}: {len(self):,} cells, {gone:,} not shown; {', '.join(self.values)})"

    def __str__(self) -> str:
        return display.text(self.dimensions, self.codes, self.values[next(iter(self.values))])

    def _repr_html_(self) -> str:
        measure = next(iter(self.values))
        caption = f"{self.title or measure}. {self.method}"
        return display.html(self.dimensions, self.codes, self.values[measure], caption=caption)


def _from_one(release: Release) -> tuple[str, ...]:
    """What is said of counts that are not shown and taken to be 1 at least."""
    for name, values in release.values.items():
        ranged = np.isfinite(release.ranges[name][0]) if name in release.ranges else np.zeros(len(release), bool)
        if (np.isfinite(release.least_hidden(name)) & ~ranged).any():
            zero = bool((np.asarray(values, float) == 0).any())
            why = "as zeros are shown" if zero else "the worse case, as nothing says whether zeros are hidden"
            return (f"a count that is not shown is taken as 1 at least, {why}; if it may be 0, say --zeros-hidden",)
    return ()


def csv_pieces(release: Release) -> Iterator[bytes]:
    """The lines of ``Release.to_csv`` after the head, some thousand at a time."""
    codes = [_quoted_codes(d.codes) for d in release.dimensions]
    for start in range(0, len(release), _LINES):
        yield _csv_lines(release, codes, slice(start, start + _LINES))


def csv_head(release: Release) -> bytes:
    """The first line of ``Release.to_csv``."""
    names = heads([d.name for d in release.dimensions], release.values)
    return (",".join(_quoted(n) for n in names) + "\r\n").encode()


@lru_cache(maxsize=256)
def _quoted_codes(codes: tuple[str, ...]) -> Any:
    """The codes of a dimension as CSV fields: a code is quoted once, however many cells have it."""
    import pyarrow as pa

    return pa.array([_quoted(c) for c in codes], pa.string())


def _csv_lines(release: Release, codes: list[Any], rows: slice) -> bytes:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for k, quoted in enumerate(codes):
        columns.append(pa.DictionaryArray.from_arrays(release.codes[rows, k], quoted).cast(pa.string()))
    for name in release.values:
        values, digits = release.values[name][rows], release.decimals[name]
        numbers = pa.array(values, mask=np.isnan(values))
        exact = numbers.cast(pa.decimal128(38, digits), safe=False) if digits else numbers.cast(pa.int64())
        columns.append(exact.cast(pa.string()).fill_null("") if exact.null_count else exact.cast(pa.string()))
    marks = release.status[rows]
    open_ = not (marks != OPEN).any()
    columns.append(pa.scalar(OPEN) if open_ else pa.array(marks.astype(object), pa.string()))
    lines = pc.binary_join_element_wise(*columns, ",")
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\r\n")
    return bytes(joined[0].as_buffer()) + b"\r\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def read_only(array: Array) -> Array:
    """The same array, which nobody can write to."""
    array.setflags(write=False)
    return array
