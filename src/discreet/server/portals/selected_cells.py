"""The selected cells of an answer: a Release with all selected variables as dimensions, in the order of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.base.annotations import Array
from discreet.data.dimension import Dimension
from discreet.data.variable_description import VariableDescription
from discreet.errors import InputError
from discreet.policy.served_measures import COUNT
from discreet.release import Release
from discreet.release.release import read_only
from discreet.release.table_words import TableWords

VALUE = "value"  # what the numbers of several measures are called together


def selected(
    release: Release, variables: Mapping[str, Dimension], codes: Mapping[str, Sequence[str]], measure: str = COUNT
) -> Release:
    """The cells with the selected codes, in the order of these; ``measure`` is what its numbers are called.

    A variable that the answer was filtered by or summed over is a dimension again, with its one code; a variable of
    the answer that was not selected is shown at its total.

    >>> import discreet as dc
    >>> table = dc.Table.of([[3, 8], [16, 23]], ["age", "sex"])
    >>> release = dc.protect(table, dc.Round(5)).release()
    >>> part = selected(release, {d.name: d for d in table.dimensions}, {"sex": ("2", "Total")})
    >>> part.dimensions[0].codes, part.values["count"].tolist()
    (('2', 'Total'), [30.0, 50.0])
    """
    names = [d.name for d in release.dimensions]
    keep = np.ones(len(release), bool)
    columns: list[Array] = []
    for k, d in enumerate(release.dimensions):
        if d.name not in codes:
            keep &= release.codes[:, k] == (-1 if d.total is None else d.position[d.total])
    for name, wanted in codes.items():
        if name not in names:
            columns.append(np.zeros(len(release), np.int64))
            continue
        k = names.index(name)
        place = np.full(len(release.dimensions[k].codes), -1)
        for new, code in enumerate(wanted):
            if code in release.dimensions[k].position:
                place[release.dimensions[k].position[code]] = new
        column = place[release.codes[:, k]]
        keep &= column >= 0
        columns.append(column)
    stated, *more = release.values
    if more:
        raise InputError(f"the answer has {len(release.values)} measures, and one at a time is selected from")
    rows = np.flatnonzero(keep)
    rows = rows[np.lexsort([column[rows] for column in reversed(columns)])]
    return replace(
        release,
        dimensions=tuple(_flat(variables[name], wanted) for name, wanted in codes.items()),
        codes=read_only(np.stack([column[rows] for column in columns], axis=1)),
        values={measure: read_only(release.values[stated][rows])},
        decimals={measure: release.decimals[stated]},
        status=read_only(release.status[rows]),
        words=release.words.renamed({stated: measure}),
        quotients={},
        means={},
    )


def measures_together(parts: Sequence[Release], contents: str, labels: Mapping[str, str]) -> Release:
    """The same cells of several measures as one release, in which the measures are the codes of a variable.

    So each number has a mark of its own. Of one measure it is that release itself.

    >>> import discreet as dc
    >>> table = dc.Table.of([[3, 8], [16, 23]], ["age", "sex"])
    >>> dimensions = {d.name: d for d in table.dimensions}
    >>> parts = [selected(dc.protect(table, dc.Round(base)).release(), dimensions, {"sex": ("1", "2")}, f"by {base}")
    ...          for base in (5, 10)]
    >>> made = measures_together(parts, "contents", {})
    >>> made.dimensions[0].codes, made.values["value"].tolist()
    (('by 5', 'by 10'), [20.0, 30.0, 20.0, 30.0])
    """
    first, *rest = parts
    if not rest:
        return first
    names = [name for part in parts for name in part.values]
    own = Dimension.flat(contents, names, total=None, labels={name: labels[name] for name in names if name in labels})
    codes = [np.column_stack([np.full(len(part), k), part.codes]) for k, part in enumerate(parts)]
    return replace(
        first,
        dimensions=(own, *first.dimensions),
        codes=read_only(np.concatenate(codes)),
        values={VALUE: read_only(np.concatenate([part.values[name] for part, name in zip(parts, names, strict=True)]))},
        decimals={VALUE: max(digits for part in parts for digits in part.decimals.values())},
        status=read_only(np.concatenate([part.status for part in parts])),
        method="; ".join(dict.fromkeys(step for part in parts for step in part.method.split("; "))),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        words=TableWords("; ".join(dict.fromkeys(part.words.subject for part in parts))),
        truthful=all(part.truthful for part in parts),
        noise=None,
    )


def _flat(dimension: Dimension, codes: Sequence[str]) -> Dimension:
    """The selected codes side by side: whether they add up is not said, as a part of them need not."""
    labels = {code: dimension.labels[code] for code in codes if code in dimension.labels}
    flat = Dimension.flat(dimension.name, codes, total=None, labels=labels)
    return replace(flat, description=VariableDescription(label=dimension.description.label))


def combination_places(release: Release) -> tuple[tuple[int, ...], Array]:
    """The number of selected codes of each dimension, and where each cell stands among all combinations."""
    shape = tuple(len(d.codes) for d in release.dimensions)
    return shape, np.ravel_multi_index(list(release.codes.T), shape)


def all_values(release: Release, measure: str) -> list[int | float | None]:
    """A value for every combination of selected codes, None where none is shown."""
    shape, place = combination_places(release)
    values: list[int | float | None] = [None] * int(np.prod(shape))
    digits = release.decimals[measure]
    for at, value in zip(place.tolist(), release.values[measure].tolist(), strict=True):
        if value == value:
            values[at] = round(value, digits) + 0.0 if digits else int(value)
    return values


def all_marks(release: Release) -> list[str]:
    """A mark for every combination of selected codes: why no value is shown, or nothing."""
    shape, place = combination_places(release)
    marks = ["."] * int(np.prod(shape))
    for at, status in zip(place.tolist(), release.status.tolist(), strict=True):
        marks[at] = str(status)
    return marks
