"""Whether a policy protects at all: what would publish the true table is an error unless it is asked for by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.errors import InputError
from discreet.methods import acts_on_records, contract
from discreet.methods.contract import Method
from discreet.methods.effect import check_effect
from discreet.rules import Rule

Methods = Sequence[tuple[str, Mapping[str, Any]]]
AS_IT_IS = "as it is"
PUBLISH: tuple[tuple[str, dict[str, Any]], ...] = (("publish", {}),)
ASK = f'to publish the true numbers, ask for it by name: publish = "{AS_IT_IS}" at the top of the policy'


def check_protection(
    methods: Methods, make: Callable[[int], Method], *, before: bool, publish: str, rules: Sequence[Rule]
) -> None:
    """Raise if a policy would publish the truth without saying so, or holds rules that nothing keeps.

    ``make`` builds one of its methods by number; ``before``: whether it has steps before counting.
    """
    names = [name for name, _ in methods]
    if before and publish:
        raise InputError(
            f"publish = {AS_IT_IS!r} means no protection, and a step before counting is given: leave one out"
        )
    if before and names == ["publish"]:  # the step is the protection
        pass
    elif publish:
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
        if acts_on_records(name):
            raise InputError(
                f"method {name!r} changes records before they are counted: make it a step, [[before]] instead of "
                "[[method]]"
            )
    _check_rules(rules, names)
    for number, name in enumerate(names):
        method = make(number)  # parameters are read now
        if name != "publish":
            check_effect(method, ask=ASK)


def _check_rules(rules: Sequence[Rule], names: list[str]) -> None:
    """A rule that no method looks at, or that calls nothing sensitive, would be kept by nobody."""
    if rules and not any(contract(name).rule for name in names):
        raise InputError(
            f"the policy has a rule that says which cells are sensitive, and no method that hides them "
            f'({", ".join(names)} takes no rule): add [[method]] name = "suppress", or leave the rule out'
        )
