"""Labels that stand below others without an indent: the same ones below each area, or those that begin "of which"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from discreet.sheets.blocks.label_paths import LabelLevel, is_total_text

OF_WHICH = (
    "of which|of whom|including|thereof|davon|darunter|dont|di cui|de los cuales|de las cuales|dos quais|das quais"
    "|herav|varav|waarvan|w tym|z tego|joista|heraf"
)
_LIST_BEGINS = re.compile(rf"\W*(?:{OF_WHICH})\s*:\s*\w", re.IGNORECASE)
_DASH = re.compile(r"((?:[-\u2013\u2014\u2022\u00b7\u25aa]\s*)+)\s+[^\W\d_]|((?:\.\s?){2,})\s*[^\W_]")
"""Signs before a label, one for each level: "- Leeds", "-- Centre", ".. Leeds"."""
BEGINS_OF_WHICH = re.compile(rf"\W*(?:{OF_WHICH})\b", re.IGNORECASE)


def with_implied_indents(levels: Sequence[LabelLevel]) -> tuple[list[LabelLevel], str]:
    """Levels whose last one has the indents that its labels imply, and a sentence that says so; "" if none are implied.

    Labels that begin "of which" are parts of the label before them. Labels that stand again and again are parts of the
    labels that stand once between them: of the one above, or of the one below where the first of all is a part. Labels
    behind a dash are parts of the one above without.
    """
    last = levels[-1]
    dashes = [_signs(text) for text in last.texts]
    if any(dashes) and not dashes[0]:
        deeper = [
            (1 + max(dashes)) * indent + dash
            for indent, dash in zip(last.indents or [0] * len(dashes), dashes, strict=True)
        ]
        sentence = "labels behind a dash or dot are parts of the label above them; nested=False if not"
        return [*levels[:-1], replace(last, indents=tuple(deeper))], sentence
    if len({*last.indents}) > 1:
        return [*levels[:-1], replace(last, indents=_behind_of_which(last))], ""
    indents, sentence = _of_which(last.texts), ""
    if any(indents):
        sentence = "labels that begin like 'of which' are parts of the label above them; nested=False if not"
    elif repeated := _repeated(levels):
        indents = [int(text in repeated) for text in last.texts]
        sentence = "labels that stand again below each of several others are their parts; nested=False if not"
    if not sentence:
        return list(levels), ""
    return [*levels[:-1], replace(last, indents=tuple(indents))], sentence


def _signs(text: str) -> int:
    """How many dashes or dots stand before a label."""
    match = _DASH.match(text)
    return 0 if match is None else sum(not sign.isspace() for sign in match[1] or match[2])


def _behind_of_which(level: LabelLevel) -> tuple[int, ...]:
    """Indents where a list begins behind "of which:", so that the label stands as far in as those below it."""
    indents = list(level.indents)
    for k, (text, below) in enumerate(zip(level.texts, level.indents[1:], strict=False)):
        if k and below > indents[k] and _LIST_BEGINS.match(text):
            indents[k] = below
    return tuple(indents)


def _of_which(texts: Sequence[str]) -> list[int]:
    """1 for labels that begin like "of which" behind another one."""
    inner = [int(BEGINS_OF_WHICH.match(text) is not None) for text in texts]
    return [0] * len(inner) if inner and inner[0] else inner


def _repeated(levels: Sequence[LabelLevel]) -> set[str]:
    """Labels that stand below each of several others which stand once; none if the order is not so throughout.

    Labels of one row of an outer level are looked at alone: below another outer label they are expected again.
    """
    texts = levels[-1].texts
    paths = list(zip(*(level.texts for level in levels[:-1]), strict=True)) or [()] * len(texts)
    times = Counter(zip(paths, texts, strict=True))
    repeated = {text for (_, text), many in times.items() if many > 1 and text and not is_total_text(text)}
    if not repeated:
        return set()
    for path in dict.fromkeys(paths):
        own = [text for text, at in zip(texts, paths, strict=True) if at == path]
        if not _is_regular(own, repeated) and not _is_regular(own[::-1], repeated):
            return set()
    return repeated


def _is_regular(texts: Sequence[str], repeated: set[str]) -> bool:
    """Whether every label that stands once, but for totals, is followed by some that stand again, mostly by several."""
    runs: list[tuple[str, int]] = []
    for text in texts:
        if text not in repeated:
            runs.append((text, 0))
        elif not runs:
            return False
        else:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
    plain = [many for text, many in runs if not (is_total_text(text) and not many)]
    return len(plain) > 1 and min(plain) > 0 and 2 * sum(many > 1 for many in plain) >= len(plain)
