"""Steps done once, before anything is counted: records swapped or redrawn, or the hypercube itself perturbed.

Pre-tabular methods of [JOS15]_ section 2.2. The changed data are kept as a cube, from which every table is summed. To
say honestly what the change costs, the cube holds a twin: what the true data may have been, guessed from the changed
ones and the method alone. A table is judged by how far its twin is from it, so what is decided and said tells nothing
of the true data that the published tables do not. For PRAM the twin is the changed counts times the inverse of
its matrix, for swapping times that of the chances to move from area to area; for a perturbed cube a draw of what each
count was, given what it is now. Rounding a sparse cube is not a step: what its zeros were cannot be told.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import threading
import weakref
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.kinds import told
from discreet.data.codebook import Codebook
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError, listed
from discreet.methods import contract, parameters
from discreet.methods.contract import protect
from discreet.methods.keys import Secret
from discreet.methods.records.record_columns import leaf_codes
from discreet.methods.synthetic.crossing import InnerCells
from discreet.policy.policy import Policy
from discreet.policy.posterior import guesses
from discreet.policy.served_measures import NOISE
from discreet.tables.additive import Additive
from discreet.tables.layout import Layout
from discreet.tables.table import Table
from discreet.tables.tabulation import tabulate

MOST_CELLS = 20_000_000  # inner cells of the cube
TWIN = "again "  # a statistic of this name holds counts of data that were changed once more
VERSIONS = {"places": 2}  # how a twin is made, if not as at first: another number where it is worked out anew
AGAIN = 0x7315  # added to the seed for the twin
DECIMALS = 3  # of a twin that is not whole
WORST = 1e3  # condition of a matrix that can still be inverted
LEAST = 0.4  # eigenvalue of a swap that can still be inverted without taking much chance for structure

_kept: dict[tuple[int, str], tuple[weakref.ref[Any], Microdata | Table]] = {}
_lock = threading.Lock()


def keyed(policy: Policy) -> list[str]:
    """Steps and methods that take their chances from record keys, because they have no seed and no secret will do."""
    noise = [(NOISE, served.noise) for served in policy.measures.values() if served.noise is not None]
    every = [*policy.before, *policy.methods, *noise]
    open_ = [name for name, stated in every if "seed" in parameters(name) and "seed" not in stated]
    return [name for name in open_ if policy.secret is None or contract(name).step != "population"]


def with_record_keys(data: Microdata | Table, policy: Policy) -> Microdata | Table:
    """The data, with record keys from unit ids under the policy's secret where it needs keys and they have none."""
    if not isinstance(data, Microdata) or data.secret is not None or data.codebook.key is not None:
        return data
    if policy.secret is None or data.codebook.unit is None or not keyed(policy):
        return data
    return dataclasses.replace(data, secret=Secret(policy.secret).key("record keys"))  # of no other purpose


def check_keys(codebook: Codebook, policy: Policy) -> None:
    """Raise if the policy takes its chances from record keys, and the records cannot have any."""
    needing = keyed(policy)
    if needing and codebook.key is None and (codebook.unit is None or policy.secret is None):
        raise InputError(
            f"{needing[0]!r} needs record keys, and the data have none, so every question would fail: name a column of "
            "random keys in the codebook (key), or a column of unit ids there (unit) and a secret in the policy"
        )


def check_unweighted(codebook: Codebook, policy: Policy) -> None:
    """Raise if a step before counting changes counts of people, and the records count by their weights."""
    steps = [name for name, _ in policy.before if contract(name).step in ("counts", "population")]
    if steps and codebook.weight is not None:
        raise InputError(
            f"{steps[0]!r} before counting changes counts of people, and the codebook names a weight "
            f"(weight = {codebook.weight!r}), by which no such count is right: take a [[method]] such as cell-key "
            f"instead of [[before]] {steps[0]}, or leave the weight out of the codebook"
        )


def twin_name(policy: Policy, *, latest: bool = True) -> str:
    """The name of the statistic that holds the twin: it tells which steps made the cube, and how the twin was made.

    Not ``latest``: the name that the first versions of all twins had.
    """
    applied: list[list[Any]] = [[name, dict(stated)] for name, stated in policy.before]
    for step in applied if latest else ():
        if (moves := contract(step[0]).step) in VERSIONS:
            step.append(VERSIONS[moves])
    text = json.dumps(applied, sort_keys=True, default=str)
    return TWIN + hashlib.sha256(text.encode()).hexdigest()[:12]


def twins_of(data: object) -> list[str]:
    """The names of the twins in a cube: none, or the one of the steps that made it."""
    return [name for name in getattr(data, "statistics", {}) if name.startswith(TWIN)]


def twin_of(table: Table) -> Array | None:
    """The counts of a table's twin as an array over the inner cells; None if the data were not changed, or no one can
    say from what."""
    name = next((name for name in table.statistics if name.startswith(TWIN)), None)
    if name is None or not table.statistics[name].inner.any():
        return None
    counts = np.maximum(np.rint(table.statistics[name].inner_values), 0)
    return table.layout.dense(counts.astype(np.int64))


