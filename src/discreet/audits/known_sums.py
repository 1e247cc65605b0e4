"""Sums of hidden cells that follow from a release: of one equation, and of two that have a hidden cell in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.annotations import Array

Terms = dict[int, int]  # hidden cells of an equation and their factors


def sums_that_follow(rows: Any, hidden: Array) -> dict[tuple[int, ...], int]:
    """Sets of two or more hidden cells whose sum is published in effect, and the first equation of each.

    ``rows`` are the equations of a table (see ``discreet.tables.relations``). The hidden cells of an equation have a
    known sum where all have the same sign; where a hidden total stands against its parts, another equation with the
    same hidden cell may take it away, as the sum of the parts of two hidden totals does. Sums that follow from three
    equations and more only are not looked for.

    >>> from discreet.tables.relations import of_layout
    >>> from discreet.tables.table import Table
    >>> t = Table.of([[1, 2, 3], [4, 5, 6]], ["a", "b"])
    >>> gone = t.is_inner & (t.count != 3) & (t.count != 6)
    >>> len(sums_that_follow(of_layout(t.layout), gone))  # two rows, two columns
    4
    """
    n = len(hidden)
    equations = _of_hidden(rows, hidden, n)
    sums: dict[tuple[int, ...], int] = {}
    by_cell: dict[int, list[int]] = {}
    for number, terms in equations.items():
        _keep(sums, terms, number)
        for cell in terms:
            by_cell.setdefault(cell, []).append(number)
    for cell, numbers in by_cell.items():
        for place, one in enumerate(numbers):
            for two in numbers[:place]:
                _keep(sums, _without(equations[one], equations[two], cell), one)
    return sums


def _of_hidden(rows: Any, hidden: Array, n: int) -> dict[int, Terms]:
    """The hidden cells of every equation that has some, and none that no cell shows."""
    table = rows.tocsr()
    equations: dict[int, Terms] = {}
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    inside = table.indices < n
    unseen = np.zeros(table.shape[0], bool)
    unseen[row[~inside]] = True
    gone = inside & ~unseen[row]
    gone[gone] = hidden[table.indices[gone]]
    for number, cell, factor in zip(row[gone], table.indices[gone], table.data[gone], strict=True):
        equations.setdefault(int(number), {})[int(cell)] = round(factor)
    return equations


def _without(one: Terms, two: Terms, cell: int) -> Terms:
    """The difference of two equations in which a cell does not stand any more; empty if factors differ in size."""
    if abs(one[cell]) != abs(two[cell]):
        return {}
    sign = 1 if one[cell] == two[cell] else -1
    terms = dict(one)
    for other, factor in two.items():
        terms[other] = terms.get(other, 0) - sign * factor
    return {other: factor for other, factor in terms.items() if factor}


def _keep(sums: dict[tuple[int, ...], int], terms: Terms, number: int) -> None:
    """Note the cells if their plain sum is known."""
    if len(terms) > 1 and set(terms.values()) in ({1}, {-1}):
        sums.setdefault(tuple(sorted(terms)), number)
