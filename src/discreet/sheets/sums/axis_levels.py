"""From levels of labels to dimensions: codes with labels, levels that are nested, levels that cross."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from discreet.errors import InputError, many
from discreet.sheets.blocks.implied_indents import with_implied_indents
from discreet.sheets.blocks.label_paths import LabelLevel, is_total_text
from discreet.tables.total_names import USUAL, like_a_total
from discreet.tables.totals import TOTAL

JOINT = " / "
_SUBTOTAL = re.compile(
    r"sub[- ]?totals?|zwischensummen?|teilsummen?|sous[- ]tota(?:l|ux)|subtotaa?l(?:es)?|subtotais"
    r"|sub[- ]?totale|v\u00e4lisummat?",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?:\b|_)(codes?|id|key|nr|urn|gss|nuts|ref|kode|koodi)(?:\b|_)", re.IGNORECASE)
_NOTES = re.compile(
    r"(?:foot)?notes?|notes? refs?|comments?|remarks?|anmerkung(?:en)?|fu\u00dfnoten?|notas?|opmerkingen"
)
_NOTE = re.compile(
    r"[\[(]?(?:(?:foot)?notes?|fn|anm\.?|nota)\s*\d+[a-z]?(?:\s*(?:,|;|and|&)\s*(?:notes?\s*)?\d+[a-z]?)*[\])]?"
    r"(?:[\s,;]*[\[(](?:notes?\s*)?\d+[a-z]?[\])])*",
    re.IGNORECASE,
)
"""What stands in a column that says which notes are on a row: "[note 1]", "Note 2, 3"."""
_KINDS_OF_AREAS = re.compile(
    r"(?:(?:countr(?:y|ies)|nations?|national|regions?|regional|count(?:y|ies)|districts?|unitary|local|authorit(?:y|ies)"
    r"|wards?|boroughs?|london|metropolitan|non-metropolitan|combined|council|areas?|health|boards?|states?|provinces?"
    r"|land|l\u00e4nder|bund|kreise?|gemeinden?|regierungsbezirke?|d\u00e9partements?|r\u00e9gions?|communes?|pays|municipalit(?:y|ies)"
    r"|kommuner?|l\u00e4n|provincias?|municipios?|icb|ccg|trusts?|lsoas?|msoas?|geographical|sub)(?:[\s/&,-]+|\Z))+",
    re.IGNORECASE,
)
"""What kind of area a row is of, where a column says so beside its name: "Country", "Metropolitan District"."""
_LEVEL = re.compile(r"(?:\b|_)(level|type|tier|breakdown|ebene|niveau|nivel)(?:\b|_)", re.IGNORECASE)


@dataclass(frozen=True)
class AxisDimension:
    """A dimension as the labels of one axis show it: a code for each item, which codes stand below which."""

    name: str
    codes: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    parents: Mapping[str, str] = field(default_factory=dict)
    levels: tuple[LabelLevel, ...] = ()
    blank: str | None = None
    """The code of items without a label of this dimension, which is not on the sheet: they can only be its total."""

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The codes in the order of the sheet."""
        return tuple(dict.fromkeys(self.codes))

    @property
    def headed(self) -> list[list[str]]:
        """The codes below each label of the level above them; none if there is no such level."""
        groups: dict[tuple[str, ...], dict[str, None]] = {}
        for code, *above in zip(self.codes, *(level.texts for level in self.levels[:-1]), strict=True):
            if any(above):
                groups.setdefault(tuple(above), {})[code] = None
        return [list(group) for group in groups.values()]


@dataclass(frozen=True)
class AxisReading:
    """The dimensions of an axis, and what was assumed to find them."""

    dimensions: tuple[AxisDimension, ...]
    assumed: tuple[str, ...] = ()


