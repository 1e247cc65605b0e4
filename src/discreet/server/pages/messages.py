"""Plain words for visitors: what was done to the numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.methods import contract
from discreet.policy import Policy
from discreet.release import Release
from discreet.server.languages import ENGLISH, translated
from discreet.server.service import Service

QUOTED = re.compile("'([^']*)'")
NOISE = (
    "To protect the people behind the numbers, a small random amount was added to or taken from most of them. The same "
    "group always shows the same number, whoever asks and however often, so asking again tells nothing new. "
    "Totals were changed by themselves, so they may differ a little from the sum of their parts. Small numbers are the "
    "least certain; use them with care."
)
ROUNDED = (
    "To protect the people behind the numbers, they were rounded up or down at random to a multiple of the base. The "
    "same group is always rounded the same way, so asking again tells nothing new. A small number may really "
    "be a little larger or smaller."
)
HIDDEN = (
    "To protect the people behind the numbers, some cells are not shown (×). Some of them are small; others are "
    "hidden so that nobody can work out the first ones from the totals."
)
AS_THEY_ARE = "Nothing was done to protect the people behind the numbers: they are published as they are."
ADDITIVE = "Totals add up."
OTHERWISE = "The numbers were changed a little to protect the people behind them."
TRUE = (
    "The numbers that are shown are as they were counted. To protect the people behind them, some may not be shown, or "
    "only together with others."
)
CHANGED = (
    "To protect the people behind the numbers, the data were changed a little at random before anything was counted: "
    "some records are counted elsewhere, or in another category, than where they belong. Every table is counted from "
    "the same changed data, so tables agree with each other, and asking again tells nothing new. Small numbers are "
    "the least certain."
)
SYNTHETIC = (
    "To protect the people behind the numbers, all tables are counted from invented records. They were drawn so "
    "that totals and other large numbers are nearly those of the true records; how a small group is made up is only "
    "what larger tables let one expect. Tables add up and agree with each other. Small numbers are the least certain."
)
NEAREST = "To protect the people behind the numbers, they were rounded to the nearest multiple of the base."
DRAWN = (
    "To protect the people behind the numbers, the totals are shown as they are and what lies between them was drawn "
    "at random among all tables with these totals: only the totals tell something."
)
EXPLAINED = {
    "publish": AS_THEY_ARE,
    "cell-key": NOISE,
    "cell-key-magnitude": NOISE,
    "stochastic": NOISE,
    "barnard": NOISE,
    "random-round": ROUNDED,
    "semi-controlled-round": ROUNDED,
    "controlled-round": ROUNDED,
    "small-count-round": ROUNDED,
    "round": NEAREST,
    "same-margins": DRAWN,
    "synthetic": SYNTHETIC,
    "discrete-gaussian": SYNTHETIC,
    "suppress": HIDDEN,
}


SENTENCES = (*dict.fromkeys(EXPLAINED.values()), HIDDEN, ADDITIVE, OTHERWISE, TRUE, CHANGED)
"""What is said of methods: every catalogue has them."""


def explained(policy: Policy, release: Release | None = None, language: str = ENGLISH) -> str:
    """What the policy's method does to the numbers, or did to those of a table, for non-statisticians."""
    return " ".join(translated(sentence, language) for sentence in _sentences(policy, release))


def _sentences(policy: Policy, release: Release | None) -> list[str]:
    if release is not None and release.as_it_is:
        return [AS_THEY_ARE]
    name = policy.methods[0][0]
    if policy.before:
        changed = SYNTHETIC if contract(policy.before[0][0]).step == "population" else CHANGED
        return [changed, *(_of_method(name) if name != "publish" else [])]
    return _of_method(name)


def _of_method(name: str) -> list[str]:
    """The explanation of a method; of one that has none here, by what it says of itself."""
    said = contract(name)
    otherwise = OTHERWISE if not said.truthful else HIDDEN if said.rule else TRUE
    additive = [ADDITIVE] if name in ("semi-controlled-round", "controlled-round") else []
    return [EXPLAINED.get(name, otherwise), *additive]


def with_titles(sentence: str, titles: Mapping[str, str]) -> str:
    """A sentence of the library whose quoted names are said as a reader of the page knows them.

    >>> with_titles("variable 'band' is not published", {"band": "Band of pay"})
    'variable “Band of pay” is not published'
    >>> with_titles("unknown variable 'bandd'; did you mean 'band'?", {"band": "band"})
    "unknown variable 'bandd'; did you mean 'band'?"
    """
    return QUOTED.sub(
        lambda found: f"“{titles[found[1]]}”" if titles.get(found[1], found[1]) != found[1] else found[0], sentence
    )


def titles_of(service: Service) -> dict[str, str]:
    """The titles of variables and the labels of measures by their names in addresses."""
    measures = {name: served.label or name for name, served in service.policy.measures.items()}
    return {**measures, **{d.name: d.title for d in service.dimensions}}
