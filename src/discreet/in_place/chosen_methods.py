"""The methods of one call: small counts hidden, a recipe by its name, and where random numbers come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, nearest
from discreet.in_place.contents import marks_for, says_range
from discreet.methods import acts_on_records, contract, method, method_names, parameters, recipe_names
from discreet.methods.contract import Method
from discreet.methods.keys import Secret, open_secret
from discreet.methods.recipes.offices import CMS11, NHS, OpenSAFELY
from discreet.methods.suppress.method import Suppress
from discreet.rules import Threshold
from discreet.tables.table import Table

NO_SOURCE = (
    "random numbers need a source that stays the same: seed=, a number that you keep to yourself, or secret= (text of "
    "16 letters or more, or 'env:NAME'; on the command line -P seed=..., -P secret=env:NAME); with a new one each "
    "time, several versions of a table average out"
)


def small_counts_hidden(
    under: int, zeros: bool, mark: str | None, key: Any = None, *, method: str = "gauss"
) -> Suppress:
    """Suppression of small counts; where the mark says a range, whoever reads it knows that range."""
    rule = Threshold(under, zeros=zeros)
    _, ranged = marks_for(mark or "*", under)
    if not ranged:
        return Suppress(rule, method=method, key=key)

    def least(table: Table) -> Array:
        counts = np.asarray(table.value, float)
        return np.where(rule(table), 1.0, np.minimum(counts, float(under)))  # an empty cell is hidden by no mark

    def most(table: Table) -> Array:
        return np.where(rule(table), under - 1.0, np.inf)

    if zeros:
        raise InputError(f"the mark {mark!r} says that a count is 1 at least; hide zeros with another mark")
    return Suppress(rule, method=method, key=key, bounds=(least, most))


def with_range_mark(recipe: str, chosen: Method, mark: str | None) -> tuple[Method, int | None]:
    """The method of a recipe for a mark, and under which count it hides, where the mark says a range ("<8").

    Of a recipe that hides small counts and nothing else the mark says what its rule says. One that hides others for
    their sake is told that readers know the range, as for ``--hide-under``. CMS-11 is suppression under a limit, and
    is given as such, so that reports say the limit and what is hidden on other sheets is hidden here.
    """
    if not says_range(mark or "*"):
        if isinstance(chosen, CMS11):
            return small_counts_hidden(chosen.n, False, mark, chosen.key, method=chosen.method), None
        return chosen, None
    if isinstance(chosen, (NHS, OpenSAFELY)) and not chosen.secondary:
        return chosen, chosen.most + 1
    if isinstance(chosen, CMS11):
        return small_counts_hidden(chosen.n, False, mark, chosen.key, method=chosen.method), chosen.n
    why = (
        "hides further cells, which are not in that range, before it rounds"
        if isinstance(chosen, (NHS, OpenSAFELY))
        else "does not hide just the counts from 1 to a limit"
    )
    raise InputError(
        f"the mark {mark!r} says a range, and the recipe {recipe!r} {why}: take a mark that says none, such as '*', or "
        "--hide-under (suppress_small_counts) with a limit"
    )


def recipe_method(recipe: str, settings: dict[str, Any], seed: int | None, secret: Any) -> Method:
    """A recipe (or any method on tables) by its name, with random numbers from a seed or a secret."""
    if recipe not in method_names():
        raise InputError(f"no recipe {recipe!r}; {nearest(recipe, recipe_names())}")
    if acts_on_records(recipe) or not contract(recipe).protects:
        raise InputError(f"{recipe!r} does not protect a finished table; {nearest(recipe, recipe_names())}")
    known = parameters(recipe)
    stated = dict(settings)
    if "seed" in known and "seed" not in stated:
        stated["seed"] = seed_of(seed, secret)
    elif "key" in known and secret is not None:
        stated["key"] = secret
    elif seed is not None or secret is not None:
        raise InputError(f"recipe {recipe!r} draws no random numbers: leave seed and secret out")
    return method(recipe, **stated)


def seed_of(seed: int | None, secret: str | bytes | Secret | None) -> int:
    """The seed, or one made of the secret, for a table that has no records and so no keys."""
    if seed is not None and secret is not None:
        raise InputError("give a seed or a secret, not both")
    if seed is not None:
        return seed
    if secret is None:
        raise InputError(NO_SOURCE)
    return int.from_bytes(open_secret(secret).key("seed of a table without records")[:7], "little")
