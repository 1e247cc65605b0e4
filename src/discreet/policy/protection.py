"""Whether a policy protects at all: what would publish the true table is an error unless it is asked for by name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.methods import method_class
from discreet.release import Protected
from discreet.rules import Rule, Threshold
from discreet.table import Table

if TYPE_CHECKING:
    from discreet.policy.policy import Policy

AS_IT_IS = "as it is"
PUBLISH: tuple[tuple[str, dict[str, Any]], ...] = (("publish", {}),)
ASK = f'to publish the true numbers, ask for it by name: publish = "{AS_IT_IS}" at the head of the policy'


def check_protection(policy: Policy) -> None:
    """Raise if the policy would publish the truth without saying so, or holds rules that nothing keeps."""
    names = [name for name, _ in policy.methods]
    if policy.before and policy.publish:
        raise InputError(
            f"publish = {AS_IT_IS!r} means no protection, and a step before counting is given: leave one out"
        )
    if policy.before and names == ["publish"]:  # the step is the protection
        pass
    elif policy.publish:
        if names != ["publish"]:
            raise InputError(
                f"publish = {AS_IT_IS!r} means no protection, and a method is given too ({', '.join(names)}): leave "
                "one of them out"
            )
    elif not names:
        raise InputError(
            'the policy names no method, so nothing would be protected: add [[method]] (name = "random-round", or '
            f'"suppress" with a [[rule]]); {ASK}'
        )
    elif "publish" in names:
        raise InputError(f"the method 'publish' protects nothing: take another; {ASK}")
    for name in names:
        if changes_records(name):
            raise InputError(
                f"method {name!r} changes records before they are counted: make it a step, [[before]] instead of "
                "[[method]]"
            )
    _check_rules(policy, names)
    for number in range(len(names)):
        _check_method(policy, number)


def _check_rules(policy: Policy, names: list[str]) -> None:
    """A rule that no method looks at, or that calls nothing sensitive, would be kept by nobody."""
    if policy.rules and not any("rule" in method_class(name).__dataclass_fields__ for name in names):
        raise InputError(
            f"the policy has a rule that says which cells are sensitive, and no method that hides them "
            f'({", ".join(names)} takes no rule): add [[method]] name = "suppress", or leave the rule out'
        )
    if policy.rules and all(_calls_nothing(rule) for rule in policy.rules):
        raise InputError("the rule calls no cell sensitive (count < 1), so nothing would be hidden: give n = 2 or more")


def _calls_nothing(rule: Rule) -> bool:
    return isinstance(rule, Threshold) and rule.n <= 1 and not rule.zeros


def _check_method(policy: Policy, number: int) -> None:
    """Parameters are read now, and a method that moves no count at all is no protection."""
    name, made = policy.methods[number][0], policy.make(number)
    if name == "publish" or not hasattr(made, "transition"):
        return
    try:
        matrix = made.transition(_probe()).matrix
    except InputError:  # made for magnitudes; the road looks at what it does to them
        return
    rows, columns = np.nonzero(matrix)
    if (rows == columns).all():
        raise InputError(f"method {name!r} with these parameters changes no number: take other ones; {ASK}")


def check_hides(protected: Protected) -> None:
    """Raise if whoever knows the method can read every true value off the table (its bounds leave one value each)."""
    lower, upper = (protected.details.get(name) for name in ("lower", "upper"))
    if lower is not None and upper is not None and np.array_equal(lower, upper):
        raise InputError(
            f"the policy's method leaves this measure as it is ({protected.method}): take other parameters"
        )


@cache
def _probe() -> Table:
    """Small counts of every kind, of nobody: what a method does to them shows whether it does anything."""
    return Table.of(np.arange(16).reshape(4, 4), ["a", "b"])


def changes_records(name: str) -> bool:
    """Whether a method works on records before they are counted."""
    told = str(method_class(name).__call__.__annotations__.get("return", ""))
    return told.endswith("Microdata")
