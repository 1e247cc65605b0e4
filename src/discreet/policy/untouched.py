"""A table that no step or method of the policy can change is the true one: it is refused, from the codebook alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.errors import Refused
from discreet.methods.touching import needed, touches
from discreet.policy.policy import Policy
from discreet.policy.query import Resolved

LOOKED_AT = ("stochastic",)  # methods that leave some tables as they are


def check_untouched(resolved: Resolved, policy: Policy) -> None:
    """Refuse a table that nothing in the policy changes, unless it publishes tables as they are by that name."""
    if policy.publish:
        return
    idle = []
    for method in _done(policy):
        if method is None or touches(method, resolved.levels, resolved.source):
            return
        idle.append(method)
    raise Refused(
        "untouched",
        "nothing that the policy does changes this table, so it would be the true one",
        f"{needed(idle[0])}; or the policy needs a [[method]]",
    )


def _done(policy: Policy) -> Iterator[Any]:
    """Steps and methods, in turn; None for one that looks at every table."""
    yield from policy.steps
    for number, (name, _) in enumerate(policy.methods):
        if name != "publish":
            yield policy.make(number) if name in LOOKED_AT else None
