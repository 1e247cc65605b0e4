"""Which labels of a dimension are sums of others: totals and subtotals, first, last or anywhere, proved by arithmetic.

A name alone makes no total and a sum alone hardly one: a label with the name of a total must add up as far as is shown,
and one with a name of its own must add up far beyond chance. What stays in doubt is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import InputError, listed, many
from discreet.sheets.blocks.implied_indents import BEGINS_OF_WHICH
from discreet.sheets.sums.axis_lines import ASK_AT_END, SURE, AxisLines
from discreet.sheets.sums.nested_labels import (
    RatePair,
    ask_about_nested,
    divided_sums,
    exact_parts,
    holds,
    labels_with_parts,
    nested_ranges,
    outer_labels,
    possible_parts,
    worded_parts,
)
from discreet.sheets.sums.number_groups import covered_by_others
from discreet.sheets.sums.repeated_labels import refuse_repeated_labels
from discreet.sheets.sums.sum_questions import (
    OF_SOME,
    ask_about_parts,
    ask_about_runs,
    ask_about_totals,
    ask_about_unnamed_runs,
    code_beginnings,
    in_doubt,
    labels_in_words,
    sum_name,
)
from discreet.sheets.sums.sum_runs import runs_to, sums_below_headers, whole_of_runs
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK, option

WRONG_TOTALS = "or read it with totals='compute' or totals='trust' (--totals)"


@dataclass(frozen=True)
class SumTree:
    """What adds up what: the parts of every sum, and the total of all, if there is one."""

    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    total: str | None = None
    partly: tuple[str, ...] = ()
    """Sums whose parts leave a remainder, as those under "of which" do."""
    assumed: tuple[str, ...] = ()
    overlapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that count all of some others, each by itself: these come to more than all, and are no parts of a sum."""
    in_doubt: bool = False
    """Whether labels were taken for parts of others by their numbers alone, which may be chance."""


