"""Tables too large to be held: counted, protected and written some cells at a time, to the same bytes as in one go.

The cells are cut where they stand in the file: a part is a run of codes of one dimension, at one code of every
dimension before it and all codes of those behind. The records of a part are counted when its turn comes. A total or a
group of the cut dimension is a part like any other: the sum of the true counts and keys of its codes, taken before
anything is perturbed. Only a method that looks at one cell at a time (``cellwise``) can work like this.
"""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import formats
from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.arguments import whole as check_whole
from discreet.base.files import whole_file
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.engines.protocol import CountedGroups
from discreet.errors import InputError, listed
from discreet.formats.growing import check_growing, growing
from discreet.methods import cellwise
from discreet.methods.contract import Method, contract_of, protect, title
from discreet.release import Release
from discreet.tables.additive import Additive
from discreet.tables.layout import Layout
from discreet.tables.table import Table
from discreet.tables.tabulation import group_statistics

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Where = Mapping[str, str | Sequence[str]]

CELLS = 1_000_000  # of a part: some 300 MB while it is protected
_KEPT = 2  # answers of the engine, as neighbouring parts ask for the same records


@checked
def protect_in_parts(
    data: Microdata,
    by: Sequence[str] | str,
    method: Method,
    path: str | Path,
    *,
    value: str | None = None,
    where: Where | None = None,
    title: str | None = None,
    source: str | None = None,
    notes: Sequence[str] = (),
    format: str | None = None,
    cells: int = CELLS,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the protected table of records, CSV or Parquet, with at most some ``cells`` of it in memory at a time.

    The file is the one that ``write(protect(tabulate(data, by, ...), method).release(...), path)`` makes, byte for
    byte, and is there whole or not at all. ``method`` must look at one cell at a time: rounding, cell keys.

    >>> import tempfile
    >>> import discreet as dc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = protect_in_parts(dc.datasets.census(500), ["sex", "age"], dc.Round(5), Path(folder) / "out.csv")
    ...     path.read_text().splitlines()[0]
    'sex,age,count,status'
    """
    parts = Parts.of(data, by, value=value, where=where, cells=cells)
    words = {"title": title, "source": source, "notes": tuple(notes)}
    name = formats.chosen_format(path, format)
    check_growing(name)
    done = 0
    with whole_file(path) as file:
        out = growing(name, file)
        for release in releases(parts, method, **words):
            out.add(release)
            done += len(release)
            if progress is not None:
                progress(done, len(parts))
        out.close()
    return Path(path)


def releases(parts: Parts, method: Method, **words: Any) -> Iterator[Release]:
    """The protected table, part by part; ``words`` as for ``Protected.release``."""
    check_cellwise(method)
    return (protect(table, method).release(**words) for table in parts)


def check_cellwise(method: Any) -> None:
    """Refuse a method that needs the whole table."""
    if not contract_of(method).cellwise:
        raise InputError(
            f"{title(method)} needs the whole table: what becomes of a cell depends on others; part by part only "
            f"methods that look at one cell at a time: {listed(cellwise())}"
        )


@checked
@dataclass(frozen=True, eq=False)
class Parts:
    """The table of some microdata as an iterable of Tables that hold the published cells of one part each.

    ``dimensions`` are the published ones, perhaps at a coarser level than the records' own (``Dimension.at_level``).

    >>> import discreet as dc
    >>> parts = Parts.of(dc.datasets.census(500), ["sex", "age"], cells=10)
    >>> sum(len(part) for part in parts)
    66
    """

    data: Microdata
    dimensions: tuple[Dimension, ...]
    value: str | None = None
    where: Where = field(default_factory=dict)
    cells: int = CELLS
    _kept: OrderedDict[Any, CountedGroups] = field(default_factory=OrderedDict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        data: Microdata,
        by: Sequence[str] | str,
        *,
        levels: Mapping[str, str] | None = None,
        value: str | None = None,
        where: Where | None = None,
        cells: int = CELLS,
    ) -> Parts:
        """The table of ``tabulate(data, by, value=value, where=where).at_levels(**levels)``, in parts.

        >>> import discreet as dc
        >>> len(Parts.of(dc.datasets.census(500), ["sex", "age"])), Parts.of(dc.datasets.census(500), "sex").dimensions
        (66, (Dimension('sex': 2 leaves, 3 codes, total 'Total'),))
        """
        names = [by] if isinstance(by, str) else list(by)
        known = levels or {}
        dimensions = [data.dimension(name).at_level(known.get(name, name)) for name in names]
        return cls(data, tuple(dimensions), value, dict(where or {}), cells)

    def __post_init__(self) -> None:
        names = [d.name for d in self.dimensions]
        if not names or len(set(names)) < len(names):
            raise InputError(f"name every dimension of the table once: {listed(names)}")
        check_whole("cells", self.cells, 1)
        if self.data.codebook.structural_zeros(names) is not None:
            raise InputError(
                f"the codebook declares structural zeros of {' x '.join(names)}, which a part does not know; "
                "make the table in one go, or with fewer dimensions"
            )
        if math.prod(len(d.codes) for d in self.dimensions) >= 2**62:
            raise InputError(f"{' x '.join(names)} has more cells than can be numbered; take fewer dimensions")

    def __len__(self) -> int:
        """How many cells the table has."""
        return math.prod(len(d.codes) for d in self.dimensions)

    def __iter__(self) -> Iterator[Table]:
        for block in self._blocks():
            yield self._table(block)

    # -- where to cut -------------------------------------------------------------------------------------------

    @cached_property
    def axis(self) -> int:
        """The dimension that is cut: the first whose codes have few enough cells each."""
        for k in range(len(self.dimensions)):
            if self._behind(k) <= self.cells:
                return k
        return len(self.dimensions) - 1

    def _behind(self, axis: int) -> int:
        return math.prod(len(d.codes) for d in self.dimensions[axis + 1 :])

    def _blocks(self) -> Iterator[tuple[Array, ...]]:
        """Code positions taken from each dimension, part by part, in the order of the cells."""
        step = max(self.cells // self._behind(self.axis), 1)
        behind = [np.arange(len(d.codes)) for d in self.dimensions[self.axis + 1 :]]
        codes = np.arange(len(self.dimensions[self.axis].codes))
        for fixed in itertools.product(*(range(len(d.codes)) for d in self.dimensions[: self.axis])):
            for start in range(0, len(codes), step):
                yield (*(np.array([c]) for c in fixed), codes[start : start + step], *behind)

    # -- a part -------------------------------------------------------------------------------------------------

    def _table(self, block: tuple[Array, ...]) -> Table:
        run, behind = block[self.axis], self.dimensions[self.axis + 1 :]
        own = self.dimensions[self.axis]
        part = Dimension.flat("part", [own.codes[c] for c in run], total=None)
        small = Layout((part, *behind), ((np.arange(len(run)), *block[self.axis + 1 :]),))
        sums, decimals, measure = self._sums(block, math.prod(small.shape))
        layout = Layout(self.dimensions, (block,))
        statistics = {
            name: Additive(np.empty(0, inner.dtype), small.aggregate(inner), decimals[name])
            for name, inner in sums.items()
        }
        book = self.data.codebook
        return Table(layout, statistics, measure, self.value, book.title, book.source)

    def _sums(self, block: tuple[Array, ...], size: int) -> tuple[dict[str, Array], dict[str, int], str]:
        """Every statistic of the run's codes crossed with the finest codes behind."""
        sums: dict[str, Array] = {}
        decimals: dict[str, int] = {}
        measure = ""
        member = self._members[self.axis][:, block[self.axis]].tocsr()
        for sign, fixed in self._fixed(block):
            for leaves in self._chunks(np.flatnonzero(np.diff(member.indptr))):
                groups = self._groups(fixed, leaves)
                statistics, measure = group_statistics(groups, self.value)
                to, row, signs = self._places(groups, member)
                for name, (values, digits) in statistics.items():
                    total = sums.setdefault(name, np.zeros(size, values.dtype))
                    decimals[name] = digits
                    taken = values[row]
                    np.add.at(total, to, np.where(sign * signs < 0, np.zeros_like(taken) - taken, taken))
        return sums, decimals, measure

    def _places(self, groups: CountedGroups, member: csr_array) -> tuple[Array, Array, Array]:
        """Where each group goes: the cell, the group, and the sign; a group goes to every code that holds it."""
        flat = np.zeros(len(groups), np.int64)
        sign = np.ones(len(groups), np.int64)
        for k in range(self.axis + 1, len(self.dimensions)):
            leaf = groups.codes[:, k - self.axis]
            place, own = self._finest[k]
            flat = flat * len(self.dimensions[k].leaves) + place[leaf]
            sign *= own[leaf]
        first = groups.codes[:, 0]
        many = np.diff(member.indptr)[first]
        row = np.repeat(np.arange(len(groups)), many)
        entry = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many) + member.indptr[first][row]
        behind = math.prod(len(d.leaves) for d in self.dimensions[self.axis + 1 :])
        return member.indices[entry].astype(np.int64) * behind + flat[row], row, member.data[entry] * sign[row]

    # -- records ------------------------------------------------------------------------------------------------

    def _fixed(self, block: tuple[Array, ...]) -> Iterator[tuple[int, dict[str, tuple[str, ...]]]]:
        """The records at the fixed codes, as filters: what a code adds, and by itself what a code takes away."""
        choices = []
        for k in range(self.axis):
            name = self.dimensions[k].name
            column = self._members[k][:, block[k]].toarray().ravel()
            leaves = np.array(self.data.dimension(name).leaves, object)
            sides = [(sign, tuple(leaves[column == sign])) for sign in (1, -1) if (column == sign).any()]
            choices.append([(sign, name, codes) for sign, codes in sides])
        for chosen in itertools.product(*choices):
            yield math.prod(sign for sign, _, _ in chosen), {name: codes for _, name, codes in chosen}

    def _chunks(self, wanted: Array) -> Iterator[tuple[str, ...]]:
        """The records' own codes of the cut dimension, so many at a time that the groups are few enough; cut at the
        same places for every part, so that neighbours ask the same."""
        names = [d.name for d in self.dimensions]
        behind = math.prod(len(self.data.dimension(name).leaves) for name in names[self.axis + 1 :])
        leaves = self.data.dimension(names[self.axis]).leaves
        step = len(leaves) if self._whole is not None else max(self.cells // behind, 1)
        for number in np.unique(wanted // step):
            yield leaves[number * step : (number + 1) * step]

    def _groups(self, fixed: Mapping[str, tuple[str, ...]], leaves: tuple[str, ...]) -> CountedGroups:
        """The inner cells of these records; the last answers are kept."""
        if self._whole is not None:
            return self._chosen(self._whole, fixed)
        names = [d.name for d in self.dimensions[self.axis :]]
        asked = (tuple(fixed.items()), leaves[0], leaves[-1])
        if asked not in self._kept:
            while len(self._kept) >= _KEPT:
                self._kept.popitem(last=False)
            where = self._filter({**fixed, names[0]: leaves})
            self._kept[asked] = self.data.base_cells(names, value=self.value, where=where)
        self._kept.move_to_end(asked)
        return self._kept[asked]

    @cached_property
    def _whole(self) -> CountedGroups | None:
        """All inner cells, where they are few enough to be held: then the records are read once."""
        names = [d.name for d in self.dimensions]
        if math.prod(len(self.data.dimension(name).leaves) for name in names) > self.cells:
            return None
        return self.data.base_cells(names, value=self.value, where=self.where)

    def _chosen(self, whole: CountedGroups, fixed: Mapping[str, tuple[str, ...]]) -> CountedGroups:
        """The inner cells at fixed codes, by the cut dimension and those behind it; a cell may come several times."""
        held = np.ones(len(whole), bool)
        for k, (name, codes) in enumerate(fixed.items()):
            position = self.data.dimension(name).leaf_position
            held &= np.isin(whole.codes[:, k], [position[code] for code in codes])
        taken: dict[str, Any] = {}
        for part in fields(CountedGroups):
            values = getattr(whole, part.name)
            if isinstance(values, np.ndarray):
                taken[part.name] = values[held]
        return replace(whole, **{**taken, "codes": taken["codes"][:, self.axis :]})

    def _filter(self, wanted: dict[str, tuple[str, ...]]) -> dict[str, Any]:
        """The part's own filters and the caller's together; one that lets everybody pass is left out."""
        where: dict[str, Any] = {n: c for n, c in wanted.items() if len(c) < len(self.data.dimension(n).leaves)}
        for name, codes in self.where.items():
            if name in wanted:
                allowed = set(self.data.finest(name, codes))
                where[name] = tuple(code for code in wanted[name] if code in allowed)
            else:
                where[name] = codes
        return where

    # -- codes --------------------------------------------------------------------------------------------------

    @cached_property
    def _members(self) -> list[Any]:
        """For each dimension the records' own codes x the published codes, with signs."""
        matrices = []
        for published in self.dimensions:
            own = self.data.dimension(published.name)
            level = own.matrix[:, [own.position[leaf] for leaf in published.leaves]]
            matrices.append(own.matrix if own == published else (level @ published.matrix).tocsc())
        return matrices

    @cached_property
    def _finest(self) -> dict[int, tuple[Array, Array]]:
        """Behind the cut: in which finest published code each of the records' codes is, and its sign."""
        finest = {}
        for k in range(self.axis + 1, len(self.dimensions)):
            published = self.dimensions[k]
            own = self.data.dimension(published.name)
            rows = own.matrix[:, [own.position[leaf] for leaf in published.leaves]].tocsr()
            finest[k] = (rows.indices, rows.data.astype(np.int64))  # one entry a row: a level parts the codes
        return finest
