"""Questions about totals: labels that are called like one and do not add up, or add up and are not called one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.errors import InputError, listed, many
from discreet.sheets.sums.axis_lines import ASK_AT_END, SURE, AxisLines
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK, option

_NUMBER = re.compile(r"[-\d][\d.,' %]*")
MOST_SEARCHED = 60
"""Labels of which every run is tried; longer lists are left to what proves itself."""
OF_SOME = 3
"""A name that says that a label is a sum of some others: "North total"."""
IF_ROUNDED = "if numbers were rounded say tolerance=0.5 (--tolerance 0.5)"
AND_ROUNDED = "with it tolerance=0.5 (--tolerance 0.5) if numbers were rounded"
TAKE_SUMS = ", totals='compute' (--totals compute) to take the sums"


class PerhapsTotalError(InputError):
    """A label that adds up the others as far as is shown: whether it is the total is for the caller to say."""


def sum_name(code: str) -> int:
    """How much a label sounds like a total; "North total" like one of some labels.

    >>> [sum_name(code) for code in ("Total", "North total", "All Saints", "North")]
    [2, 3, 1, 0]
    """
    words = code.split()
    return OF_SOME if len(words) > 1 and like_a_total(words[-1]) == USUAL != like_a_total(code) else like_a_total(code)


def leave_option(label: str) -> str:
    """How a row or column is left aside by its label, without the label where it may be a count taken for one.

    >>> leave_option("Open at end"), leave_option("47")
    ("by its label (leave='Open at end', --leave 'Open at end')", 'by its label (leave=, --leave)')
    """
    if not label or _NUMBER.fullmatch(label) or " / " in label:
        return "by its label (leave=, --leave)"
    return f"by its label (leave={label!r}, --leave {shlex.quote(label)})"


def labels_in_words(labels: Sequence[str]) -> str:
    """Labels for a message; where one is a number it may be a count that was taken for a label, and is not said.

    >>> labels_in_words(["North", "South"]), labels_in_words(["North", "1,013"])
    ("'North', 'South'", 'labels that are numbers')
    """
    return "labels that are numbers" if any(_NUMBER.fullmatch(label) for label in labels) else listed(labels, 4)


def code_beginnings(codes: Sequence[str]) -> list[bool]:
    """Of each code whether the next or last one begins with it and goes on, as AT11 does with AT."""
    around = zip(("", *codes[:-1]), codes, (*codes[1:], ""), strict=True)
    return [
        code.isalnum() and any(other.isalnum() and other.startswith(code) and other != code for other in (last, after))
        for last, code, after in around
    ]


def in_doubt(name: str, code: str, how: str) -> InputError:
    """The question about a label that all others add up to in some way, which too little shows."""
    return InputError(
        f"dimension {name!r}: the others add up to {code!r} {how}, which may be chance; if it is the total say "
        f"{option(name, code)}, if no label is a sum of others {option(name, None)}"
    )


def ask_about_parts(name: str, codes: Sequence[str], children: Mapping[int, Sequence[int]]) -> None:
    """Refuse a sum of labels of which one is called a total, itself not: both add up where the others are zero."""
    for whole, parts in children.items():
        called = [codes[k] for k in parts if k not in children and like_a_total(codes[k])]
        if called and not sum_name(codes[whole]):
            raise InputError(
                f"dimension {name!r}: {codes[whole]!r} is the sum of labels of which {called[0]!r} is called like a "
                f"total; if that is the total say {option(name, called[0])}, if it is a category {option(name, None)}"
            )


def ask_about_totals(
    name: str, codes: Sequence[str], lines: AxisLines, children: Mapping[int, list[int]], top: Sequence[int]
) -> None:
    """Refuse a label that is called a total and does not add up, or adds up and is not called one."""
    each = lines.each(top)
    for k, (denied, _, bits, less), off in zip(top, each, _perhaps_off(lines, top, each), strict=True):
        usual = like_a_total(codes[k])
        if len(top) < 2 or k in children:
            continue
        if usual == USUAL and denied:
            part = " (its parts leave a remainder: partly=True, --partly, if only some are listed)" if less else ""
            raise InputError(
                f"dimension {name!r}: {codes[k]!r} is called like a total but is not the sum of the others in "
                f"{many(denied, 'line')}{part}; if it is a category say {option(name, None)}, {IF_ROUNDED}, if the "
                "sheet is wrong correct it"
            )
        if usual != USUAL and denied and (usual or off):
            _ask_if_nearly(name, codes[k], lines, k, [other for other in top if other != k])
        ends = k in (0, len(codes) - 1)
        least = (0.0 if lines.allowed else 1.0) if usual else ASK_AT_END if ends else ASK
        if usual != USUAL and not denied and len(top) > 2 and bits >= least:
            raise PerhapsTotalError(
                f"dimension {name!r}: {codes[k]!r} is the sum of the others as far as is shown, which may be chance; "
                f"if it is the total say {option(name, codes[k])}, if it is a category {option(name, None)}"
            )


def ask_about_runs(name: str, codes: Sequence[str], lines: AxisLines, children: Mapping[int, list[int]]) -> None:
    """Refuse a label with a total in its name, as "North total", that may add up those just before or behind it."""
    for k, code in enumerate(codes):
        if k in children or sum_name(code) != OF_SOME:
            continue
        for run in (range(k - 2, k), range(k + 1, k + 3)):
            if run.start >= 0 and run.stop <= len(codes) and not lines.evidence(k, run)[0] and lines.values[k].any():
                raise InputError(
                    f"dimension {name!r}: {code!r} is called like the sum of some labels, and too little is shown to "
                    f"tell of which; say {option(name, None)} if no label is a sum of others, else leave it out"
                )


def _perhaps_off(lines: AxisLines, top: Sequence[int], each: Sequence[tuple[int, int, float, bool]]) -> list[bool]:
    """Which labels without the name of a total may be nearly the sum of the others, found for all of them at once."""
    if (lines.values[list(top)] < 0).any():
        return [True] * len(top)
    wider = replace(lines, allowed=lines.allowed + 0.5 * lines.unit).each(top)
    return [
        (not far and rounded_bits > SURE - 1) or (confirmed >= denied and bits > SURE - 1)
        for (denied, confirmed, bits, _), (far, _, rounded_bits, _) in zip(each, wider, strict=True)
    ]


def _ask_if_nearly(name: str, code: str, lines: AxisLines, whole: int, others: Sequence[int]) -> None:
    """Refuse a label that misses the sum of the others by a little, or in a few lines: a total that is off."""
    if len(others) < 2:
        return
    usual = like_a_total(code)
    denied, confirmed, bits, less = lines.evidence(whole, others)
    far, _, rounded_bits, _ = replace(lines, allowed=lines.allowed + 0.5 * lines.unit).evidence(whole, others)
    rounded = not far and rounded_bits >= (ASK_AT_END if usual else SURE)
    mostly = confirmed >= denied and bits >= (ASK if usual else SURE)
    sums = float(np.where(lines.shown[others], lines.values[others], 0).sum())
    remainder = bool(usual) and less and 2 * sums >= float(lines.values[whole].sum())
    if rounded or mostly or remainder:
        part = ", partly=True (--partly) if only some of its parts are listed" if less else ""
        raise InputError(
            f"dimension {name!r}: {code!r} is nearly the sum of the others, but not in {many(denied, 'line')}; if it "
            f"is a category say {option(name, None)}; if it is the total correct the sheet, or say "
            f"{option(name, code)} and {AND_ROUNDED}{part}{TAKE_SUMS}"
        )


def ask_about_unnamed_runs(
    name: str, codes: Sequence[str], lines: AxisLines, children: Mapping[int, Sequence[int]]
) -> None:
    """Refuse a label that adds up some just before or behind it in every line, with a name that says nothing of it."""
    below = {part for parts in children.values() for part in parts}
    top = [k for k in range(len(codes)) if k not in below]
    if len(top) > MOST_SEARCHED:
        return
    all_shown = np.flatnonzero(lines.shown[top].all(axis=0) & lines.there[top].all(axis=0))
    if not len(all_shown):
        return
    line: list[float] = lines.values[:, int(all_shown[0])].tolist()
    for at, whole in enumerate(top):
        if whole in children or 2 * float(np.log2(1 + np.abs(lines.values[whole])).sum()) < ASK:
            continue
        before = [top[start:at] for start in range(at - 1)]
        behind = [top[at + 1 : end] for end in range(at + 3, len(top) + 1)]
        for run in (*before, *behind):
            if abs(sum(line[k] for k in run) - line[whole]) > lines.allowed * (len(run) + 1) + 1e-6:
                continue  # the first line that is all shown denies it
            denied, confirmed, bits, _ = lines.evidence(whole, run)
            if not denied and confirmed > 1 and bits >= ASK + 2 * float(np.log2(len(top))):
                raise _perhaps_a_sum(name, codes[whole], len(run))
    tiles = _tiles(lines, [k for k in top if k not in children])
    if sum(lines.evidence(whole, run)[2] for whole, run in tiles) >= ASK + 2 * float(np.log2(len(top))):
        raise _perhaps_a_sum(name, codes[tiles[0][0]], len(tiles[0][1]))


def _perhaps_a_sum(name: str, code: str, many: int) -> InputError:
    return InputError(
        f"dimension {name!r}: {code!r} is the sum of {many} labels beside it in every line, which may be chance; if it "
        f'is their sum call it so on the sheet ("{code} total"), or indent its parts, or leave it aside '
        f"{leave_option(code)}; if no label is a sum of others say {option(name, None)}"
    )


def _tiles(lines: AxisLines, top: Sequence[int]) -> list[tuple[int, list[int]]]:
    """All labels in groups, two or more, of a label and those right behind it (or before it) that add up to it."""
    for order in (list(top), list(top)[::-1]):
        tiles: list[tuple[int, list[int]]] = []
        at = 0
        while at < len(order):
            runs = (order[at + 1 : end] for end in range(at + 3, len(order) + 1))
            fits = (run for run in runs if not (found := lines.evidence(order[at], run))[0] and found[1])
            if (run := next(fits, None)) is None:
                break
            tiles.append((order[at], run))
            at += 1 + len(run)
        if at == len(order) and len(tiles) > 1:
            return tiles
    return []