def find_sums(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    *,
    parents: Mapping[str, str],
    said: Mapping[str, str | None],
    partly: bool = False,
    short_total: bool = False,
    trusted: bool = False,
    pairs: Sequence[tuple[str, str]] = (),
    headed: Sequence[Sequence[str]] = (),
    title: str = "",
) -> SumTree:
    """The sums among the codes of a dimension.

    ``parents`` is what the sheet shows by its columns or indents and is verified; ``said`` what the caller says of
    totals. ``partly`` allows parts that leave a remainder, ``short_total`` those of what is only called a total too.
    ``trusted``: what is said, shown or called a total is one even where it does not add up. ``pairs``: labels with one
    that counts part of them, as shares beside both show. ``headed``: labels that stand below a header of their own.
    ``title``: the name of the sheet, which its total may have.
    """
    children: dict[int, list[int]] = {}
    if name in said and said[name] is None:
        _add_number_groups(codes, lines, children)
        return _tree(codes, children, None, (), ())
    if not trusted:
        refuse_repeated_labels(name, codes, lines, parents, said)
    place = {code: k for k, code in enumerate(codes)}
    for code in codes:
        if (above := parents.get(code)) is not None:
            children.setdefault(place[above], []).append(place[code])
    if not trusted and partly and (overlapping := _overlapping(codes, lines, children)):
        return SumTree(overlapping=overlapping)
    if not trusted and (overlapping := _total_with_some(codes, lines, children)):
        return SumTree(overlapping=overlapping)
    short = [] if trusted else _verified(name, codes, lines, children, partly)
    known = set(children)

    def take(found: Mapping[int, list[int]]) -> None:
        """Labels with parts of theirs, as if the sheet had shown them."""
        children.update(found)
        known.update(found)
        short.extend(whole for whole, parts in found.items() if lines.evidence(whole, parts)[0])

    _add_number_groups(codes, lines, children)
    top = _topmost(codes, children)
    nested = {} if trusted else nested_ranges(codes, lines, children, top)
    if nested:
        take(nested)
        top = _topmost(codes, children)
    if not children and not trusted:
        children.update(sums_below_headers([[place[code] for code in group] for group in headed], lines))
        top = _topmost(codes, children)
    if not trusted and (worded := worded_parts(codes, lines, [k for k in top if k not in children])):
        nested |= worded
        take(worded)
        top = _topmost(codes, children)
    if (stated := said.get(name)) is not None:
        remainder = not trusted and (partly or not lines.allowed)
        unseen = remainder and short_total
        return _with_stated(name, codes, lines, children, top, stated, short, trusted, remainder, unseen)
    shown = dict(children)
    shares = [pair for pair in pairs if not isinstance(pair, RatePair)]
    divided = {whole for whole, _ in shares}  # shares of it are shown: as good as the name of a total
    begins = code_beginnings(codes)
    names = [sum_name(code) or int(code in (*divided, title) or begins[k]) for k, code in enumerate(codes)]
    bare = list(top)
    top = _passes(names, lines, children, top)
    if not trusted and (exact := exact_parts(codes, lines, top, children)):
        take(exact)
        top = _passes(names, lines, children, _topmost(codes, children))
    if len(top) > 1 and (whole_tree := _all_together(names, lines, shown, bare)) is not None:
        children, top, bits = whole_tree
        if bits < SURE + 2 * math.log2(len(bare)):
            raise in_doubt(name, codes[top[0]], "over subtotals")
    elif not children and (grouped := whole_of_runs(lines, top)) is not None and grouped[2] >= ASK_AT_END:
        whole, runs, bits = grouped
        if bits < SURE and like_a_total(codes[whole]) != USUAL:
            raise in_doubt(name, codes[whole], "in several groupings")
        children = {whole: runs[0]}
        return _tree(codes, children, None, short, ())
    doubtful = False
    if not trusted and len(top) > 1 and _anywhere(codes, lines, children, top) is None:
        outer = outer_labels(name, codes, lines, children, [k for k in top if k in nested], top)
        bare = [k for k in top if k not in children]
        outer = outer or labels_with_parts(codes, lines, shares, bare)
        outer = outer or divided_sums(codes, lines, pairs, top, children)
        if not outer and not children:
            outer = possible_parts(name, codes, lines, bare)
            doubtful = bool(outer)
        if several := [whole for whole, parts in outer.items() if len(parts) > 1]:
            named = {codes[whole]: tuple(codes[k] for k in outer[whole]) for whole in several[:1]}
            return replace(_tree(codes, children, None, short, ()), overlapping=named, in_doubt=doubtful)
        take(outer)
        nested |= outer
        top = [k for k in top if k not in {part for parts in outer.values() for part in parts}]
    tree = _judged(name, codes, lines, children, top, known, short, trusted, short_total)
    return replace(tree, assumed=(*tree.assumed, *_nested_notes(name, codes, nested)), in_doubt=doubtful)


def _overlapping(
    codes: Sequence[str], lines: AxisLines, children: Mapping[int, Sequence[int]]
) -> dict[str, tuple[str, ...]]:
    """The one label above all others, if it counts all of each but they come to more: some are in several of them."""
    for whole, parts in children.items():
        denied, _, _, less = lines.evidence(whole, parts)
        if len(codes) == len(parts) + 1 and denied and not less and all(holds(lines, whole, k) for k in parts):
            return {codes[whole]: tuple(codes[k] for k in parts)}
    return {}


def _total_with_some(
    codes: Sequence[str], lines: AxisLines, children: Mapping[int, Sequence[int]]
) -> dict[str, tuple[str, ...]]:
    """The one label above others, all "of which", if it is the sum of those that stand beside it."""
    if len(children) != 1:
        return {}
    ((whole, some),) = children.items()
    others = [k for k in range(len(codes)) if k != whole and k not in some]
    if len(others) < 2 or not all(BEGINS_OF_WHICH.match(codes[k]) for k in some):
        return {}
    denied, confirmed, bits, _ = lines.evidence(whole, others)
    held = like_a_total(codes[whole]) == USUAL or bits >= lines.like_a_total
    if denied or not confirmed or not held or not all(holds(lines, whole, k) for k in some):
        return {}
    return {codes[whole]: tuple(codes[k] for k in (*others, *some))}


def _topmost(codes: Sequence[str], children: Mapping[int, Sequence[int]]) -> list[int]:
    below = {child for parts in children.values() for child in parts}
    return [k for k in range(len(codes)) if k not in below]


