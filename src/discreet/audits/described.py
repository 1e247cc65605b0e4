"""The audited system as a certificate can tell it: every cell is a sum of cells in the product of all finest codes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.known import Known
from discreet.audits.view import View
from discreet.data.dimension import Dimension
from discreet.errors import InputError
from discreet.tables import relations as related
from discreet.tables.layout import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_INNER = 1_000_000
OTHER_ROWS = "a certificate is of tables whose cells are sums of finest codes; this system has other rows"


def described_view(seen: View) -> View:
    """A view whose matrix is that of the product of all finest codes, which is what a certificate tells.

    InputError where the audited system is another one: an instance of suppression, tables whose codes no single
    hierarchy has.
    """
    known = seen.known
    if known.rhs is not None or not np.isinf(known.inner_upper).all():
        raise InputError(OTHER_ROWS)
    matrix = _matrix(seen)
    if seen.names:  # files: their audit has common cells in the place of all combinations
        floor = 0.0 if np.isfinite(known.inner_lower).any() else -np.inf
        size = matrix.shape[0]
        rows = related.of_layout(seen.layouts[0]) if len(seen.layouts) == 1 else None
        known = Known(
            matrix=matrix,
            lower=known.lower,
            upper=known.upper,
            inner_lower=np.full(size, floor),
            inner_upper=np.full(size, np.inf),
            integer=known.integer,
            relations=rows,
        )
        return replace(seen, known=known, inner_place=None)
    place = np.arange(matrix.shape[0]) if seen.inner_place is None else seen.inner_place
    same = len(place) == known.matrix.shape[0] and matrix[place].shape == known.matrix.shape
    if not same or abs(matrix[place] - known.matrix).sum() or len(np.unique(known.inner_lower)) > 1:
        raise InputError(OTHER_ROWS)
    return seen


def dimensions_of(seen: View) -> list[dict[str, Any]]:
    """Every dimension: its finest codes, and what every other code adds up."""
    return [
        {
            "name": d.name,
            "total": d.total,
            "leaves": list(d.leaves),
            "sums": {code: dict(d.leaves_of(code)) for code in d.codes if code not in d.leaf_position},
        }
        for d in finest(seen).values()
    ]


def finest(seen: View) -> dict[str, Dimension]:
    """Of each name the dimension with the most finest codes; that of every table must be part of it."""
    held: dict[str, list[Dimension]] = {}
    for layout in seen.layouts:
        for d in layout.dimensions:
            held.setdefault(d.name, []).append(d)
    chosen = {name: max(several, key=lambda d: (len(d.leaves), len(d.codes))) for name, several in held.items()}
    for name, several in held.items():
        for d in several:
            _check_part(d, chosen[name])
        if len(several) < len(seen.layouts) and all(d.total is None for d in several):
            raise InputError(f"some tables lack the dimension {name!r}, which has no total; no certificate tells that")
    if math.prod(len(d.leaves) for d in chosen.values()) > MOST_INNER:
        raise InputError(f"together the tables have more than {MOST_INNER:,} inner cells; certify fewer at once")
    return chosen


def _check_part(d: Dimension, whole: Dimension) -> None:
    """Every code of a dimension is one of another, and its sums hold there, too."""
    fits = set(d.codes) <= set(whole.codes)
    for code, parts in d.relations if fits else ():
        total: dict[str, int] = {}
        for part, sign in parts:
            for leaf, factor in whole.leaves_of(part).items():
                total[leaf] = total.get(leaf, 0) + sign * factor
        fits = fits and {leaf: s for leaf, s in total.items() if s} == whole.leaves_of(code)
    if not fits:
        raise InputError(f"no single hierarchy has the codes of {d.name!r} of all tables; give them one codebook")


def _matrix(seen: View) -> csr_array:
    """Inner cells, in the product of all finest codes, by the cells of all tables."""
    from scipy.sparse import csr_array, hstack

    dimensions = finest(seen)
    return csr_array(hstack([_of_table(layout, dimensions) for layout in seen.layouts], format="csr"))


def _of_table(layout: Layout, dimensions: Mapping[str, Dimension]) -> csr_array:
    from scipy.sparse import csc_array, csr_array, kron

    whole = csc_array(np.ones((1, 1), np.int64))
    flat = np.zeros(len(layout), np.int64)
    own = {d.name: k for k, d in enumerate(layout.dimensions)}
    for name, d in dimensions.items():
        if name not in own:
            whole = csc_array(kron(whole, np.ones((len(d.leaves), 1), np.int64), format="csc"))
            continue
        codes = layout.dimensions[own[name]].codes
        columns = d.matrix[:, [d.position[code] for code in codes]].astype(np.int64)
        whole = csc_array(kron(whole, columns, format="csc"))
        flat = flat * len(codes) + layout.codes[:, own[name]]
    return csr_array(whole[:, flat])