@checked
def ready(data: Microdata | Table, policy: Policy) -> Microdata | Table:
    r"""The data that a policy answers from: as they are, or the cube that its steps have made of them, made once.

    >>> import discreet as dc
    >>> people = dc.datasets.census(500)
    >>> policy = dc.policy.parse_policy('[[method]]\nname = "random-round"\nseed = 1')
    >>> ready(people, policy) is people
    True
    """
    held = twins_of(data)
    if held and held != [twin_name(policy)] and held == [twin_name(policy, latest=False)]:
        raise InputError(
            f"what {listed([name for name, _ in policy.before])} cost was worked out for this cube by an earlier "
            "version, and may be stated too low: build it again with `discreet cube --policy`"
        )
    if held and held != [twin_name(policy)]:
        raise InputError(
            "the cube was made with other steps before counting than the policy has ([[before]]): build it again with "
            "`discreet cube --policy`"
        )
    if not policy.before or held:
        return with_record_keys(data, policy)
    key = (id(data), f"{twin_name(policy)} {hashlib.sha256(policy.secret or b'').hexdigest()}")
    with _lock:
        entry = _kept.get(key)
        if entry is None or entry[0]() is not data:
            prepared = _prepared(with_record_keys(data, policy), policy)
            entry = _kept[key] = (weakref.ref(data, lambda _: _kept.pop(key, None)), prepared)
        return entry[1]


def _prepared(data: Microdata | Table, policy: Policy) -> Microdata | Table:
    if isinstance(data, Microdata):
        check_unweighted(data.codebook, policy)
    sparse = isinstance(data, Microdata) and policy.draws_population
    if not sparse and math.prod(len(d.leaves) for d in data.dimensions) > MOST_CELLS:
        raise InputError(
            f"the cube would have more than {MOST_CELLS:,} cells: a codebook of fewer or coarser dimensions"
        )
    methods, name = policy.steps, policy.before[0][0]
    moves = contract(name).step
    if isinstance(data, Microdata) and sparse and math.prod(len(d.leaves) for d in data.dimensions) > MOST_CELLS:
        return _drawn_records(data, methods[0])
    if moves == "counts":
        perturbed = _perturbed(cube_of(data), methods[0])
        return _with(perturbed, twin_name(policy), _before_noise(perturbed, methods[0], twin_name(policy)))
    if moves == "population":  # drawn from noisy margins alone: nobody can say from what
        drawn = _without_keys(_perturbed(cube_of(data), methods[0]))
        return _with(drawn, twin_name(policy), np.zeros(drawn.layout.n_inner, np.int64))
    if isinstance(data, Table):
        raise InputError(
            f"{name!r} changes records, and this is a cube of them: build it with `discreet cube --policy`"
        )
    changed = _run(data, methods)
    cube = cube_of(changed)
    if moves == "places":
        return _with(cube, twin_name(policy), _before_swap(cube, changed, methods[0]), DECIMALS)
    return _with(cube, twin_name(policy), _before_pram(cube, changed, methods), DECIMALS)


def _run(data: Microdata, methods: list[Any]) -> Microdata:
    for step in methods:
        changed: object = step(data)
        if not isinstance(changed, Microdata):
            raise InputError(f"a step on records turns Microdata into Microdata; this one gave {told('back', changed)}")
        data = changed
    return data


def _other(step: Any) -> Any:
    """The same step by other chances."""
    return dataclasses.replace(step, seed=(step.seed or 0) + AGAIN)


def _before_noise(cube: Table, step: Any, name: str) -> Array:
    """A draw of what the counts of the cube were, given what they are."""
    counts = cube.statistics["count"].inner
    transition = step.transition(Table(cube.layout, {"count": cube.statistics["count"]}, "count"))
    rng = np.random.default_rng(int(hashlib.sha256(name.encode()).hexdigest()[:16], 16))
    drawn: Array = guesses(counts, transition, rng, 1)[0]
    return drawn