def axis_dimensions(
    levels: Sequence[LabelLevel],
    *,
    fallback: str,
    nested: bool = True,
    missing: str | Mapping[str, str] | None = None,
) -> AxisReading:
    """The dimensions of rows or columns; ``fallback`` names one that the sheet gives no name."""
    levels = [level for level in levels if any(level.texts)]
    if not levels:
        return AxisReading(())
    assumed: list[str] = []
    levels, labels = _without_code_columns(_without_level_names(_without_notes(levels, assumed), assumed), assumed)
    levels = _without_kinds_of_areas(levels, assumed)
    levels = _without_totals(levels)
    if len(levels) == 1:
        levels = [_with_numbered_totals(levels[0])]
    if nested:
        levels, implied = with_implied_indents(levels)
        assumed += filter(None, [implied])
    parents: dict[int, int] = {}
    if nested and len(levels[-1].indents) and len({*levels[-1].indents}) > 1:
        parents = _by_indent(levels)
        if parents and _recurring(levels, parents):
            levels = [*levels[:-1], *_indent_levels(levels[-1], parents)]
            parents = {}
    chains = _chains(levels, assumed) if nested else [[k] for k in range(len(levels))]
    dims = []
    for chain in chains:
        last = chain[-1] == len(levels) - 1
        dims.append(
            _dimension([levels[k] for k in chain], labels, parents if last else {}, fallback, missing, len(chains))
        )
    return AxisReading(tuple(_once(dims)), tuple(assumed))


def _once(dims: Sequence[AxisDimension]) -> list[AxisDimension]:
    """Dimensions of different names."""
    taken: set[str] = set()
    renamed = []
    for dim in dims:
        name, n = dim.name, 2
        while name in taken:
            name, n = f"{dim.name} {n}", n + 1
        taken.add(name)
        renamed.append(replace(dim, name=name))
    return renamed


# -- codes beside labels ------------------------------------------------------------------------------------------


def _without_code_columns(
    levels: Sequence[LabelLevel], assumed: list[str]
) -> tuple[list[LabelLevel], dict[int, dict[str, str]]]:
    """Levels of which one is the code and the other the label of the same thing, as one; labels by level."""
    kept: list[LabelLevel] = []
    labels: dict[int, dict[str, str]] = {}
    for level in levels:
        if kept and not level.sections and not kept[-1].sections and _same_things(kept[-1], level):
            before = kept.pop()
            code, label = (before, level) if _more_like_codes(before, level) else (level, before)
            texts = tuple(c or t for c, t in zip(code.texts, label.texts, strict=True))
            merged = replace(
                code,
                name=next((n for n in (label.name, code.name) if n and not _CODE.search(n)), label.name or code.name),
                texts=texts,
                places=tuple(p or q for p, q in zip(code.places, label.places, strict=True)),
                indents=label.indents if len({*label.indents}) > 1 else code.indents,
            )
            kept.append(merged)
            pairs = zip(texts, label.texts, strict=True)
            labels.setdefault(len(kept) - 1, {}).update({c: t for c, t in pairs if t and t != c})
            assumed.append(f"{code.name or 'a column'!r} holds the codes and {label.name or 'another'!r} their labels")
        else:
            kept.append(level)
    return kept, labels


def _without_level_names(levels: Sequence[LabelLevel], assumed: list[str]) -> list[LabelLevel]:
    """Levels without one that only says which of the others a row has: "National" where the region is blank."""
    kept = list(levels)
    for level in levels:
        others = [other for other in kept if other is not level]
        filled = list(zip(*(map(bool, other.texts) for other in others), strict=True))
        pairs = set(zip(level.texts, filled, strict=False))
        alone = len(pairs) == len({text for text, _ in pairs}) == len({own for _, own in pairs}) > 1
        if alone and _LEVEL.search(level.name) and all(level.texts):
            kept = others
            assumed.append(f"{level.name!r} says which of the other labels a row has, and is not a dimension")
    return kept


def _without_notes(levels: Sequence[LabelLevel], assumed: list[str]) -> list[LabelLevel]:
    """Levels without one that only names notes on the rows."""
    kept = []
    for level in levels:
        texts = [text for text in level.texts if text]
        refers = all(_NOTE.fullmatch(text) for text in texts)
        if len(levels) > 1 and (refers or (_NOTES.fullmatch(level.name.casefold()) and "" in level.texts)):
            assumed.append(f"{level.name or 'a column'!r} names notes on the rows, and is not a dimension")
        else:
            kept.append(level)
    return kept or list(levels)


