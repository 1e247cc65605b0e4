"""Labels that count part of what another one counts: "A*-B" is part of "A*-C", "18+" of "16+", "Seen" of "Referred".

No sum of labels shows this, but the difference of two such numbers is a count of its own, which everybody can work out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from discreet.errors import InputError
from discreet.sheets.sums.axis_lines import ASK_AT_END, AxisLines
from discreet.sheets.sums.label_ranges import MONTH, PLURAL, label_range, ranges_apart, ranges_inside
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
UNNAMED_COLUMNS = "column"
"""The name of a dimension of columns whose headers have none in common."""
SMALL = 10
"""Differences below this may be counts that are to be hidden."""

_ALONE = re.compile(
    r"(?:with|without|who|whom|having|receiving|achieving|eligible|entitled|aged|in receipt|in care|mit|ohne|avec|sans"
    r"|of (?:whom|which|these|them)|including|thereof|davon|darunter|dont|di cui|waarvan|varav|hvorav|heraf)\b",
    re.IGNORECASE,
)
"""How a label begins that says no more than which of those counted before it are meant: "With a plan"."""
_OF_ALL = re.compile(
    r"(?:total|all|any|overall|alle|insgesamt|gesamte?|toutes|tous|todos|todas|tutti|totale?)(?:\s|\Z)"
)
"""How a label begins that counts all of a kind."""
_NUMBER_OF = re.compile(
    r"(?:(?:total )?numbers?|count|no\.?|#|anzahl(?: der)?|nombre|número|numero|antal|aantal)\s+"
    r"(?:(?:of|de|di|d')\s+)?(?=\w)"
)
_CUT = re.compile(r"\s*[,:(]\s*|\s+(?:-\s+)?")
_STAGE = re.compile(r"(?:.*\s)?(?:\w+ed|seen|taken|given|met|won|begun|sent)(?:\s.*)?", re.IGNORECASE)
"""A step that some of those who took the last one take: "Referred", "Seen", "Tested positive"."""
_SEX = re.compile(
    r"(?:fe)?males?|(?:wo)?m[ae]n|boys?|girls?|[fmwh]|männer|frauen|männlich|weiblich|hommes?|femmes?", re.IGNORECASE
)
_COUNTED = re.compile(
    r"persons?|people|population|households?|dwellings?|famil(?:y|ies)|vehicles?|personen|haushalte|wohnungen|familien|einwohner"
    r"|personnes|ménages|logements|personas|hogares|viviendas",
    re.IGNORECASE,
)
"""What is counted itself, not some of it."""
_TIME = re.compile(rf"(?:19|20)\d\d|\b{MONTH}\b|\bq[1-4]\b|\bweek\b", re.IGNORECASE)


class RatePair(tuple[str, str]):
    """A pair that a rate shows, whose whole may be anybody the rate is of: of sums alone it is taken as one."""


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
    ranges = {k: found for k in top if (found := label_range(codes[k])) is not None}
    if len(ranges) < 2 or not (inside := ranges_inside(ranges)):
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
    others = [k for k in top if k not in ranges and label_range(codes[k]) is None]
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
    """Topmost labels that others narrow down by further words, as lines confirm: "Pupils", "Pupils with a plan".

    The words stand behind ("Deaths", "Deaths within 30 days") or before ("Total admissions", "Emergency admissions"),
    or alone beside the label that they narrow down ("Patients", "Aged 65 and over"), or the other one is called that of
    all ("All staff", "Female"). Those that narrow down one label may overlap; a label that is narrowed down is not
    itself part of another.
    """
    texts = {k: _plain_words(codes[k]) for k in top}
    wholes: dict[str, list[int]] = {}
    for k in top:
        for text in dict.fromkeys((texts[k], _OF_ALL.sub("", texts[k]))):
            wholes.setdefault(text, []).append(k)
    nested: dict[int, list[int]] = {}

    def take(whole: int, part: int) -> None:
        if whole != part and part not in nested.get(whole, ()) and holds(lines, whole, part):
            nested.setdefault(whole, []).append(part)

    for part in top:
        text = texts[part]
        for cut in _CUT.finditer(text):
            for whole in (*wholes.get(text[: cut.start()], ()), *wholes.get(text[cut.end() :], ())):
                take(whole, part)
    alone = {k for k in top if _ALONE.match(texts[k])}
    before = next((k for k in top if k not in alone and like_a_total(codes[k]) != USUAL), None)
    for k in top:
        if k not in alone:
            before = k
        elif before is not None:
            take(before, k)
    if len(top) == 2:
        for whole, part in (top, top[::-1]):
            if _OF_ALL.match(texts[whole]) and not _OF_ALL.match(texts[part]):
                take(whole, part)
    return {k: parts for k, parts in nested.items() if not any(k in others for others in nested.values())}


def exact_parts(
    codes: Sequence[str], lines: AxisLines, top: Sequence[int], children: Collection[int]
) -> dict[int, list[int]]:
    """Labels that others narrow down and that are a sum: "Leeds" of "North Leeds" and "South Leeds", or of all others.

    That one label narrows it down makes a label whose numbers are the sum of all others their total: "Households".
    """
    exact = {}
    for whole, parts in qualified_labels(codes, lines, top).items():
        others = [k for k in top if k != whole]
        for held, least in ((sorted(parts), 0.0), (others, ASK_AT_END)):
            denied, confirmed, bits, _ = lines.evidence(whole, held)
            if whole not in children and len(held) > 1 and confirmed and not denied and bits >= least:
                exact[whole] = held
                break
    return exact


def _plain_words(label: str) -> str:
    """A label in small letters, each word in the singular, without "Number of" before it.

    >>> _plain_words("Number of  Referrals"), _plain_words("Number with asthma"), _plain_words("No. of deaths")
    ('referral', 'with asthma', 'death')
    """
    return PLURAL.sub("", _NUMBER_OF.sub("", " ".join(label.casefold().split())))


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


def divided_sums(
    codes: Sequence[str],
    lines: AxisLines,
    pairs: Sequence[tuple[str, str]],
    top: Sequence[int],
    children: Collection[int],
) -> dict[int, list[int]]:
    """The one topmost label by which a topmost sum is divided, as "Population" divides "Total" in a rate of it."""
    place = {code: k for k, code in enumerate(codes)}
    held = [(place[a], place[b]) for a, b in pairs if a in place and b in place]
    held = [(a, b) for a, b in held if a in top and b in top and b in children and a not in children]
    return {a: [b] for a, b in held[:1] if len(held) == 1 and holds(lines, a, b)}


def possible_parts(name: str, codes: Sequence[str], lines: AxisLines, top: Sequence[int]) -> dict[int, list[int]]:
    """Headers that may count part of another, which neither their words nor their numbers decide, by the smallest such.

    One is nowhere more than the other, and somewhere their difference is small, so that it is protected as a count.
    Only of columns without a name in common: the categories of a variable that has one exclude each other.
    """
    apart = (_SEX, _COUNTED)
    plain = [
        k for k in top if not _TIME.search(codes[k]) and not any(names.fullmatch(codes[k].strip()) for names in apart)
    ]
    if name != UNNAMED_COLUMNS or len(plain) > MOST_SEARCHED or lines.allowed:
        return {}
    size = lines.values.sum(axis=1)
    ranges = {k: label_range(codes[k]) for k in plain}
    nested: dict[int, list[int]] = {}
    for part in plain:
        others = [k for k in plain if k != part and not ranges_apart(ranges[k], ranges[part])]
        wholes = [k for k in others if _differs_little(lines, k, part)]
        if any(_is_close(codes, lines, k, part, len(plain)) for k in wholes):
            return {}  # asked about
        if wholes:
            nested.setdefault(min(wholes, key=lambda k: float(size[k])), []).append(part)
    return {k: parts for k, parts in nested.items() if not any(k in others for others in nested.values())}


def _differs_little(lines: AxisLines, whole: int, part: int) -> bool:
    """Whether a label is nowhere more than another, in some lines at least, and differs from it by a small count."""
    both = lines.shown[whole] & lines.shown[part] & lines.there[whole] & lines.there[part]
    gap = (lines.values[whole] - lines.values[part])[both]
    held = (lines.values[whole][both] > 0).sum() >= LEAST_LINES
    return bool(held and ((gap > 0) & (gap < SMALL)).any() and holds(lines, whole, part))


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
