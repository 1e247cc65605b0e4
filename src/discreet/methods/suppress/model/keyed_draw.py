"""What a secret key decides of a pattern, so that it is no public function of the truth.

Suppression without a key is public: whoever has the program lists the tables that fit a release, runs the same call on
each and keeps those that give the same pattern [Minami and Abe 2019]. With a key

- every weight is multiplied by a factor, so that the order of cells and the choices of a solver cannot be repeated;
- a few cells, small ones sooner than large ones, are protected as if they were sensitive (decoys), so that the pattern
  of a table can come from tables with fewer sensitive cells, too.

Both come from a keyed hash of a cell's codes, never of its value: the same key gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array
from discreet.methods.keys import Secret, category_uniforms
from discreet.methods.suppress.model.roles import Roles
from discreet.methods.suppress.model.tuning import KeyTuning
from discreet.tables.table import Table

LOGISTIC = np.sqrt(3) / np.pi  # scale of the logistic distribution with variance 1


@dataclass(frozen=True, eq=False)
class KeyedDraw:
    """Per column the factor on its weight, and whether it is protected although it is not sensitive."""

    factor: Array
    decoys: Array


def drawn(key: str | Secret, table: Table, roles: Roles, tuning: KeyTuning) -> KeyedDraw:
    """What the key draws for the columns of a table; those of earlier tables stay as they are."""
    n = len(table)
    uniform = category_uniforms(table.layout, key, "suppression order")
    factor = np.ones(roles.n)
    factor[:n] = np.exp(spread_of(table, tuning) * np.log((uniform + 2.0**-54) / (1 - uniform)))
    decoys = np.zeros(roles.n, bool)
    chance = decoy_chance(table, roles, tuning)
    decoys[:n] = category_uniforms(table.layout, key, "suppression decoys") < chance
    return KeyedDraw(factor, decoys)


def spread_of(table: Table, tuning: KeyTuning) -> Array:
    """Scale of the logarithm of each cell's factor, which is logistic."""
    inner = table.layout.inner_of_cell >= 0
    return np.asarray(np.where(inner, tuning.inner, tuning.margins) * LOGISTIC)


def decoy_chance(table: Table, roles: Roles, tuning: KeyTuning) -> Array:
    """The chance of each cell to be a decoy: the smaller its value the larger; none where nothing is sensitive."""
    n = len(table)
    primary = roles.primary[:n]
    size = np.abs(table.value.astype(float))
    able = ~(primary | roles.forced[:n] | roles.never[:n] | roles.empty[:n]) & (size > 0)
    if not primary.any() or not able.any():
        return np.zeros(n)
    share = np.where(able, 1 / np.where(able, size, 1), 0)
    wanted = tuning.decoys + tuning.decoy_share * int(primary.sum())
    return np.asarray(np.minimum(share / share.sum() * wanted, tuning.chance))