def _before_swap(cube: Table, changed: Microdata, step: Any) -> Array:
    """What the counts may have been before records were swapped, in units of 10**-DECIMALS; zeros if none can tell.

    Data that were mixed once have less structure left to lose, so what a second swap changes is too little. A swap
    moves every record from area to area with the same chances M, whatever else it is, so the changed counts are M times
    the true ones in the mean: the twin has them times the inverse, and chance deviations of the second swap added.
    M is that of the second swap. The inverse also takes chance for structure, 1/λ − 1 times as far as the swap has
    moved it (λ is the least eigenvalue of M), so only what that lacks is added. Zeros where λ is too small for that,
    and where who moves, or to where, depends on other variables.
    """
    nothing = np.zeros(cube.layout.n_inner, np.int64)
    if not step.even:
        return nothing
    again = _other(step)(changed)
    size = len(changed.dimension(step.geography).leaves)
    pairs = np.zeros((size, size))
    np.add.at(pairs, (leaf_codes(changed, step.geography), leaf_codes(again, step.geography)), 1.0)
    pairs[np.diag_indices(size)] += pairs.sum(axis=1) == 0  # an empty area
    matrix = pairs / pairs.sum(axis=1, keepdims=True)
    least = float(np.linalg.eigvals(matrix).real.min())
    if least < LEAST:
        return nothing
    lacks = math.sqrt(max(0.0, 1.0 - (1.0 / least - 1.0) ** 2))
    layout = cube.layout
    counts = layout.dense(cube.statistics["count"].inner).astype(np.float64)
    more = layout.dense(cube_of(again).statistics["count"].inner).astype(np.float64)
    axis = layout.axis(step.geography)
    ahead, back = (_along(counts, axis, one) for one in (matrix, np.linalg.inv(matrix)))
    return _thousandths(cube, back + lacks * (more - ahead))


def _along(counts: Array, axis: int, matrix: Array) -> Array:
    """Counts after every category of one variable has gone to others by the chances of its row."""
    moved: Array = np.moveaxis(np.tensordot(matrix.T, counts, axes=(1, axis)), 0, axis)
    return moved


def _thousandths(cube: Table, counts: Array) -> Array:
    """Counts over all inner cells in units of 10**-DECIMALS."""
    layout = cube.layout
    flat = counts.ravel() if layout.possible is None else counts.ravel()[layout.inner]
    whole: Array = np.rint(flat * 10**DECIMALS).astype(np.int64)
    return whole


def _before_pram(cube: Table, changed: Microdata, methods: list[Any]) -> Array:
    """The counts of the cube times the inverse of each matrix, in units of 10**-DECIMALS; zeros if there is none.

    Single cells come out far too large or below zero; sums over many of them are right in the mean, and only those
    are looked at.
    """
    layout = cube.layout
    counts = layout.dense(cube.statistics["count"].inner).astype(np.float64)
    for step in methods:
        matrix = step.probabilities(changed)  # of the changed data: those of the true ones would tell of them
        if np.linalg.cond(matrix) > WORST:
            return np.zeros(layout.n_inner, np.int64)
        axis = layout.axis(step.variable)
        counts = _along(counts, axis, np.linalg.inv(matrix))
    return _thousandths(cube, counts)


def cube_of(data: Microdata | Table) -> Table:
    """Every combination of finest codes, with one published cell only: margins are summed when they are asked for.

    Of a cube, itself.
    """
    if isinstance(data, Table):
        return data
    return tabulate(data, by=[d.name for d in data.dimensions], margins=[corner(data.dimensions)])


def corner(dimensions: tuple[Dimension, ...]) -> dict[str, list[str]]:
    """The one cell."""
    return {d.name: [d.total if d.total is not None else d.leaves[0]] for d in dimensions}


def _perturbed(cube: Table, step: Any) -> Table:
    """The cube with its inner counts moved."""
    if cube.measure != "count":  # another measure would be published as it is
        raise InputError(f"a step on the cube perturbs counts, and the data's measure is {cube.measure!r}")
    every = Layout.of(cube.dimensions, margins=[{d.name: list(d.leaves) for d in cube.dimensions}])
    every = dataclasses.replace(every, possible=cube.layout.possible)
    held = {n: s for n, s in cube.statistics.items() if n in ("count", "key")}
    open_ = {n: Additive(s.inner, every.aggregate(s.inner), s.decimals) for n, s in held.items()}
    shown = protect(Table(every, open_, "count"), step).shown_inner()  # held to its contract, as any method
    if not np.isfinite(shown).all():
        raise InputError("a step on the cube moves counts and shows every one; this one hides some")
    return _with(cube, "count", np.rint(shown).astype(np.int64))


def _drawn_records(data: Microdata, step: Any) -> Microdata:
    """People of a synthetic population as records, where their combinations are too many for a cube."""
    import pyarrow as pa

    codes = step.drawn_codes(InnerCells.of_records(data))
    columns = {
        d.name: pa.DictionaryArray.from_arrays(codes[:, k], list(d.leaves)) for k, d in enumerate(data.dimensions)
    }
    book = dataclasses.replace(
        data.codebook, columns={}, missing={}, unit=None, holding=None, weight=None, key=None, magnitudes=()
    )
    return Microdata.read(pa.table(columns), book)


def _without_keys(cube: Table) -> Table:
    """Counts alone: sums of true record keys would tell of the true cube."""
    return dataclasses.replace(cube, statistics={"count": cube.statistics["count"]})


def _with(cube: Table, name: str, inner: Array, decimals: int = 0) -> Table:
    statistic = Additive(inner, cube.layout.aggregate(inner), decimals)
    return dataclasses.replace(cube, statistics={**cube.statistics, name: statistic})