def _without_kinds_of_areas(levels: Sequence[LabelLevel], assumed: list[str]) -> list[LabelLevel]:
    """Levels without one behind names that says what kind of area each is, where the others name every row."""
    kept = list(levels)
    for level in levels[1:]:
        others = [other for other in kept if other is not level]
        named = list(zip(*(other.texts for other in others), strict=True))
        areas = all(_KINDS_OF_AREAS.fullmatch(text) for text in level.texts)
        if areas and len({*named}) == len(named) and not any("" in names for names in named):
            kept = others
            assumed.append(f"{level.name or 'a column'!r} says what kind of area a row is of, and is not a dimension")
    return kept


def _same_things(one: LabelLevel, other: LabelLevel) -> bool:
    """Whether two levels name the same things: each text of one goes with a single text of the other."""
    pairs = {(a, b) for a, b in zip(one.texts, other.texts, strict=True) if a and b}
    first, second = {a for a, _ in pairs}, {b for _, b in pairs}
    if not len(pairs) == len(first) == len(second) >= 2:
        return False
    half = sum(bool(a) != bool(b) for a, b in zip(one.texts, other.texts, strict=True))
    return 4 * half <= len(one.texts) or _CODE.search(one.name) is not None or _CODE.search(other.name) is not None


def _more_like_codes(one: LabelLevel, other: LabelLevel) -> bool:
    both = [pair for pair in zip(one.texts, other.texts, strict=True) if all(pair)]
    called = [any(is_total_text(pair[k]) for pair in both) for k in (0, 1)]
    if called[0] != called[1]:
        return called[0]  # "0, All": the one that names the total says more
    marked = [bool(_CODE.search(level.name)) for level in (one, other)]
    if marked[0] != marked[1]:
        return marked[0]
    lengths = [sum(len(text) + 10 * (" " in text) for text in level.texts) for level in (one, other)]
    return lengths[0] <= lengths[1]


# -- indents ------------------------------------------------------------------------------------------------------


def _by_indent(levels: Sequence[LabelLevel]) -> dict[int, int]:
    """For items whose label is indented the item above that it belongs to, or below; nothing if an indent has none.

    Where labels stand above their parts and the total of them all below, those without one above belong to that.
    """
    items = range(len(levels[-1].texts))
    parents, orphans = _nearest_outer(levels, items)
    if not orphans:
        return parents
    below, none = _nearest_outer(levels, items[::-1])
    indents = levels[-1].indents
    if len(indents) > 1 and indents[0] < indents[1] and all(k in below for k in orphans):
        return parents | {k: below[k] for k in orphans}
    return {} if none else below


def _nearest_outer(levels: Sequence[LabelLevel], items: Sequence[int]) -> tuple[dict[int, int], list[int]]:
    """For each indented item the last one before it that is indented less, and the items that have none."""
    level, outer = levels[-1], levels[:-1]
    parents: dict[int, int] = {}
    orphans: list[int] = []
    stack: list[int] = []
    before: tuple[str, ...] | None = None
    for k in items:
        indent = level.indents[k]
        section = tuple(other.texts[k] for other in outer)
        if section != before:
            stack, before = [], section
        while stack and level.indents[stack[-1]] >= indent:
            stack.pop()
        if stack:
            parents[k] = stack[-1]
        elif indent > min(level.indents):
            orphans.append(k)
        stack.append(k)
    return parents, orphans


def _recurring(levels: Sequence[LabelLevel], parents: Mapping[int, int]) -> bool:
    """Whether the same labels stand below several others, as sexes below each area do."""
    texts = levels[-1].texts
    below: dict[str, set[str]] = defaultdict(set)
    for child, parent in parents.items():
        below[texts[child]].add(texts[parent])
    return bool(below) and 2 * sum(len(above) > 1 for above in below.values()) >= len(below)


def _indent_levels(level: LabelLevel, parents: Mapping[int, int]) -> list[LabelLevel]:
    """A level for each depth of indentation, blank below an item's own."""
    paths = []
    for k in range(len(level.texts)):
        path = [k]
        while path[0] in parents:
            path.insert(0, parents[path[0]])
        paths.append(path)
    depth = max(len(path) for path in paths)
    return [
        LabelLevel(
            level.name if d == depth - 1 else "",
            tuple(level.texts[path[d]] if d < len(path) else "" for path in paths),
            tuple(level.places[path[d]] if d < len(path) else None for path in paths),
        )
        for d in range(depth)
    ]


# -- nested and crossed levels ------------------------------------------------------------------------------------


