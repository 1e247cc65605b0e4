"""The hypercube: counts and key sums of every combination of finest codes, built once, mapped by every worker.

A folder with ``cube.json``, ``codebook.toml`` and one ``.npy`` file per statistic. Confidential, like the records.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.files import own_folder, whole_file, write_whole
from discreet.data.codebook import Codebook, read_codebook
from discreet.data.microdata import Microdata
from discreet.errors import InputError
from discreet.policy import Policy, ready
from discreet.policy.pretabular import check_keys, corner, cube_of, twin_name, twins_of, with_record_keys
from discreet.server.counting.cube_measures import arrays_of, measured_tables, read_measured, write_measured
from discreet.server.editions.edition_history import CODEBOOK, HEAD, Edition
from discreet.server.editions.edition_marks import EditionMarks
from discreet.server.editions.edition_series import Series
from discreet.server.editions.editions import DANGER, NEW_SERIES, check_same_cube, earlier_editions, edition_kept
from discreet.tables.additive import Additive
from discreet.tables.layout import Layout
from discreet.tables.table import Table, recast

MOST_CELLS = 20_000_000  # inner cells of a cube; data with more are asked each time


def fits(codebook: Codebook) -> bool:
    """Whether the data are small enough in codes, whatever their number of records, to be held as a cube."""
    return math.prod(len(d.leaves) for d in codebook.dimensions) <= MOST_CELLS


@dataclass(frozen=True)
class BuiltCube:
    """The version that the folder holds now; if the edition before stays, why, and whether its records are others."""

    version: str
    kept: str = ""
    changed: bool = False


def build(
    data: Microdata,
    folder: Path,
    policy: Policy | None = None,
    say: Callable[[str], None] | None = None,
    *,
    asked: str = "",
) -> BuiltCube:
    """Count the records and write the cube. A cube that is there whole is never half written.

    With a policy, its steps before counting ([[before]]) are done first: the cube holds the changed data. An edition
    that is there already stays until as many records have changed as the policy asks for ([edition] min_changes), since
    each of the editions that the folder has held; one that cannot be compared is not replaced, unless it is ``asked``
    for by name: ``"--first-edition"`` or ``"--new-series"``.
    """
    if policy is not None and data.secret is None:
        check_keys(data.codebook, policy)
    history = earlier_editions(folder, policy, asked)
    measures = measured_tables(_keyed(data, policy), policy.measures) if policy is not None else {}
    marks = EditionMarks.of(replace(cube_of(data), _measured=measures), None if policy is None else policy.secret)
    edition = Edition(Series.of(data.codebook, policy), marks)
    if (stays := edition_kept(folder, history, edition, policy, asked)) is not None:
        return BuiltCube(read_cube(folder)[1], stays.why, stays.changed)
    whole = replace(cube_of(data if policy is None else ready(data, policy)), _measured=measures)
    version = _version(whole, data.codebook)
    edition = replace(edition, version=version)
    check_same_cube(history, edition, policy)
    if say is not None and asked == NEW_SERIES:
        say(f"a new series: {DANGER}")
    own_folder(folder)
    (folder / HEAD).unlink(missing_ok=True)
    for name, statistic in whole.statistics.items():
        _save(folder / f"{name}.npy", statistic.inner)
    write_whole(folder / CODEBOOK, data.codebook.to_toml().encode(), private=True)
    history.joined(edition).write(folder)
    (folder / "edition.npy").unlink(missing_ok=True)  # marks of an earlier kind
    decimals = {name: statistic.decimals for name, statistic in whole.statistics.items()}
    told: dict[str, Any] = {"version": version, "measure": whole.measure, "decimals": decimals}
    told |= {"measures": write_measured(folder, measures)} if measures else {}
    write_whole(folder / HEAD, json.dumps(told).encode(), private=True)  # last: it says all is there
    return BuiltCube(version)


def _version(whole: Table, codebook: Codebook) -> str:
    """A hash of all numbers of a cube and of its codebook."""
    state = hashlib.sha256(codebook.to_toml().encode())
    for name, statistic in whole.statistics.items():
        state.update(name.encode() + np.ascontiguousarray(statistic.inner).tobytes())
    for name, table in whole._measured.items():
        for part, array in arrays_of(table).items():
            state.update(f"{name} {part}".encode() + np.ascontiguousarray(array).tobytes())
    return state.hexdigest()[:16]


def made_by(folder: Path, policy: Policy) -> bool:
    """Whether there is a whole cube that the policy's steps before counting have made, with the policy's measures."""
    try:
        cube, _ = read_cube(folder)
    except InputError:
        return False
    changed = twins_of(cube) == ([twin_name(policy)] if policy.before else [])
    return changed and set(cube._measured) == set(policy.measures)


def read_cube(folder: Path) -> tuple[Table, str]:
    """The cube as a table without margins, its numbers mapped from the files, and its version."""
    try:
        told = json.loads((folder / HEAD).read_text(encoding="utf-8"))
        codebook = read_codebook(folder / "codebook.toml")
        zeros = codebook.structural_zeros([d.name for d in codebook.dimensions])
        layout = Layout.of(codebook.dimensions, margins=[corner(codebook.dimensions)], structural=zeros)
        statistics = {}
        for name, decimals in told["decimals"].items():
            inner = np.load(folder / f"{name}.npy", mmap_mode="r")
            if inner.shape != (layout.n_inner,):
                raise InputError("the cube does not fit its codebook; build it again")
            statistics[name] = Additive(inner, layout.aggregate(inner), decimals)
        measures = read_measured(folder, told.get("measures", ()), layout)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{folder.name!r} holds no whole cube; build it with `discreet serve` or `discreet cube`"
        ) from None
    cube = Table(layout, statistics, told["measure"], None, codebook.title, codebook.source)
    tables = {name: replace(one, title=cube.title, source=cube.source) for name, one in measures.items()}
    return replace(cube, _measured=tables), told["version"]


def narrowed(table: Table, names: Collection[str]) -> Table:
    """The cube of some variables only, the others summed away; a variable without a total stays."""
    kept = tuple(d for d in table.dimensions if d.name in names or d.total is None)
    if kept == table.dimensions or not kept:
        return table
    blocks = tuple(
        np.array([d.position[leaf] for leaf in d.leaves] if d in kept else [d.position[d.total or ""]])
        for d in table.dimensions
    )
    cut = Layout(table.dimensions, (blocks,), table.layout.possible)
    held = None if cut.possible is None else cut.parts > 0
    return recast(table, cut, replace(Layout.of(kept, margins=[corner(kept)]), possible=held))


def _keyed(data: Microdata, policy: Policy | None) -> Microdata:
    """The records with the keys that answers from them would have."""
    keyed = data if policy is None else with_record_keys(data, policy)
    assert isinstance(keyed, Microdata)
    return keyed


def _save(path: Path, array: np.ndarray) -> None:
    with whole_file(path, private=True) as file:
        np.save(file, np.ascontiguousarray(array))
