"""Labels of one dimension that group the same population in several ways below one total: sexes, then ages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.errors import InputError, listed
from discreet.sheets.blocks.implied_indents import BEGINS_OF_WHICH
from discreet.sheets.sums.axis_lines import AxisLines
from discreet.sheets.sums.axis_sums import SumTree
from discreet.sheets.sums.nested_labels import parts_of_parts
from discreet.sheets.sums.sum_questions import leave_option
from discreet.sheets.sums.sum_runs import runs_to
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK, option

MOST_LABELS = 200
"""Labels among which two groupings without a total are looked for."""


@dataclass(frozen=True)
class Groupings:
    """The labels of each grouping with all that stands below them, and the total that they have in common."""

    total: str
    labels: tuple[tuple[str, ...], ...]
    partly: tuple[tuple[str, ...], ...] = ()
    """Labels that are parts of the total and leave a remainder: each by itself, and together where that may be."""
    apart: tuple[str, ...] = ()
    """Labels that have nothing to do with the total."""

    def sentence(self, name: str) -> str:
        """What was assumed of the dimension."""
        ways = [labels[0] for labels in self.labels]
        if not ways:
            parts = [labels[0] for labels in self.partly]
            return (
                f"{self.total!r} counts all of {listed(parts, 4)}, which may overlap: what each leaves of it is "
                f"protected as well; {option(name, None)} if it does not"
            )
        several = f"in {len(ways)} ways (from {listed(ways, 4)} on)" if len(ways) > 1 else f"from {ways[0]!r} on"
        parts = [labels[0] for labels in self.partly if len(labels) == 1]
        rest = f", and {listed(parts, 4)} are parts of it whose remainder is protected as well" if parts else ""
        return (
            f"labels of {name!r} group {self.total!r} {several}{rest}: a table for each; {option(name, None)} if no "
            "label is a sum of others"
        )


def find_groupings(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    tree: SumTree,
    groups: Collection[str],
    *,
    partly: bool,
    said: Mapping[str, str | None],
) -> Groupings | None:
    """The groupings below a total that adds up some labels and has others beside it; None if there is one at most.

    ``groups`` are labels that are known to be sums of others, ``said`` what the caller says of totals.
    """
    if tree.total is not None or (name in said and said[name] is None):
        return None
    for whole_code, overlapping in tree.overlapping.items():
        place = {code: k for k, code in enumerate(codes)}
        runs, left = runs_to(lines, place[whole_code], sorted(place[part] for part in overlapping))
        ways = tuple(_with_parts(tree.children, [codes[k] for k in run]) for run in runs)
        each = tuple(_with_parts(tree.children, [codes[k]]) for k in left)
        held = {whole_code, *(label for labels in (*ways, *each) for label in labels)}
        return Groupings(whole_code, ways, each, tuple(code for code in codes if code not in held))
    below = {part for parts in tree.children.values() for part in parts}
    top = [k for k, code in enumerate(codes) if code not in below and code not in groups]
    wholes = sorted((k for k in top if codes[k] in tree.children), key=lambda k: -like_a_total(codes[k]))
    if not tree.children and not groups:
        _ask_about_equal_runs(name, codes, lines)
    for whole in wholes:
        others = [k for k in top if k != whole]
        named = like_a_total(codes[whole]) == USUAL or said.get(name) == codes[whole]
        runs, left = runs_to(lines, whole, others)
        if named and left and not partly:
            raise _left_over(name, codes[whole], [codes[k] for k in left])
        if (named and left) or (runs and (named or sum(lines.evidence(whole, run)[2] for run in runs) >= ASK)):
            first = [codes.index(part) for part in tree.children[codes[whole]]]
            return Groupings(
                codes[whole],
                tuple(_with_parts(tree.children, [codes[k] for k in run]) for run in (first, *runs)),
                _partly(codes, lines, whole, left) if named else (),
                () if named else _with_parts(tree.children, [codes[k] for k in left]),
            )
    return None


def _partly(codes: Sequence[str], lines: AxisLines, whole: int, left: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Labels that leave a remainder, one by one, and all of them together unless they come to more than the whole."""
    alone = [(codes[k],) for k in left]
    together = len(left) > 1 and lines.evidence(whole, left)[3]
    return (*alone, tuple(codes[k] for k in left)) if together else tuple(alone)


def parts_in_doubt(
    name: str, codes: Sequence[str], lines: AxisLines, sums: Mapping[str, Sequence[str]], overlapping: bool
) -> list[tuple[Groupings, str]]:
    """Other ways to read parts of ``sums`` that leave a remainder, and a sentence on each: one may be part of another.

    What the inner ones leave of the outer one is a count then, and so is what the outer one alone leaves of the sum;
    parts that are ``overlapping`` are each taken from the sum as it is.
    """
    place = {code: k for k, code in enumerate(codes)}
    found = []
    for code, parts in sums.items():
        inner = parts_of_parts(name, codes, lines, [place[part] for part in parts], BEGINS_OF_WHICH)
        for outer, own in inner.items():
            sentence = (
                f"{listed([codes[k] for k in own], 4)} may be part of {codes[outer]!r}, which is nowhere less: what "
                "each leaves is protected as if it were; indent it below that if it is"
            )
            if not overlapping:
                found.append((Groupings(code, (), ((codes[outer],),)), sentence))
            found.append((Groupings(codes[outer], (), _partly(codes, lines, outer, own)), sentence))
    return found


def _left_over(name: str, total: str, left: Sequence[str]) -> InputError:
    return InputError(
        f"dimension {name!r}: {total!r} is called like a total and is the sum of some labels, but {listed(left, 4)} "
        "beside them do not add up to it; say partly=True (--partly) if each of these counts a part of it and the rest "
        "is not listed; else put them into a table of their own below their own header, or leave them out (range=, "
        "--range)"
    )


def _with_parts(children: Mapping[str, Sequence[str]], labels: Sequence[str]) -> tuple[str, ...]:
    """Labels and everything that they add up."""
    held: list[str] = []
    for label in labels:
        held += [label, *_with_parts(children, children.get(label, ()))]
    return tuple(dict.fromkeys(held))


def _ask_about_equal_runs(name: str, codes: Sequence[str], lines: AxisLines) -> None:
    """Refuse labels that fall into runs with the same sums in every line: several groupings, their total left out."""
    full = lines.shown.all(axis=0) & lines.there.all(axis=0)
    values = lines.values[:, full]
    if not 3 < len(codes) <= MOST_LABELS or not values.shape[1] or (values == values[:1]).all():
        return
    least = ASK + float(np.log2(len(codes)))
    for end in range(2, len(codes) - 1):
        with_sum = np.vstack([values, values[:end].sum(axis=0)])
        there = np.ones(with_sum.shape, bool)
        runs, left = runs_to(
            replace(lines, values=with_sum, shown=there, there=there), -1, range(end, len(codes)), least
        )
        if runs and not left:
            raise InputError(
                f"dimension {name!r}: the labels from {codes[0]!r} and those from {codes[end]!r} on add up to the same "
                "numbers in every line, as groupings of one population do, so what is hidden in one follows from the "
                'other; write their total into the sheet ("Total"), or, where they have none, as stocks and flows, '
                f"leave one aside {leave_option(codes[-1])}"
            )
