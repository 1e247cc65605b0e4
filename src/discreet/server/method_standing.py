"""Where each method stands on a risk-utility map, in words: what dominates it, what it cannot be told apart from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MOST = "most utility among the methods that the thresholds allow"
NEARLY = "least risk among the allowed methods that have nearly the most utility"
CLOSE = 0.01  # risks or utilities that differ by less are taken for equal: the measures are rougher than that


@dataclass(frozen=True)
class Standing:
    """A method's risk and utility; whether the thresholds allow it; whether it is there for comparison alone."""

    risk: float
    utility: float
    allowed: bool = True
    reference: bool = False


def best_method(methods: Mapping[str, Standing]) -> str | None:
    """The method of most utility among those allowed; of several that are close to it, the one of least risk.

    What is there for comparison is never the best: publishing a table as it is loses nothing, and protects nobody.

    >>> shown = Standing(0.31, 1.0, reference=True)
    >>> best_method({"as it is": shown, "a": Standing(0.3, 0.94), "b": Standing(0.2, 0.935)})
    'b'
    """
    allowed = {name: one for name, one in methods.items() if one.allowed and not one.reference}
    if not allowed:
        return None
    most = max(one.utility for one in allowed.values())
    near = [name for name, one in allowed.items() if one.utility > most - CLOSE]
    return min(near, key=lambda name: (allowed[name].risk, -allowed[name].utility))


def standing_words(methods: Mapping[str, Standing]) -> dict[str, tuple[str, ...]]:
    """What is to be said of each method, in parts that catalogues translate.

    >>> standing_words({"a": Standing(0.3, 0.94), "b": Standing(0.2, 0.935)})["b"]
    ('least risk among the allowed methods that have nearly the most utility',)
    >>> words = standing_words({"as it is": Standing(0.312, 1.0, reference=True), "a": Standing(0.3115, 0.9)})
    >>> words["as it is"]
    ('for comparison', 'its risk can hardly be told from that of a, so the measure does not see what is done here')
    """
    best = best_method(methods)
    return {name: _words(name, methods, best) for name in methods}


def _words(name: str, methods: Mapping[str, Standing], best: str | None) -> tuple[str, ...]:
    own = methods[name]
    others = {other: one for other, one in methods.items() if other != name and not one.reference}
    if own.reference:
        near = [other for other, one in others.items() if abs(one.risk - own.risk) < CLOSE]
        if not near:
            return ("for comparison: nothing is protected",)
        return (
            "for comparison",
            f"its risk can hardly be told from that of {', '.join(near)}, so the measure does not see what is done "
            "here",
        )
    parts = []
    if name == best:
        most = max(one.utility for one in (own, *others.values()) if one.allowed)
        parts.append(MOST if own.utility >= most else NEARLY)
    if not own.allowed:
        parts.append("not allowed by the thresholds")
    equal = [other for other, one in others.items() if _equal(own, one)]
    better = [other for other, one in others.items() if _dominates(one, own)]
    if equal:
        parts.append(f"cannot be told apart from {', '.join(equal)}")
    if better:
        other = methods[better[0]]
        parts.append(
            f"dominated by {better[0]}: beside it {own.risk - other.risk:+.3f} risk and "
            f"{own.utility - other.utility:+.3f} utility"
        )
    if not equal and not better and name != best:
        parts.append("non-dominated: no other has both less risk and more utility")
    return tuple(parts)


def _equal(one: Standing, other: Standing) -> bool:
    return abs(one.risk - other.risk) < CLOSE and abs(one.utility - other.utility) < CLOSE


def _dominates(one: Standing, other: Standing) -> bool:
    """Whether one is no worse in both, and better in at least one by more than a hair."""
    no_worse = one.risk < other.risk + CLOSE and one.utility > other.utility - CLOSE
    return no_worse and not _equal(one, other)