def _plain(text: str) -> bool:
    return bool(text) and not is_total_text(text)


def _is_nested(outer: LabelLevel, inner: LabelLevel) -> bool:
    """Whether each inner label goes with one outer label, some outer ones having several."""
    above: dict[str, set[str]] = defaultdict(set)
    for a, b in zip(outer.texts, inner.texts, strict=True):
        if _plain(a) and _plain(b) and a != b:
            above[b].add(a)
    outers = {a for held in above.values() for a in held}
    if len(above) < 2 or len(outers) >= len(above) or (len(outers) < 2 and not outer.sections):
        return False
    shared = sum(len(held) > 1 for held in above.values())
    return shared == 0 or (len(above) >= 10 and 10 * shared <= len(above))


def _is_uneven(outer: LabelLevel, inner: LabelLevel) -> bool:
    """Whether outer labels have none or others below them, or a total of their own name each ("All primary").

    Such levels do not cross. Where a total of the outer labels is divided as they are, they do, and columns of labels
    with a name of their own are dimensions.
    """
    parts: dict[str, set[str]] = defaultdict(set)
    totals: dict[str, set[str]] = defaultdict(set)
    for above, below in zip(outer.texts, inner.texts, strict=True):
        if above:
            parts[above] |= {below} if _plain(below) and below != above else set()
            totals[above] |= {below} if below and not _plain(below) else set()
    divided = [above for above, held in parts.items() if len(held) > 1]
    if outer.name or "" in outer.texts or not divided or any(is_total_text(above) and parts[above] for above in parts):
        return False
    shared = {label for held in parts.values() for label in held if sum(label in own for own in parts.values()) > 1}
    alone = any(not held & shared and not is_total_text(above) for above, held in parts.items())
    own = [totals[above] for above in divided]
    different = len(own) > 1 and all(own) and len(set.union(*own)) == sum(map(len, own))
    return alone or different


def _chains(levels: Sequence[LabelLevel], assumed: list[str]) -> list[list[int]]:
    """Levels in groups: those of a group are nested, outermost first, and groups cross each other."""
    count = len(levels)
    distinct = [len({*level.texts} - {""}) for level in levels]
    outer: dict[int, int] = {}
    for inner in range(count):
        above = [
            k
            for k in range(count)
            if (k != inner and distinct[k] < distinct[inner] and _is_nested(levels[k], levels[inner]))
            or (k == inner - 1 and _is_uneven(levels[k], levels[inner]))
        ]
        if above:
            outer[inner] = max(above, key=lambda k: (distinct[k], k))
    followed = set()
    chains = []
    for k in sorted(range(count), key=lambda level: (level in outer.values(), -distinct[level])):
        if k in followed:
            continue
        chain = [k]
        while chain[0] in outer and outer[chain[0]] not in followed:
            chain.insert(0, outer[chain[0]])
        followed.update(chain)
        chains.append(chain)
    for chain in chains:
        if len(chain) > 1:
            names = [levels[k].name or "the labels above" for k in chain]
            assumed.append(
                f"{' > '.join(names)} are nested: each label belongs to one of the level above; nested=False if not"
            )
    return sorted(chains, key=min)


def _dimension(
    levels: Sequence[LabelLevel],
    labels: Mapping[int, Mapping[str, str]],
    parents: Mapping[int, int],
    fallback: str,
    missing: str | Mapping[str, str] | None,
    chains: int,
) -> AxisDimension:
    name = next((level.name for level in reversed(levels) if level.name), fallback)
    category = missing.get(name) if isinstance(missing, Mapping) else missing
    labels_of = [[level.texts[k] for level in levels] for k in range(len(levels[0].texts))]
    summed = {own[0] for own in labels_of if len(own) > 1 and (not own[1] or is_total_text(own[1]))}
    paths = [_path(own, summed) for own in labels_of]
    totals = {path[0] for path in paths if len(path) == 1 and like_a_total(path[0]) == USUAL}
    blank = next(iter(totals)) if len(totals) == 1 else TOTAL
    full = []
    for path in paths:
        if path:
            full.append(path)
        elif category is not None:
            full.append((category,))
        elif chains > 1 or len(levels) > 1:
            full.append((blank,))
        else:
            bad = sum(not p for p in paths)
            raise InputError(
                f"{many(bad, 'row of numbers has', 'rows of numbers have')} no label of {name!r}; if they are of a "
                f"category of their own say missing={{{name!r}: 'unknown'}} (--missing), if one is the total write its "
                "name into the sheet"
            )
    invented = blank if category is None and not totals and not all(paths) else None
    if parents:
        return _indented(name, full, parents, labels, tuple(levels))
    code_of = _codes_of_paths(full)
    above = {}
    for path, code in code_of.items():
        shown = next((path[:end] for end in range(len(path) - 1, 0, -1) if path[:end] in code_of), None)
        if shown is not None:
            above[code] = code_of[shown]
    return AxisDimension(
        name,
        tuple(code_of[path] for path in full),
        _labels_of(labels, code_of.values()),
        above,
        tuple(levels),
        invented,
    )


