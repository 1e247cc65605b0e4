"""Inner cells about which somebody knows more than the table says.

In a frequency table without hidden zeros a hidden cell is known not to be empty, so a known sum of m hidden ones that
is m gives all of them away; with hidden zeros a known sum of 0 does (SUMS). In a magnitude table a firm alone in its
cell knows that cell and may subtract it from a sum (OWN).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError
from discreet.methods.suppress.model.roles import inner_records
from discreet.tables.table import Table

NONE, SUMS, OWN = 0, 1, 2
NAMES = {"none": NONE, "sums": SUMS, "own": OWN}


@dataclass(frozen=True)
class Singletons:
    """The kind of knowledge, and per inner cell 0 or the number of the one who has it."""

    kind: int
    group: Array
    lenient: bool = False
    """Some of the inner cells concerned are not sensitive: a known sum of them matters only if it holds one that is."""


@dataclass(frozen=True, eq=False)
class Owners:
    """Per inner cell the number of its only contributor (0: none or several), and whether it holds nothing."""

    group: Array
    nothing: Array


def find(table: Table, wanted: Any, primary: Array, *, zeros: bool) -> Singletons:
    """The singletons of a table: ``wanted`` is "auto", "none", "sums", "own", or a number per inner cell (OWN)."""
    n = table.layout.n_inner
    nobody = np.zeros(n, np.int32)
    if not isinstance(wanted, str):
        group = np.asarray(wanted)
        if group.shape != (n,) or group.dtype.kind not in "iub" or (group < 0).any():
            raise InputError(f"singletons are a number from 0 (none) for each of the {n:,} inner cells")
        return Singletons(OWN, group.astype(np.int32))
    if wanted == "auto":
        wanted = "own" if table.has_contributions else "none" if table.magnitude else "sums"
    if wanted not in NAMES:
        raise InputError(f"singletons is 'auto', 'none', 'sums', 'own' or numbers, not {wanted!r}")
    if wanted == "none":
        return Singletons(NONE, nobody)
    if wanted == "own":
        return Singletons(OWN, alone(table))
    inner = table.statistic("count").inner
    group = (inner == (0 if zeros else 1)).astype(np.int32)
    sensitive, shown = np.zeros(n, bool), table.layout.inner_of_cell
    sensitive[shown[primary & (shown >= 0)]] = True
    published = np.zeros(n, bool)
    published[shown[shown >= 0]] = True
    return Singletons(SUMS, group, bool(((group > 0) & published & ~sensitive).any()))


def owners(single: Singletons, table: Table, *, safe_zeros: bool) -> Owners | None:
    """Contributors who know their own inner cells; None if there are none.

    Where zeros are always shown, one with contributors holds nothing that is not known either.
    """
    if single.kind != OWN or not single.group.any():
        return None
    shown = (table.statistic(table.measure).inner == 0) & safe_zeros
    return Owners(single.group, (inner_records(table) == 0) | shown)


def alone(table: Table) -> Array:
    """Per inner cell the number of its only contributor, 0 if there are more or none; holdings keep theirs."""
    inner, spanning = table._inner_contributions, table._spanning
    if inner is None:
        raise InputError("singletons='own' needs contributions; tabulate microdata with value=")
    count = inner.count.copy()
    who = np.where(inner.count == 1, inner.contributor[:, 0], -1).astype(np.int64)
    if spanning is not None and len(spanning.inner):
        where, each = np.unique(np.stack([spanning.inner, spanning.contributor]), axis=1)
        np.add.at(count, where, 1)
        only = count[where] == 1
        who[where[only]] = each[only]
    single = count == 1
    group = np.zeros(len(count), np.int32)
    named = single & (who >= 0)
    if named.any():
        group[named] = np.unique(who[named], return_inverse=True)[1] + 1
    own = single & (who < 0)  # a record of no holding: nobody else's
    group[own] = int(group.max(initial=0)) + 1 + np.arange(int(own.sum()))
    return group
