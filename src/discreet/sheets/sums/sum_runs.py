"""Runs of labels that stand beside each other and add up to the same total, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.sheets.sums.axis_lines import ASK_AT_END, SURE, AxisLines

LONGEST_SEARCH = 60
"""Labels among which runs are looked for from every one on; of more, only where the last run ended."""


def runs_to(
    lines: AxisLines, whole: int, labels: Sequence[int], least: float = ASK_AT_END
) -> tuple[list[list[int]], list[int]]:
    """Labels in runs of two or more that each add up to ``whole`` in every line, and the labels of no such run.

    ``least`` is how many bits of coincidence make a run. Labels of nothing but zeros behind a run are part of it. The
    last run may be one of which too much is hidden to show it, if no line denies it.
    """
    runs: list[list[int]] = []
    left: list[int] = []
    at = 0
    while at < len(labels):
        end = _run_end(lines, whole, labels, at, least)
        if end is None:
            if len(labels) > LONGEST_SEARCH:
                return runs, [*left, *labels[at:]]
            left.append(labels[at])
            at += 1
            continue
        while end < len(labels) and lines.shown[labels[end]].all() and not lines.values[labels[end]].any():
            end += 1
        runs.append(list(labels[at:end]))
        at = end
    return runs, left


def told_apart(
    lines: AxisLines, whole: int, runs: list[list[int]], left: list[int], *, partly: bool
) -> tuple[list[list[int]], list[int], tuple[str, ...]]:
    """Runs and other labels, where the parts of a whole may be told by several of them; what was assumed of them.

    Of a run that nothing confirms, as too much is hidden, the labels stand alone where it is said that parts leave a
    remainder (``partly``).
    """
    unseen = [run for run in runs if (left or partly) and not lines.evidence(whole, run)[1]]
    if not unseen:
        return runs, left, ()
    if partly:
        return [run for run in runs if run not in unseen], [*left, *(k for run in unseen for k in run)], ()
    sentence = "lines with hidden numbers add up to all; partly=True (--partly) if people may be in several of them"
    return runs, left, (sentence,)


def _run_end(lines: AxisLines, whole: int, labels: Sequence[int], start: int, least: float) -> int | None:
    """Where the shortest run ends that begins with a label and adds up to the whole; None if there is none."""
    for end in range(start + 2, len(labels) + 1):
        run = labels[start:end]
        denied, confirmed, bits, short = lines.evidence(whole, run)
        if not denied and confirmed and bits >= least:
            return end
        if denied and not short:
            return None  # more than the whole already
    rest = labels[start:]
    hidden = not lines.shown[list(rest)].all()
    return len(labels) if len(rest) > 1 and hidden and not lines.evidence(whole, rest)[0] else None


def whole_of_runs(lines: AxisLines, top: Sequence[int]) -> tuple[int, list[list[int]], float] | None:
    """A label to which the others add up in two runs or more that leave none over, the runs, and how many bits show it.

    Bits that any of so many labels would show by chance are taken off.
    """
    full = np.flatnonzero(lines.shown[list(top)].all(axis=0))
    if not 4 < len(top) <= LONGEST_SEARCH or not len(full) or (lines.values[list(top)] < 0).any():
        return None
    line = lines.values[list(top), int(full[0])]
    for at, whole in enumerate(top):
        times = (line.sum() - line[at]) / line[at] if line[at] else 0.0
        if times < 1.5 or abs(times - round(times)) * line[at] > lines.allowed * len(top) + 1e-6:
            continue  # the first line denies it
        runs, left = runs_to(lines, whole, [k for k in top if k != whole])
        if len(runs) > 1 and not left:
            return whole, runs, sum(lines.evidence(whole, run)[2] for run in runs) - 2 * float(np.log2(len(top)))
    return None


def sums_below_headers(groups: Sequence[Sequence[int]], lines: AxisLines) -> dict[int, list[int]]:
    """The last label of every group as the sum of the others of it, or the first, if all groups together prove it.

    A group of two has no such sum, and says nothing.
    """
    several = [list(group) for group in groups if len(group) > 2]
    if len(several) < 2:
        return {}
    for at in (-1, 0):
        sums = {group[at]: [k for k in group if k != group[at]] for group in several}
        found = [lines.evidence(whole, parts) for whole, parts in sums.items()]
        if not any(denied for denied, *_ in found) and all(confirmed for _, confirmed, *_ in found):
            return sums if sum(bits for *_, bits, _ in found) >= SURE else {}
    return {}