def _path(texts: Sequence[str], summed: Container[str]) -> tuple[str, ...]:
    """The labels of an item from above, ending where one is blank, is the total of the one above, or repeats it.

    Below labels that are ``summed`` in a row of their own one that repeats them is a part with their name.
    """
    path: list[str] = []
    for text in texts:
        if path and (not text or is_total_text(text) or (text == path[-1] and text not in summed)):
            break
        if not text:
            continue
        path.append(text)
    return tuple(path)


def _without_total(text: str, level: LabelLevel) -> str:
    """ "North Total" as "North" where that is a label of its level, as pivot tables write subtotals."""
    words = text.replace(":", " ").split()
    for rest, word in ((words[:-1], words[-1]), (words[1:], words[0])):
        if rest and like_a_total(word) == USUAL and " ".join(rest) in level.texts:
            return " ".join(rest)
    return text


def _without_totals(levels: Sequence[LabelLevel]) -> list[LabelLevel]:
    """Levels in which "North Total" above blank labels is "North", whose total the blank means."""
    cleaned = []
    for depth, level in enumerate(levels):
        inner = levels[depth + 1 :]
        texts = tuple(
            _without_total(text, level) if text and inner and not any(other.texts[k] for other in inner) else text
            for k, text in enumerate(level.texts)
        )
        cleaned.append(replace(level, texts=texts))
    return cleaned


def _with_numbered_totals(level: LabelLevel) -> LabelLevel:
    """A level in which sums that are all called "Subtotal", each behind its group, are told apart by their number."""
    times = Counter(level.texts)
    again = {text for text, many in times.items() if many > 1 and _SUBTOTAL.fullmatch(text.strip(" :."))}
    if not again or any(many > 1 for text, many in times.items() if text not in again):
        return level
    so_far: Counter[str] = Counter()
    texts = []
    for text in level.texts:
        so_far[text] += 1
        texts.append(f"{so_far[text]} {text}" if text in again else text)
    return replace(level, texts=tuple(texts))


def _codes_of_paths(paths: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """A code for each path: its last label, with those above it where that alone stands for several."""
    distinct = list(dict.fromkeys(paths))
    by_last: dict[str, int] = defaultdict(int)
    for path in distinct:
        by_last[path[-1]] += 1
    return {path: path[-1] if by_last[path[-1]] == 1 or len(path) == 1 else JOINT.join(path) for path in distinct}


def _indented(
    name: str,
    paths: Sequence[tuple[str, ...]],
    parents: Mapping[int, int],
    labels: Mapping[int, Mapping[str, str]],
    levels: tuple[LabelLevel, ...],
) -> AxisDimension:
    """A dimension whose hierarchy the indents show; a label that occurs twice gets the one above it before it."""
    texts = [path[-1] for path in paths]
    times: dict[str, int] = defaultdict(int)
    for text in texts:
        times[text] += 1
    codes = []
    for k, text in enumerate(texts):
        above = texts[parents[k]] if k in parents else None
        codes.append(text if times[text] == 1 or above is None else f"{above}{JOINT}{text}")
    below = {codes[child]: codes[parent] for child, parent in parents.items() if codes[child] != codes[parent]}
    return AxisDimension(name, tuple(codes), _labels_of(labels, codes), below, levels)


def _labels_of(labels: Mapping[int, Mapping[str, str]], codes: object) -> dict[str, str]:
    known = set(codes)  # type: ignore[call-overload]
    return {code: label for of in labels.values() for code, label in of.items() if code in known}