def _nested_notes(name: str, codes: Sequence[str], nested: Mapping[int, Sequence[int]]) -> list[str]:
    """What was assumed of labels that count parts of others."""
    return [
        f"{codes[whole]!r} counts all of {listed([codes[k] for k in parts], 4)}; {option(name, None)} if it does not"
        for whole, parts in nested.items()
    ]


def _add_number_groups(codes: Sequence[str], lines: AxisLines, children: dict[int, list[int]]) -> None:
    """Add sums that labels say by the numbers they are of, as "65+" does, where lines show them and none denies it."""
    below = {child for parts in children.values() for child in parts}
    for whole, parts in covered_by_others(codes).items():
        if whole in children or below & {*parts}:
            continue
        denied, confirmed, _, _ = lines.evidence(whole, parts)
        if confirmed and not denied:
            children[whole] = parts


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
            part = "if they are only some of its parts say partly=True (--partly), " if less else ""
            above, below = labels_in_words([codes[whole]]), labels_in_words([codes[p] for p in parts])
            raise InputError(
                f"dimension {name!r}: {above} stands above {below} but is not their sum in {many(denied, 'line')}; "
                f"{part}if indents and columns do not mean sums say nested=False (--no-nested), else correct the sheet"
            )
    return short


def _all_together(
    named: Sequence[int], lines: AxisLines, shown: Mapping[int, list[int]], top: Sequence[int]
) -> tuple[dict[int, list[int]], list[int], float] | None:
    """Sums that prove little one by one but leave nothing over, all labels adding up to one; how many bits show it."""
    children = dict(shown)
    left = _passes(named, lines, children, list(top), least=ASK_AT_END)
    if len(left) > 1 or left[0] not in children:
        return None
    added = [whole for whole in children if whole not in shown]
    bits = sum(lines.evidence(whole, children[whole])[2] for whole in added)
    return (children, left, bits) if len(added) > 1 and bits >= ASK + math.log2(len(top)) else None


def _passes(
    named: Sequence[int],
    lines: AxisLines,
    children: dict[int, list[int]],
    top: list[int],
    least: float | None = None,
) -> list[int]:
    """Sums of runs of labels, behind or before them, found from either end until nothing more is; the best of both."""
    best: tuple[int, dict[int, list[int]], list[int]] = (-1, {}, top)
    for first in (False, True):
        found: dict[int, list[int]] = {}
        left, backwards = list(top), first
        changed = 2
        while changed:
            before = len(left)
            left = _collapse(named, lines, found, left, backwards, least)
            changed = 2 if len(left) < before else changed - 1
            backwards = not backwards
        if len(found) > best[0]:
            best = (len(found), found, left)
    children.update(best[1])
    return best[2]


def _collapse(
    named: Sequence[int],
    lines: AxisLines,
    found: dict[int, list[int]],
    top: Sequence[int],
    backwards: bool,
    least: float | None,
) -> list[int]:
    """One pass over the topmost labels: a label that is the sum of those just before it takes their place."""
    if not top:
        return []
    full = np.flatnonzero(lines.shown[list(top)].all(axis=0))
    guide = int(full[np.abs(lines.values[list(top)][:, full]).sum(axis=0).argmax()]) if len(full) else None
    rising = guide is not None and bool((lines.values[list(top), guide] >= 0).all())
    sure = SURE + 2 * math.log2(max(len(top), 1)) if least is None else least
    stack: list[int] = []
    sums = np.zeros(len(top) + 1)  # of the stack, from its beginning
    for k in reversed(top) if backwards else top:
        start = _run(lines, stack, sums, k, guide, named, sure, rising) if k not in found else None
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
    rising: bool,
) -> int | None:
    """Where the run of labels begins that a label is the sum of, as long as possible; None if there is none.

    ``rising``: sums from the beginning of the stack never fall, so that those near a number stand together.
    """
    named = names[whole]
    if not named and lines.bits[whole] < sure:
        return None  # too little to be believed, whatever it is the sum of
    least = 1 if named == USUAL else 2
    starts: Sequence[int] = range(len(stack) - least + 1)
    if guide is not None and starts:
        wanted = sums[len(stack)] - float(lines.values[whole, guide])
        room = lines.allowed * (len(stack) + 1) + 1e-9 * max(1.0, abs(wanted))
        first, last = 0, len(starts)
        if rising:
            first, last = np.searchsorted(sums[:last], [wanted - 2 * room, wanted + 2 * room]).tolist()
            last = min(last + 1, len(starts))
        starts = (first + np.flatnonzero(np.abs(sums[first:last] - wanted) <= room)).tolist()
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
    return bool(confirmed) if named == OF_SOME else bits >= (lines.like_a_total if named else sure)


