"""Whether a policy protects at all: what would publish the true table is an error unless it is asked for by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.methods import method_class
from discreet.methods.effect import changes_records, check_effect

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
    for number, name in enumerate(names):
        made = policy.make(number)  # parameters are read now
        if name != "publish":
            check_effect(made, ask=ASK)


def _check_rules(policy: Policy, names: list[str]) -> None:
    """A rule that no method looks at, or that calls nothing sensitive, would be kept by nobody."""
    if policy.rules and not any("rule" in method_class(name).__dataclass_fields__ for name in names):
        raise InputError(
            f"the policy has a rule that says which cells are sensitive, and no method that hides them "
            f'({", ".join(names)} takes no rule): add [[method]] name = "suppress", or leave the rule out'
        )
