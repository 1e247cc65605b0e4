"""Labels that count part of what another one counts: "A*-B" is part of "A*-C", "18+" of "16+", "Seen" of "Referred".

No sum of labels shows this, but the difference of two such numbers is a count of its own, which everybody can work out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from discreet.errors import InputError
from discreet.sheets.sums.axis_lines import ASK_AT_END, AxisLines
from discreet.sheets.sums.number_groups import NO_END
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import ASK, option

MOST_SEARCHED = 60
"""Labels of which every pair is compared."""
LEAST_LINES = 3
"""Lines with a count from which one label may be seen to be part of another by their numbers alone."""
LEAST_CLOSE = 3.0
"""Bits of coincidence of each line: the part is within about a sixteenth of the whole, and never more than it."""
MOST_IN_DOUBT = 15
"""Pairs of parts of which one may be part of the other; more are asked about."""
SMALL = 10
"""Differences below this may be counts that are to be hidden."""

_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_END = rf"[a-z][*+]{{0,2}}|\d{{1,6}}|{_MONTH}"
_BETWEEN = re.compile(
    rf"(?<![\w*])({_END})\s*(?:-|\u2013|\u2014|\bto\b|\bbis\b|\btil\b|\btill\b)\s*({_END})(?![\w*])", re.IGNORECASE
)
_FROM = re.compile(
    r"(?<!\w)(?:(\d{1,6})\s*(?:\+|(?:and|or) (?:over|older|above|more|higher|better)\b|plus\b"
    r"|und (?:älter|mehr|darüber)\b|et plus\b|y más\b|e più\b|e mais\b|en ouder\b|og over\b|och äldre\b|i więcej\b)"
    r"|(?:over|above|more than|longer than|older than|at least|mehr als|über|plus de|más de|>=?|\u2265)"
    r"\s*(\d{1,6})(?!\w))",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"(?<!\w)(?:under|below|less than|fewer than|younger than|within|up to|at most|unter|bis zu|moins de|menos de"
    r"|meno di|onder|pod|<=?|\u2264)\s*(\d{1,6})(?!\w)",
    re.IGNORECASE,
)
_AROUND = re.compile(r"\b(aged?|ages|years?( old| of age)?|yrs?|grades?|jahren?|jahre|ans|años|anos|anni|år)\b", re.I)
_QUALIFIED = re.compile(
    r"[,:(]|(?:with|without|in|on|of|who|whom|aged|eligible|achieving|receiving|having|that|which|not|at|from|under|over|"
    r"where|mit|ohne|avec|sans|con|sin)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"(?:with|without|who|whom|having|receiving|achieving|eligible|entitled|aged|in receipt|in care|mit|ohne|davon"
    r"|avec|sans|dont)\b",
    re.IGNORECASE,
)
"""How a label begins that says no more than which of those counted before it are meant: "With a plan"."""
_STAGE = re.compile(r"(?:.*\s)?(?:\w+ed|seen|taken|given|met|won|begun|sent)(?:\s.*)?", re.IGNORECASE)
"""A step that some of those who took the last one take: "Referred", "Seen", "Tested positive"."""
_TIME = re.compile(rf"(?:19|20)\d\d|\b{_MONTH}\b|\bq[1-4]\b|\bweek\b", re.IGNORECASE)


def holds(lines: AxisLines, whole: int, part: int) -> bool:
    """Whether a label is nowhere less than another and somewhere more, as far as both are shown."""
    both = lines.shown[whole] & lines.shown[part] & lines.there[whole] & lines.there[part]
    gap = (lines.values[whole] - lines.values[part])[both]
    return bool(len(gap) and (gap >= -2 * lines.allowed).all() and (gap > 2 * lines.allowed).any())


def nested_ranges(
    codes: Sequence[str], lines: AxisLines, children: Mapping[int, Sequence[int]], top: Sequence[int]
) -> dict[int, list[int]]:
    """Topmost labels whose range is wider than that of others, as lines confirm, and the widest others of each.

    Nothing where some label is the sum of all the others: then no range is counted twice. Nothing where ranges cross:
    a population is cut in several ways then, each of which is a grouping of its own.
    """
    ranges = {k: found for k in top if (found := _range(codes[k])) is not None}
    if len(ranges) < 2 or not (inside := _inside(ranges)):
        return {}
    if any(not denied and bits >= ASK_AT_END for denied, _, bits, _ in lines.each(top)):
        return {}
    size = lines.values.sum(axis=1)
    whole_of: dict[int, int] = {}
    for part, whole in inside:
        if whole in children or not holds(lines, whole, part):
            continue
        if part not in whole_of or size[whole] < size[whole_of[part]]:
            whole_of[part] = whole
    nested: dict[int, list[int]] = {}
    for part in sorted(whole_of, key=lambda k: -float(size[k])):
        parts = [*nested.get(whole_of[part], ()), part]
        denied, _, _, less = lines.evidence(whole_of[part], parts)
        if not denied or less:  # ranges that overlap come to more than what they are part of
            nested[whole_of[part]] = sorted(parts)
    return nested


def outer_labels(
    name: str,
    codes: Sequence[str],
    lines: AxisLines,
    children: Mapping[int, Sequence[int]],
    ranges: Sequence[int],
    top: Sequence[int],
) -> dict[int, list[int]]:
    """Topmost labels that count all of some ``ranges``, as "Entries" does beside "A*-C": they are nowhere less."""
    outer: dict[int, list[int]] = {}
    if not ranges:
        return outer
    inner = list(ranges)
    others = [k for k in top if k not in ranges and _range(codes[k]) is None]
    wider = [k for k in others if all(holds(lines, k, part) for part in ranges)]
    for whole in sorted(wider, key=lambda k: float(lines.values[k].sum())):
        denied, _, _, less = lines.evidence(whole, inner)
        if whole in children and like_a_total(codes[whole]) == USUAL:
            continue  # asked about with all that stands beside a total
        if whole in children or (denied and not less):
            raise InputError(
                f"dimension {name!r}: {codes[inner[0]]!r} may be part of {codes[whole]!r}, and other labels are so, "
                "too; leave one or the other aside (leave=, --leave), or put them into a table of their own (range=, "
                f"--range); if no label is part of another say {option(name, None)}"
            )
        outer[whole] = inner
        inner = [whole]
    return outer


def qualified_labels(codes: Sequence[str], lines: AxisLines, top: Sequence[int]) -> dict[int, list[int]]:
    """Topmost labels that others begin with and narrow down, as lines confirm: "Pupils", "Pupils with a plan".

    Those that narrow down one label may overlap; a label that is narrowed down is not itself part of another.
    """
    starts: dict[str, list[int]] = {}
    for k in top:
        starts.setdefault(codes[k].casefold().strip(), []).append(k)
    nested: dict[int, list[int]] = {}
    for part in top:
        text = codes[part].casefold()
        for end in range(1, len(text)):
            wholes = starts.get(text[:end], ())
            if wholes and _QUALIFIED.match(text[end:].lstrip()):
                for whole in wholes:
                    if whole != part and holds(lines, whole, part):
                        nested.setdefault(whole, []).append(part)
    before = None
    for k in top:
        if not _ALONE.match(codes[k].strip()):
            before = k
        elif before is not None and holds(lines, before, k) and k not in nested.get(before, ()):
            nested.setdefault(before, []).append(k)
    return {k: parts for k, parts in nested.items() if not any(k in others for others in nested.values())}


def worded_parts(codes: Sequence[str], lines: AxisLines, top: Sequence[int]) -> dict[int, list[int]]:
    """Labels right before two or more that begin with them and go on with a word, as "White British" after "White".

    Such parts exclude each other: together they are nowhere more than what they are part of. None where they add up,
    which is found as any other sum is, or where a label is the sum of all.
    """
    if not 2 < len(top) <= MOST_SEARCHED:
        return {}
    nested: dict[int, list[int]] = {}
    before = top[0]
    for k in top[1:]:
        start = codes[before].casefold().strip() + " "
        text = codes[k].casefold().strip()
        if text.startswith(start) and text[len(start) : len(start) + 1].isalpha():
            nested.setdefault(before, []).append(k)
        else:
            before = k
    kept = {}
    for whole, parts in nested.items():
        denied, _, _, less = lines.evidence(whole, parts)
        several = len(parts) > 1 and lines.values.shape[1] > 2 and all(holds(lines, whole, k) for k in parts)
        if several and (not denied or less) and not like_a_total(codes[whole]):
            kept[whole] = parts
    exact = any(not lines.evidence(whole, parts)[0] for whole, parts in kept.items())
    if exact or any(not denied and bits >= ASK_AT_END for denied, _, bits, _ in lines.each(top)):
        return {}
    return kept


def labels_with_parts(
    codes: Sequence[str], lines: AxisLines, pairs: Sequence[tuple[str, str]], top: Sequence[int]
) -> dict[int, list[int]]:
    """Topmost labels that others narrow down, and those of ``pairs`` that shares beside them show to be parts."""
    nested = qualified_labels(codes, lines, top)
    place = {code: k for k, code in enumerate(codes)}
    for whole, part in ((place[a], place[b]) for a, b in pairs if a in place and b in place):
        timed = _TIME.search(codes[whole]) or _TIME.search(codes[part])
        if (
            whole in top
            and part in top
            and not timed
            and holds(lines, whole, part)
            and part not in nested.get(whole, ())
        ):
            nested.setdefault(whole, []).append(part)
    return nested


def ask_about_nested(name: str, codes: Sequence[str], lines: AxisLines, top: Sequence[int]) -> None:
    """Refuse a label that is nowhere more than another and close to it in every line, so that it seems part of it."""
    plain = [k for k in top if not _TIME.search(codes[k])]
    if not 1 < len(plain) <= MOST_SEARCHED or lines.allowed:
        return
    for one, other in combinations(plain, 2):
        whole, part = (one, other) if lines.values[one].sum() >= lines.values[other].sum() else (other, one)
        if _is_close(codes, lines, whole, part, len(plain)):
            raise InputError(
                f"dimension {name!r}: {codes[part]!r} is nowhere more than {codes[whole]!r} and close to it in every "
                "line, as a part of it is, so that their difference is a count; if it is part of it, put it behind it "
                f'and call it so on the sheet ("of which {codes[part]}"); if that is chance say {option(name, None)}'
            )


def _is_close(codes: Sequence[str], lines: AxisLines, whole: int, part: int, many: int) -> bool:
    """Whether one of ``many`` labels is nowhere more than another and close to it in every line, far beyond chance."""
    both = lines.shown[whole] & lines.shown[part] & lines.there[whole] & lines.there[part]
    held = both & (lines.values[whole] > 0)
    gap = (lines.values[whole] - lines.values[part])[held]
    if held.sum() < LEAST_LINES or not holds(lines, whole, part):
        return False
    bits = np.log2((1 + lines.values[whole][held]) / (1 + 2 * gap))
    telling = ((gap > 0) & (gap < SMALL)).sum() >= 2
    steps = _STAGE.fullmatch(codes[whole]) and _STAGE.fullmatch(codes[part])
    least = (ASK_AT_END if steps else ASK) + 2 * float(np.log2(many))
    return bool(telling and bits.mean() >= LEAST_CLOSE and bits.sum() >= least)


def parts_of_parts(
    name: str, codes: Sequence[str], lines: AxisLines, parts: Sequence[int], listed_as_parts: re.Pattern[str]
) -> dict[int, list[int]]:
    """Parts of one sum that may count all of other parts of it, whose difference is a count then.

    One that is listed as a part ("of which foreign", by a pattern) may hold any such behind it that is nowhere more
    ("of which EU"); another one may hold what is close to it in every line as well.
    """
    said = {k for k in parts if listed_as_parts.match(codes[k])}
    searched = sorted(parts if len(parts) <= MOST_SEARCHED else said)
    found: dict[int, list[int]] = {}
    for one, other in combinations(searched, 2):
        follows = one in said and other in said and holds(lines, one, other)
        if follows or _is_close(codes, lines, one, other, len(searched)):
            found.setdefault(one, []).append(other)
        elif _is_close(codes, lines, other, one, len(searched)):
            found.setdefault(other, []).append(one)
        if sum(map(len, found.values())) > MOST_IN_DOUBT:
            raise InputError(
                f"dimension {name!r}: {codes[other]!r} may be part of {codes[one]!r}, so that their difference is a "
                "count, and so may many others be; indent each below the one that it is part of, or name those that "
                'exclude each other without "of which" and indent them below their sum; if no label is a sum of others '
                f"say {option(name, None)}"
            )
    return found


@dataclass(frozen=True)
class _Range:
    """What a label says beside its range, and the ends of the range: numbers, or grades and months as texts."""

    rest: str
    numbers: tuple[int, int] | None = None
    texts: tuple[str, str] | None = None


def _range(label: str) -> _Range | None:
    """The range of a label; None if it says none.

    >>> _range("Grades A*-C")
    _Range(rest='', numbers=None, texts=('a*', 'c'))
    >>> _range("North-East")
    """
    for pattern, ends in ((_BETWEEN, _between), (_FROM, _from), (_BELOW, _below)):
        match = pattern.search(label)
        if match is None:
            continue
        rest = _AROUND.sub(" ", f"{label[: match.start()]} {label[match.end() :]}").casefold()
        rest = " ".join(rest.split()).strip(" .:,")
        first, last = (str(text or "").casefold() for text in (match[1], match[match.re.groups]))
        if pattern is _BETWEEN and not first.isdecimal() and not last.isdecimal():
            return _Range(rest, texts=(first[:3], last[:3]))
        numbers = ends(match)
        return None if numbers is None else _Range(rest, numbers=numbers)
    return None


def _between(match: re.Match[str]) -> tuple[int, int] | None:
    first, last = match[1], match[2]
    if not (first.isdecimal() and last.isdecimal()):
        return None
    low, high = sorted((int(first), int(last)))
    grades = len(first) < 3  # written 9-4; the years 1999-00 are not such a range
    return (low, high) if grades or int(first) <= int(last) else None


def _from(match: re.Match[str]) -> tuple[int, int]:
    beyond = match[2] is not None and not re.match(r"at least|>=|\u2265", match[0], re.IGNORECASE)
    return int(match[1] or match[2]) + int(beyond), NO_END


def _below(match: re.Match[str]) -> tuple[int, int]:
    up_to = re.match(r"within|up to|at most|bis zu|<=|\u2264", match[0], re.IGNORECASE)
    return 0, int(match[1]) - (0 if up_to else 1)


def _inside(ranges: Mapping[int, _Range]) -> list[tuple[int, int]]:
    """Pairs of which one range is part of the other; none where ranges of numbers cross.

    Of texts it has one end in common, and numbers tell which is wider.
    """
    alike: dict[tuple[str, bool], list[int]] = {}
    for k, found in ranges.items():
        alike.setdefault((found.rest, found.texts is None), []).append(k)
    pairs: list[tuple[int, int]] = []
    for (_, numbers), places in alike.items():
        some = _inside_numbers(ranges, places) if numbers else _inside_texts(ranges, places)
        if some is None:
            return []
        pairs += some
    return pairs


def _inside_texts(ranges: Mapping[int, _Range], places: Sequence[int]) -> list[tuple[int, int]]:
    ends: dict[tuple[int, str], list[int]] = {}
    for k in places:
        for which, text in enumerate(ranges[k].texts or ()):
            ends.setdefault((which, text), []).append(k)
    pairs = {pair for same in ends.values() for pair in permutations(same, 2)}
    return sorted(pair for pair in pairs if ranges[pair[0]] != ranges[pair[1]])


def _inside_numbers(ranges: Mapping[int, _Range], places: Sequence[int]) -> list[tuple[int, int]] | None:
    """As above; None where two have some numbers in common, and each has some that the other has not."""
    pairs: list[tuple[int, int]] = []
    open_: list[tuple[int, int, int]] = []
    ends = {k: ranges[k].numbers or (0, NO_END) for k in places}
    for k in sorted(places, key=lambda k: (ends[k][0], -ends[k][1])):
        low, high = ends[k]
        while open_ and open_[-1][1] < low:
            open_.pop()
        if open_ and open_[-1][1] < high:
            return None
        pairs += [(k, whole) for first, last, whole in open_ if (first, last) != (low, high)]
        open_.append((low, high, k))
    return pairs