def _with_stated(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    children: dict[int, list[int]],
    top: Sequence[int],
    stated: str,
    short: list[int],
    trusted: bool,
    remainder: bool,
    unseen: bool,
) -> SumTree:
    """The total as it is said: subtotals are found among the others, and all that is topmost then adds up to it.

    ``remainder``: what is topmost may leave one, ``unseen``: also where too much is hidden to show it.
    """
    whole = codes.index(stated)
    own = children.pop(whole, [])
    rest = _passes([sum_name(code) for code in codes], lines, children, [k for k in (*top, *own) if k != whole])
    rest = sorted(rest)
    denied, confirmed, _, less = lines.evidence(whole, rest) if rest else (0, 0, 0.0, False)
    if (denied and less and remainder) or (unseen and rest and not (denied or confirmed)):
        short = [*short, whole]
    elif denied and not trusted and (closer := _with_weak_sums(codes, lines, children, rest, whole)) is not None:
        return _tree(codes, closer, stated, short, ())
    elif denied and not trusted and (runs := runs_to(lines, whole, rest)[0]):
        return _tree(codes, {**children, whole: runs[0]}, None, short, ())  # one grouping of several
    elif denied and not trusted:
        raise InputError(
            f"dimension {name!r}: {stated!r} is said to be the total but is not the sum of the others in {denied:,} "
            f"lines; correct the sheet, {WRONG_TOTALS}"
        )
    tree = {**children, whole: rest}
    return _tree(codes, tree, stated, short, ())


def _with_weak_sums(
    codes: Sequence[str], lines: AxisLines, children: Mapping[int, list[int]], rest: Sequence[int], whole: int
) -> dict[int, list[int]] | None:
    """Sums that prove little one by one, if what they leave adds up to the total that is said; None if it does not."""
    tree = dict(children)
    left = _passes([sum_name(code) for code in codes], lines, tree, list(rest), least=ASK_AT_END)
    return None if lines.evidence(whole, left)[0] else {**tree, whole: sorted(left)}


def _judged(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    children: dict[int, list[int]],
    top: Sequence[int],
    known: set[int],
    short: Sequence[int],
    trusted: bool,
    short_total: bool,
) -> SumTree:
    """The tree with its total; a name or a sum that stays in doubt is asked about."""
    ask_about_parts(name, codes, {whole: parts for whole, parts in children.items() if whole not in known})
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
        ask_about_parts(name, codes, {middle: children[middle]})
        assumed.append(f"{codes[middle]!r} stands among the others of {name!r}, which add up to it")
        return _tree(codes, children, codes[middle], short, assumed)
    called = [k for k in top if like_a_total(codes[k]) == USUAL and k not in children]
    if trusted and len(called) == 1 and len(top) > 1:
        children[called[0]] = [k for k in top if k != called[0]]
        assumed.append(f"{codes[called[0]]!r} is called like the total of {name!r}, but some lines do not add up to it")
        return _tree(codes, children, codes[called[0]], short, assumed)
    if short_total and len(called) == 1 and len(top) > 1:
        others = [k for k in top if k != called[0]]
        if lines.evidence(called[0], others)[3]:
            return _tree(codes, {**children, called[0]: others}, codes[called[0]], [*short, called[0]], assumed)
    if len(codes) > 1:
        ask_about_totals(name, codes, lines, children, top)
        ask_about_unnamed_runs(name, codes, lines, children)
        ask_about_runs(name, codes, lines, children)
        if not trusted:
            ask_about_nested(name, codes, lines, [k for k in top if k not in children])
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
        if (usual and len(top) > 2 and bits >= lines.like_a_total) or (len(top) > 2 and bits >= SURE):
            return k
    return None


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
        tuple(codes[k] for k in dict.fromkeys(short)),
        tuple(assumed),
    )
