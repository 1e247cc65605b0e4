"""A table that no step or method of the policy can change is the true one: it is refused, from the codebook alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.errors import Refused
from discreet.methods import method_class
from discreet.methods.contract import SaysUntouched
from discreet.methods.touching import untouched
from discreet.policy.policy import Policy
from discreet.policy.query import Resolved


def check_untouched(resolved: Resolved, policy: Policy) -> None:
    """Refuse a table that nothing in the policy changes, unless it publishes tables as they are by that name."""
    if policy.publish:
        return
    needed = []
    for method in _done(policy):
        needed.append(untouched(method, resolved.levels, resolved.source))
        if not needed[-1]:
            return
    raise Refused(
        "untouched",
        "nothing that the policy does changes this table, so it would be the true one",
        f"{needed[0]}; or the policy needs a [[method]]",
    )


def _done(policy: Policy) -> Iterator[Any]:
    """Steps and methods, in turn; None for one that looks at every table."""
    yield from policy.steps
    for number, (name, _) in enumerate(policy.methods):
        if name != "publish":
            yield policy.make(number) if issubclass(method_class(name), SaysUntouched) else None
