"""The audit of a file against what `protect --confidential` wrote: true values, status letters, protection levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.base.annotations import Array
from discreet.base.naming import STATUS, unused
from discreet.cli.ready import read_csv
from discreet.errors import InputError, many

if TYPE_CHECKING:
    import pandas as pd

    from discreet.audits import Audit
    from discreet.audits.view import View
    from discreet.release import Release
    from discreet.tables.layout import Layout

LEVELS = ("below", "above", "sliding")


@dataclass(frozen=True, eq=False)
class Confidential:
    """Per cell its true value in the last decimal (NaN where the file has none), whether it is sensitive, levels."""

    truth: Array
    primary: Array
    levels: tuple[Array, ...]
    ruled: bool
    """Whether the method left levels, so that it was given a rule."""


def against(
    release: Release,
    path: Path,
    measure: str | None,
    nonnegative: bool | None,
    progress: Callable[[int, int], None] | None,
) -> Audit:
    """The audit of all cells that are not shown and of all that the confidential file calls sensitive."""
    from discreet.audits.view import view_of_release
    from discreet.audits.view_audit import empty, of_view

    if measure is None and len(release.values) > 1:
        raise InputError(f"protection levels are of one measure; say --measure with one of {', '.join(release.values)}")
    seen = view_of_release(release, measure=measure, nonnegative=nonnegative)
    held = read_truth(path, seen)
    if (seen.unknown & (held.truth == 0)).any():  # zeros are hidden, so nobody can take it that they are not
        release = replace(release, from_one=False)
        seen = view_of_release(release, measure=measure, nonnegative=nonnegative)
    listed = ~np.isnan(held.truth)
    in_file = np.zeros(len(listed), bool)
    in_file[np.ravel_multi_index(tuple(release.codes.T), seen.layouts[0].code_shape)] = True
    if gaps := int((in_file & ~listed).sum()):
        raise InputError(
            f"{path.name!r} lacks {many(gaps, 'cell of the table', 'cells of the table')}; give all that `protect "
            "--confidential` wrote"
        )
    shown = ~seen.unknown & listed
    other = int((np.abs(seen.known.lower - held.truth)[shown & ~seen.withheld] > 0.5).sum())
    words: tuple[str, ...] = (_other(path, other),) if other else ()
    targets = (seen.withheld & listed) | held.primary
    report = of_view(
        replace(seen, truth=held.truth), np.flatnonzero(targets), protection=held.levels, progress=progress
    )
    bare = held.primary[report.number] & shown[report.number]
    rest = np.flatnonzero(seen.withheld & ~listed)  # in neither file; what is known of them is judged all the same
    others = (of_view(seen, rest, progress=progress),) if len(rest) else ()
    if not len(report.number) and not len(rest):
        words += empty(seen, "unknown", ruled=held.ruled)
    return replace(
        report,
        sensitive=bare if bare.any() else None,
        unjudged=(*report.unjudged, *words),
        others=tuple(replace(other, released=(release,)) for other in others),
        released=(release,),
    )


def read_truth(path: Path, seen: View) -> Confidential:
    """The columns of the file by their names, a line for each cell."""
    frame, layout = read_csv(path), seen.layouts[0]
    names = [d.name for d in layout.dimensions]
    measure = unused(seen.measure, names)
    status = unused(STATUS, [*names, measure])
    if missing := [c for c in (*names, measure, status) if c not in frame.columns]:
        raise InputError(f"{path.name!r} has no column {missing[0]!r}; give the file of `protect --confidential`")
    at = _places(path, frame, layout)
    truth, levels = np.full(len(layout), np.nan), np.zeros((len(LEVELS), len(layout)))
    heads = [unused(column, names) for column in LEVELS]
    try:
        truth[at] = np.rint(frame[measure].astype(float) * 10.0**seen.decimals)
        for k, head in enumerate(heads):
            levels[k, at] = frame[head].astype(float) if head in frame.columns else 0
    except ValueError:
        raise InputError(f"{path.name!r}: a value or level is not a number") from None
    primary = np.zeros(len(layout), bool)
    primary[at] = (frame[status] == "u").to_numpy() | (levels[:, at] > 0).any(axis=0)
    return Confidential(truth, primary, tuple(levels), any(head in frame.columns for head in heads))


def _places(path: Path, frame: pd.DataFrame, layout: Layout) -> Array:
    """Which cell each line is about; none may be named twice."""
    for d in layout.dimensions:
        if unknown := int((~frame[d.name].isin(d.codes)).sum()):
            raise InputError(
                f"{path.name!r}: {many(unknown, 'line has', 'lines have')} a code of {d.name!r} that the table has not"
            )
    codes = [[d.index(c) for c in frame[d.name]] for d in layout.dimensions]
    at = np.ravel_multi_index(codes, layout.code_shape)
    if again := len(at) - len(np.unique(at)):
        raise InputError(
            f"{path.name!r}: {many(again, 'line repeats', 'lines repeat')} the cell of another line; keep one line for "
            "each cell"
        )
    return np.asarray(at)


def _other(path: Path, several: int) -> str:
    return (
        f"{many(several, 'cell is', 'cells are')} shown with another value than {path.name!r} has: it is of another "
        "table, or values were changed, which a file does not tell; audit the Protected"
    )
