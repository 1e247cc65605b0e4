"""A variable's codes and how they add up: one or more hierarchies over the same finest codes.

Codes come from a codebook, never from what the data happen to hold: an empty category is still a category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.files import check_suffix, write_whole
from discreet.base.texts import code_text, read_text
from discreet.data import hierarchy
from discreet.data.code_groups import (
    Group,
    check_groups,
    check_leaf_sums,
    display_order,
    groups_of_links,
    hierarchies,
    leaf_sums,
    single_root,
)
from discreet.data.hierarchy import Link, Parents
from discreet.data.variable_description import VariableDescription
from discreet.errors import InputError, listed, many, nearest

if TYPE_CHECKING:
    from scipy.sparse import csc_array

ROOT = ""  # as a total code: take the hierarchy's single root, else "Total"


@checked
@dataclass(frozen=True, repr=False)
class Dimension:
    """The codes of one variable: finest codes (leaves), groups of them, and a total.

    >>> Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"})
    Dimension('area': 3 leaves, 6 codes, total 'Total')
    """

    name: str
    leaves: tuple[str, ...]
    groups: tuple[Group, ...] = ()
    total: str | None = "Total"
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    level_names: tuple[str, ...] = field(default=(), compare=False)
    observed: bool = field(default=False, compare=False)
    """Whether its codes were found in records, so that no message lists them."""
    description: VariableDescription = field(default=VariableDescription(), compare=False)

    # -- ways in ------------------------------------------------------------------------------------------------

    @classmethod
    def flat(
        cls, name: str, codes: Iterable[Any], *, total: str | None = "Total", labels: Mapping[Any, str] | None = None
    ) -> Dimension:
        """Codes side by side. ``total=None`` for a variable that is never summed over, such as a year.

        >>> Dimension.flat("sex", ["f", "m"]).codes
        ('Total', 'f', 'm')
        """
        return cls(name, tuple(code_text(c) for c in codes), (), total, _labels(labels))

    @classmethod
    def nested(
        cls, frame: Any, columns: Sequence[str] | str, *, name: str | None = None, total: str | None = "Total"
    ) -> Dimension:
        """From the columns of a frame, finest first: ``Dimension.nested(df, ["county", "region"], total="All")``.

        >>> import pandas as pd
        >>> places = pd.DataFrame({"county": ["Kent", "Devon", "Fife"], "country": ["England", "England", "Scotland"]})
        >>> Dimension.nested(places, ["county", "country"], total="All").codes
        ('All', 'England', 'Devon', 'Kent', 'Scotland', 'Fife')
        """
        columns = [columns] if isinstance(columns, str) else list(columns)
        if not columns:
            raise InputError("Dimension.nested needs at least one column")
        leaves, links = hierarchy.from_nested(hierarchy.unique_rows(frame, columns), columns)
        dimension = cls(name or columns[0], tuple(leaves), groups_of_links([links]), total)
        return replace(dimension, level_names=tuple(reversed(columns)))

    @classmethod
    def from_parents(
        cls, name: str, *parents: Parents, total: str | None = ROOT, labels: Mapping[Any, str] | None = None
    ) -> Dimension:
        """From {child: parent} mappings or (child, parent[, sign]) rows; each one more hierarchy over the same leaves.

        A single root over all leaves becomes the total unless another is named.

        >>> d = Dimension.from_parents("geo", {"no": "Europe", "se": "Europe", "us": "World", "Europe": "World"})
        >>> d.total, d.leaves
        ('World', ('no', 'se', 'us'))
        """
        trees = [hierarchy.links(p) for p in parents]
        mentioned = dict.fromkeys(code for links in trees for link in links for code in (link.child, link.parent))
        return cls._from_links(name, trees, list(mentioned), total, _labels(labels))

    @classmethod
    def from_prefix(
        cls,
        name: str,
        codes: Iterable[Any],
        lengths: Sequence[int],
        *,
        total: str | None = "Total",
        labels: Mapping[Any, str] | None = None,
    ) -> Dimension:
        """From codes whose first characters name their groups.

        >>> Dimension.from_prefix("nace", ["A01", "A02", "B05"], [1]).codes
        ('Total', 'A', 'A01', 'A02', 'B', 'B05')
        """
        texts = [code_text(c) for c in codes]
        links = hierarchy.from_prefix(texts, lengths)
        return cls(name, tuple(texts), groups_of_links([links]), total, _labels(labels))

    @classmethod
    def from_hrc(
        cls,
        source: str | Path,
        *,
        name: str,
        leader: str = "@",
        total: str | None = "Total",
        labels: Mapping[Any, str] | None = None,
    ) -> Dimension:
        r"""From a tau-ARGUS ``.hrc`` file, or its text when that has more than one line.

        >>> Dimension.from_hrc("North\n@N1\n@N2\nSouth\n", name="area").leaves
        ('N1', 'N2', 'South')
        """
        text = source if isinstance(source, str) and "\n" in source else read_text(Path(source))
        codes, links = hierarchy.from_hrc(text, leader)
        return cls._from_links(name, [links], codes, total, _labels(labels))

    @classmethod
    def from_csv(cls, source: str | Path, *, name: str, total: str | None = ROOT) -> Dimension:
        r"""From a CSV file (or its text) with the columns code, parent and perhaps label, sign, hierarchy.

        >>> d = Dimension.from_csv("code,parent,label\nN1,N,Upper town\nN2,N,Lower town\nN,,North\n", name="area")
        >>> d.total, d.leaves, d.label("N1")
        ('N', ('N1', 'N2'), 'Upper town')
        """
        text = source if isinstance(source, str) and "\n" in source else read_text(Path(source))
        trees, labels, codes = hierarchy.from_csv(text)
        mentioned = dict.fromkeys([*codes, *(link.parent for links in trees for link in links)])
        return cls._from_links(name, trees, list(mentioned), total, labels)

    @classmethod
    def _from_links(
        cls, name: str, trees: list[list[Link]], codes: list[str], total: str | None, labels: dict[str, str]
    ) -> Dimension:
        groups = groups_of_links(trees)
        parents = {g.code for g in groups}
        leaves = tuple(c for c in codes if c not in parents)
        if not leaves:
            raise InputError(f"dimension {name!r}: the groups form a cycle: {listed(parents)}")
        root = single_root(groups, leaves)
        if total == ROOT:
            total = root or "Total"
        if total is not None and total == root:
            groups = tuple(g for g in groups if g.code != root)
        return cls(name, leaves, groups, total, labels)

    def with_group(
        self, code: str, plus: Sequence[str], minus: Sequence[str] = (), *, label: str | None = None
    ) -> Dimension:
        """One more group, outside the hierarchies; ``minus`` takes codes away.

        >>> d = Dimension.from_parents("geo", {"no": "Europe", "se": "Europe"}, total="World")
        >>> d.with_group("EU", ["Europe"], minus=["no"]).leaves_of("EU")
        {'se': 1}
        """
        parts = tuple((c, 1) for c in plus) + tuple((c, -1) for c in minus)
        tree = -1 if minus else max((g.tree for g in self.groups), default=-1) + 1
        labels = {**self.labels, code: label} if label else dict(self.labels)
        return replace(self, groups=(*self.groups, Group(code, parts, tree)), labels=labels)

    def with_leaf(self, code: str, *, label: str | None = None) -> Dimension:
        """One more finest code under the total, such as a category for missing values.

        >>> Dimension.flat("sex", ["f", "m"]).with_leaf("x", label="not stated").codes
        ('Total', 'f', 'm', 'x')
        """
        labels = {**self.labels, code: label} if label else dict(self.labels)
        return replace(self, leaves=(*self.leaves, code), labels=labels)

    # -- checks -------------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a dimension needs a name")
        if not self.leaves:
            raise InputError(f"dimension {self.name!r} has no codes")
        own = [*self.leaves, *(g.code for g in self.groups), *([] if self.total is None else [self.total])]
        if repeated := [code for code, times in Counter(own).items() if times > 1]:
            if repeated == [self.total]:
                raise InputError(
                    f"dimension {self.name!r}: {self.total!r} is a code already; choose another total code (total=...)"
                )
            raise InputError(f"dimension {self.name!r}: duplicate codes {listed(repeated)}")
        if "" in own:
            raise InputError(f"dimension {self.name!r}: a code is empty text")
        check_groups(self.name, self.groups, set(own))
        check_leaf_sums(self.name, self._leaves_of)
        for code in self.labels:
            if code not in self.position:
                raise InputError(f"dimension {self.name!r}: label for unknown code {code!r}; {nearest(code, own)}")

    # -- what it knows ------------------------------------------------------------------------------------------

    @cached_property
    def _leaves_of(self) -> dict[str, dict[str, int]]:
        """Every code as a signed sum of leaves."""
        return leaf_sums(self.name, self.leaves, self.groups, self.total)

    def _first_leaf(self, code: str) -> int:
        return min(self.leaf_position[leaf] for leaf in self._leaves_of[code])

    def leaves_of(self, code: str) -> dict[str, int]:
        """The finest codes that ``code`` stands for, each with its sign.

        >>> Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S"}).leaves_of("N")
        {'N1': 1, 'N2': 1}
        """
        return dict(self._leaves_of[self.codes[self.index(code)]])

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """All codes in display order: the total, then the first hierarchy from above, then other groups."""
        return display_order(self.leaves, self.groups, self.total, self._first_leaf)

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each code stands in ``codes``."""
        return {code: n for n, code in enumerate(self.codes)}

    @cached_property
    def leaf_position(self) -> dict[str, int]:
        """Where each finest code stands in ``leaves``."""
        return {code: n for n, code in enumerate(self.leaves)}

    def index(self, code: object) -> int:
        """The position of a code, or an error that names the nearest known one.

        >>> Dimension.flat("sex", ["f", "m"]).index("m")
        2
        >>> Dimension.flat("sex", ["f", "m"]).index("w")
        Traceback (most recent call last):
        ...
        discreet.errors.InputError: 'w' is not a code of dimension 'sex'; known: 'Total', 'f', 'm'
        """
        text = code_text(code)
        if text not in self.position:
            raise InputError(f"{text!r} is not a code of dimension {self.name!r}; {self.nearest(text)}")
        return self.position[text]

    @cached_property
    def is_whole(self) -> Array:
        """Which codes stand for everybody."""
        held = [self._leaves_of[code] for code in self.codes]
        return np.array([len(leaves) == len(self.leaves) and min(leaves.values()) > 0 for leaves in held])

    @cached_property
    def added(self) -> tuple[tuple[Array, Array], ...]:
        """The positions of the leaves that each code adds, and of those that it takes away, in order."""
        columns = [self._leaves_of[code] for code in self.codes]
        at = [sorted((self.leaf_position[leaf], sign) for leaf, sign in column.items()) for column in columns]
        plus = [np.array([k for k, sign in one if sign > 0], int) for one in at]
        minus = [np.array([k for k, sign in one if sign < 0], int) for one in at]
        return tuple(zip(plus, minus, strict=True))

    def nearest(self, code: str) -> str:
        """The end of a sentence about an unknown code; codes that were found in records are not listed.

        >>> Dimension.flat("area", ["North", "South"]).nearest("Nroth")
        "did you mean 'North'?"
        """
        if self.observed:
            return "its codes are those found in the records, which are not listed; a codebook names them"
        return nearest(code, self.codes)

    @cached_property
    def matrix(self) -> csc_array:
        """Leaves x codes, entries −1, 0, 1: column c says which leaves code c adds up.

        >>> Dimension.flat("sex", ["f", "m"]).matrix.toarray().tolist()
        [[1, 1, 0], [1, 0, 1]]
        """
        from scipy.sparse import csc_array

        columns = [self._leaves_of[code] for code in self.codes]
        ends = np.cumsum([0, *(len(c) for c in columns)])
        rows = [self.leaf_position[leaf] for column in columns for leaf in column]
        signs = [sign for column in columns for sign in column.values()]
        matrix = csc_array((np.array(signs, np.int8), rows, ends), shape=(len(self.leaves), len(self.codes)))
        matrix.sort_indices()
        return matrix

    @cached_property
    def relations(self) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
        """Each sum that holds by definition: (code, its parts with signs), the total once per hierarchy."""
        sums = [(g.code, g.parts) for g in self.groups]
        if self.total is not None:
            sums += [
                (self.total, tuple((code, 1) for code in tops)) for tops in dict.fromkeys(t[0] for t in self._trees)
            ]
        return tuple(sums)

    @cached_property
    def _trees(self) -> list[tuple[tuple[str, ...], dict[str, list[str]]]]:
        """Of every hierarchy its topmost codes and each group's children."""
        return hierarchies(self.leaves, self.groups, self._leaves_of, self._first_leaf)

    @cached_property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Named levels of detail, coarsest first; each one's codes part the leaves among them.

        >>> Dimension.from_prefix("nace", ["A01", "A02", "B05"], [1]).levels
        {'total': ('Total',), 'level 1': ('A', 'B'), 'nace': ('A01', 'A02', 'B05')}
        """
        levels: dict[str, tuple[str, ...]] = {} if self.total is None else {"total": (self.total,)}
        for number, (tops, children) in enumerate(self._trees):
            level, depth = tops, 0
            while any(code in children for code in level):
                name = f"level {depth + 1}" if number == 0 else f"hierarchy {number + 1} level {depth + 1}"
                if number == 0 and depth < len(self.level_names) - 1:
                    name = self.level_names[depth]
                if self._parts_leaves(level):
                    levels[name] = level
                level = tuple(part for code in level for part in children.get(code, (code,)))
                depth += 1
        levels[self.name] = self.leaves
        return levels

    def _parts_leaves(self, codes: Sequence[str]) -> bool:
        held = [leaf for code in codes for leaf in self._leaves_of[code]]
        return len(held) == len(set(held)) == len(self.leaves)

    def level(self, name: str) -> tuple[str, ...]:
        """The codes of a level of detail.

        >>> Dimension.from_prefix("nace", ["A01", "A02", "B05"], [1]).level("level 1")
        ('A', 'B')
        """
        if name not in self.levels:
            raise InputError(f"dimension {self.name!r} has no level {name!r}; {nearest(name, self.levels)}")
        return self.levels[name]

    def at_level(self, name: str) -> Dimension:
        """The same variable in less detail: the level's codes become the leaves, coarser levels of its tree stay.

        >>> Dimension.from_prefix("nace", ["A01", "A02", "B05"], [1]).at_level("level 1").codes
        ('Total', 'A', 'B')
        """
        kept = self.level(name)
        if kept == self.leaves:
            return self
        if kept == (self.total,):
            return replace(self, leaves=kept, groups=(), total=None, labels=self._labels_of(kept), level_names=())
        held = [set(self._leaves_of[code]) for code in kept]
        groups: list[Group] = []
        for group in self.groups:
            inside = self._leaves_of[group.code]
            parts = tuple((code, 1) for code, leaves in zip(kept, held, strict=True) if leaves <= set(inside))
            exact = sum(len(self._leaves_of[code]) for code, _ in parts) == len(inside) and min(inside.values()) > 0
            if group.code not in kept and exact:  # flattened: which codes it holds is all that matters from here
                groups.append(Group(group.code, parts, len(groups)))
        labels = self._labels_of((*kept, *(g.code for g in groups), *([] if self.total is None else [self.total])))
        return replace(self, leaves=kept, groups=tuple(groups), labels=labels, level_names=())

    def _labels_of(self, codes: Sequence[str]) -> dict[str, str]:
        return {code: self.labels[code] for code in codes if code in self.labels}

    def label(self, code: str) -> str:
        """The label of a code, or the code itself.

        >>> d = Dimension.flat("sex", ["f", "m"], labels={"f": "women"})
        >>> d.label("f"), d.label("m")
        ('women', 'm')
        """
        return self.labels.get(code, code)

    @property
    def title(self) -> str:
        """The variable in words, or its name.

        >>> Dimension.flat("sex", ["f", "m"]).title
        'sex'
        """
        return self.description.label or self.name

    def to_hrc(self, path: str | Path | None = None, *, leader: str = "@", tree: int = 0) -> str:
        """The hierarchy as tau-ARGUS ``.hrc`` text, without the total as such files are; written if a path is given.

        >>> Dimension.from_prefix("nace", ["A01", "A02", "B05"], [1]).to_hrc().split()
        ['A', '@A01', '@A02', 'B', '@B05']
        """
        if not 0 <= tree < len(self._trees):
            raise InputError(
                f"dimension {self.name!r} has {many(len(self._trees), 'hierarchy', 'hierarchies')}; there is no number "
                f"{tree}"
            )
        check_suffix(path, (".hrc", ".txt"), "a hierarchy of tau-ARGUS")
        tops, children = self._trees[tree]
        text = hierarchy.to_hrc(children, tops, leader)
        if path is not None:
            write_whole(path, text.encode())
        return text

    def __repr__(self) -> str:
        total = "no total" if self.total is None else f"total {self.total!r}"
        return f"Dimension({self.name!r}: {len(self.leaves)} leaves, {len(self.codes)} codes, {total})"


def _labels(labels: Mapping[Any, str] | None) -> dict[str, str]:
    return {code_text(code): str(label) for code, label in (labels or {}).items()}
