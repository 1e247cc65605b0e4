"""Which labels of a dimension are sums of others: totals and subtotals, first, last or anywhere, proved by arithmetic.

A name alone makes no total and a sum alone hardly one: a label with the name of a total must add up as far as is shown,
and one with a name of its own must add up far beyond chance. What stays in doubt is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK, option

ASK_AT_END = 4.0
"""Bits of coincidence to ask about the first or last label, where totals stand."""
OF_SOME = 3
"""A name that says that a label is a sum of some others: "North total"."""
SURE = 20.0
"""Bits of coincidence from which a label with a name of its own is believed to be a sum, more for longer lists."""


@dataclass(frozen=True)
class SumTree:
    """What adds up what: the parts of every sum, and the total of all, if there is one."""

    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    total: str | None = None
    partly: tuple[str, ...] = ()
    """Sums whose parts leave a remainder, as those under "of which" do."""
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class AxisLines:
    """The numbers of a dimension: a row for each label, a column for each line of the table.

    ``shown`` is False where a mark stands; ``there`` where the sheet has no cell at all, which counts as zero in a sum.
    """

    values: Array
    shown: Array
    there: Array
    allowed: float = 0.0
    """How far a sum may be off per part: half a unit where numbers were rounded one by one."""

    def evidence(self, whole: int, parts: Sequence[int]) -> tuple[int, int, float, bool]:
        """Lines that deny that a row is the sum of others, lines that show it, bits, and whether parts fall short."""
        rows = list(parts)
        known = self.shown[rows].all(axis=0)
        held = self.shown[whole] & self.there[whole] & self.there[rows].any(axis=0)
        rest = np.where(self.shown[rows], self.values[rows], 0).sum(axis=0)
        value = self.values[whole]
        allowed = self.allowed * (len(rows) + 1)
        gap = value - rest
        wrong = held & known & (np.abs(gap) > allowed)
        over = held & (gap < -allowed)
        signed = bool((self.values[rows] < 0).any())
        denied = wrong if signed else wrong | over
        sure = held & known & ~denied & (value != 0)
        bits = float(np.log2((1 + np.abs(value[sure])) / (1 + 2 * allowed)).clip(0).sum())
        short = bool(wrong.any()) and not bool(over.any()) and not signed
        return int(denied.sum()), int(sure.sum()), bits, short

    def each(self, top: Sequence[int]) -> list[tuple[int, int, float, bool]]:
        """For each of some rows the evidence that it is the sum of all the others of them, as ``evidence`` has it."""
        rows = list(top)
        shown, there, values = self.shown[rows], self.there[rows], self.values[rows]
        known = (~shown).sum(axis=0) - ~shown == 0
        held = shown & there & (there.sum(axis=0) - there > 0)
        plain = np.where(shown, values, 0)
        gap = values - (plain.sum(axis=0) - plain)
        allowed = self.allowed * len(rows)
        wrong = held & known & (np.abs(gap) > allowed)
        over = held & (gap < -allowed)
        signed = bool((values < 0).any())
        denied = wrong if signed else wrong | over
        sure = held & known & ~denied & (values != 0)
        bits = np.where(sure, np.log2((1 + np.abs(values)) / (1 + 2 * allowed)).clip(0), 0).sum(axis=1)
        short = wrong.any(axis=1) & ~over.any(axis=1) & (not signed)
        found = (denied.sum(axis=1), sure.sum(axis=1), bits, short)
        return list(zip(*(part.tolist() for part in found), strict=True))


def find_sums(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    *,
    parents: Mapping[str, str],
    said: Mapping[str, str | None],
    partly: bool = False,
) -> SumTree:
    """The sums among the codes of a dimension.

    ``parents`` is what the sheet shows by its columns or indents and is verified; ``said`` what the caller says of
    totals. ``partly`` allows parts that leave a remainder.
    """
    if name in said and said[name] is None:
        return SumTree()
    place = {code: k for k, code in enumerate(codes)}
    children: dict[int, list[int]] = {}
    for code in codes:
        if (above := parents.get(code)) is not None:
            children.setdefault(place[above], []).append(place[code])
    short = _verified(name, codes, lines, children, partly)
    below = {child for parts in children.values() for child in parts}
    top = [k for k in range(len(codes)) if k not in below]
    known = set(children)
    if (stated := said.get(name)) is not None:
        return _with_stated(name, codes, lines, children, top, stated, short)
    top = _passes([_named(code) for code in codes], lines, children, top)
    return _judged(name, codes, lines, children, top, known, short)


def _verified(
    name: str, codes: Sequence[str], lines: AxisLines, children: dict[int, list[int]], partly: bool
) -> list[int]:
    """Refuse what stands above others and is not their sum; returns those whose parts leave a remainder."""
    short = []
    for whole, parts in children.items():
        denied, _, _, less = lines.evidence(whole, parts)
        if denied and less and partly:
            short.append(whole)
        elif denied:
            raise InputError(
                f"dimension {name!r}: {codes[whole]!r} stands above {listed([codes[p] for p in parts], 4)} but is not "
                f"their sum in {denied:,} lines; if they are only some of its parts say partly=True (--partly), if "
                "indents and columns do not mean sums say nested=False (--no-nested), else correct the sheet"
            )
    return short


def _passes(named: Sequence[int], lines: AxisLines, children: dict[int, list[int]], top: list[int]) -> list[int]:
    """Sums of runs of labels, behind or before them, found from either end until nothing more is; the best of both."""
    best: tuple[int, dict[int, list[int]], list[int]] = (-1, {}, top)
    for first in (False, True):
        found: dict[int, list[int]] = {}
        left, backwards = list(top), first
        changed = 2
        while changed:
            before = len(left)
            left = _collapse(named, lines, found, left, backwards)
            changed = 2 if len(left) < before else changed - 1
            backwards = not backwards
        if len(found) > best[0]:
            best = (len(found), found, left)
    children.update(best[1])
    return best[2]


def _collapse(
    named: Sequence[int], lines: AxisLines, found: dict[int, list[int]], top: Sequence[int], backwards: bool
) -> list[int]:
    """One pass over the topmost labels: a label that is the sum of those just before it takes their place."""
    if not top:
        return []
    full = np.flatnonzero(lines.shown[list(top)].all(axis=0))
    guide = int(full[np.abs(lines.values[list(top)][:, full]).sum(axis=0).argmax()]) if len(full) else None
    sure = SURE + 2 * math.log2(max(len(top), 1))
    stack: list[int] = []
    sums = np.zeros(len(top) + 1)  # of the stack, from its beginning
    for k in reversed(top) if backwards else top:
        start = _run(lines, stack, sums, k, guide, named, sure) if k not in found else None
        if start is not None:
            found[k] = sorted(stack[start:])
            del stack[start:]
        stack.append(k)
        sums[len(stack)] = sums[len(stack) - 1] + (lines.values[k, guide] if guide is not None else 0.0)
    return stack[::-1] if backwards else stack


def _run(
    lines: AxisLines,
    stack: Sequence[int],
    sums: Array,
    whole: int,
    guide: int | None,
    names: Sequence[int],
    sure: float,
) -> int | None:
    """Where the run of labels begins that a label is the sum of, as long as possible; None if there is none."""
    named = names[whole]
    if not named and np.log2(1 + np.abs(lines.values[whole])).sum() < sure:
        return None  # too little to be believed, whatever it is the sum of
    least = 1 if named == USUAL else 2
    starts: Sequence[int] = range(len(stack) - least + 1)
    if guide is not None and starts:
        wanted = sums[len(stack)] - float(lines.values[whole, guide])
        room = lines.allowed * (len(stack) + 1) + 1e-9 * max(1.0, abs(wanted))
        near = np.flatnonzero(np.abs(sums[: len(starts)] - wanted) <= room)
        starts = near.tolist()
    elif not named:
        return None
    fitting = [start for start in starts if _believed(lines, stack[start:], whole, named, sure, everything=not start)]
    plain = [start for start in fitting if not any(names[k] for k in stack[start:])]
    return plain[0] if plain else fitting[0] if fitting else None


def _believed(lines: AxisLines, parts: Sequence[int], whole: int, named: int, sure: float, *, everything: bool) -> bool:
    """Whether a label is taken as the sum of others: the more its name says so, the less evidence is needed."""
    denied, confirmed, bits, _ = lines.evidence(whole, parts)
    if denied:
        return False
    if not confirmed and named and lines.shown[whole].all() and not lines.values[whole].any():
        return True  # nothing is the sum of nothing
    if named == USUAL:
        return bool(confirmed) or everything
    return bool(confirmed) if named == OF_SOME else bits >= (ASK_AT_END if named else sure)


def _named(code: str) -> int:
    """How much a label sounds like a total; "North total" like one of some labels.

    >>> [_named(code) for code in ("Total", "North total", "All Saints", "North")]
    [2, 3, 1, 0]
    """
    words = code.split()
    return OF_SOME if len(words) > 1 and like_a_total(words[-1]) == USUAL != like_a_total(code) else like_a_total(code)


def _with_stated(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    children: dict[int, list[int]],
    top: Sequence[int],
    stated: str,
    short: list[int],
) -> SumTree:
    """The total as it is said: subtotals are found among the others, and all that is topmost then adds up to it."""
    whole = codes.index(stated)
    own = children.pop(whole, [])
    rest = _passes([_named(code) for code in codes], lines, children, [k for k in (*top, *own) if k != whole])
    rest = sorted(rest)
    denied, _, _, less = lines.evidence(whole, rest) if rest else (0, 0, 0.0, False)
    if denied and less:
        short = [*short, whole]
    elif denied:
        raise InputError(
            f"dimension {name!r}: {stated!r} is said to be the total but is not the sum of the others in {denied:,} "
            "lines; correct the sheet, or read it with totals='compute' or totals='trust' (--totals)"
        )
    tree = {**children, whole: rest}
    return _tree(codes, tree, stated, short, ())


def _judged(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    children: dict[int, list[int]],
    top: Sequence[int],
    known: set[int],
    short: Sequence[int],
) -> SumTree:
    """The tree with its total; a name or a sum that stays in doubt is asked about."""
    assumed = []
    for whole, parts in children.items():
        if whole in known or [whole] == list(top):
            continue
        sentence = f"{codes[whole]!r} is the sum of {len(parts)} other labels of {name!r}"
        assumed.append(f"{sentence}, proved in every line; {option(name, None)} if that is chance")
    if len(top) == 1 and top[0] in children:
        return _tree(codes, children, codes[top[0]], short, assumed)
    middle = _anywhere(codes, lines, children, top)
    if middle is not None:
        children[middle] = [k for k in top if k != middle]
        assumed.append(f"{codes[middle]!r} stands among the others of {name!r}, which add up to it")
        return _tree(codes, children, codes[middle], short, assumed)
    if len(codes) > 1:
        _ask(name, codes, lines, children, top)
        _ask_about_runs(name, codes, lines, children)
    return _tree(codes, children, None, short, assumed)


def _anywhere(
    codes: Sequence[str], lines: AxisLines, children: Mapping[int, list[int]], top: Sequence[int]
) -> int | None:
    """A label in any place that is the sum of all others at the top."""
    if len(top) < 2:
        return None
    for k, (denied, confirmed, bits, _) in zip(top, lines.each(top), strict=True):
        if denied or k in children:
            continue
        usual = like_a_total(codes[k])
        if usual == USUAL and (confirmed or not lines.shown[list(top)].all()):
            return k
        if (usual and len(top) > 2 and bits >= ASK_AT_END) or (len(top) > 2 and bits >= SURE):
            return k
    return None


def _ask(
    name: str, codes: Sequence[str], lines: AxisLines, children: Mapping[int, list[int]], top: Sequence[int]
) -> None:
    """Refuse a label that is called a total and does not add up, or adds up and is not called one."""
    for k, (denied, _, bits, less) in zip(top, lines.each(top), strict=True):
        usual = like_a_total(codes[k])
        if len(top) < 2 or k in children:
            continue
        if usual == USUAL and denied:
            part = " (its parts leave a remainder: partly=True, --partly, if only some are listed)" if less else ""
            raise InputError(
                f"dimension {name!r}: {codes[k]!r} is called like a total but is not the sum of the others in "
                f"{denied:,} lines{part}; if it is a category say {option(name, None)}, if numbers were rounded say "
                "tolerance=, if the sheet is wrong correct it"
            )
        ends = k in (0, len(codes) - 1)
        least = 1.0 if usual else ASK_AT_END if ends else ASK
        if usual != USUAL and not denied and len(top) > 2 and bits >= least:
            raise InputError(
                f"dimension {name!r}: {codes[k]!r} is the sum of the others as far as is shown, which may be chance; "
                f"if it is the total say {option(name, codes[k])}, if it is a category {option(name, None)}"
            )


def _ask_about_runs(name: str, codes: Sequence[str], lines: AxisLines, children: Mapping[int, list[int]]) -> None:
    """Refuse a label with a total in its name, as "North total", that may add up those just before or behind it."""
    for k, code in enumerate(codes):
        words = code.split()
        if k in children or len(words) < 2 or like_a_total(words[-1]) != USUAL:
            continue
        for run in (range(k - 2, k), range(k + 1, k + 3)):
            if run.start >= 0 and run.stop <= len(codes) and not lines.evidence(k, run)[0] and lines.values[k].any():
                raise InputError(
                    f"dimension {name!r}: {code!r} is called like the sum of some labels, and too little is shown to "
                    f"tell of which; say {option(name, None)} if no label is a sum of others, else leave it out"
                )


def _tree(
    codes: Sequence[str],
    children: Mapping[int, Sequence[int]],
    total: str | None,
    short: Sequence[int],
    assumed: Sequence[str],
) -> SumTree:
    return SumTree(
        {codes[whole]: tuple(codes[k] for k in parts) for whole, parts in children.items()},
        total,
        tuple(codes[k] for k in short),
        tuple(assumed),
    )
