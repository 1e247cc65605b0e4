"""Steps before counting, as a policy names them: which there are, whether they fit, the methods that they are.

Records are swapped or redrawn, or the cube of all combinations is perturbed; ``pretabular`` does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.errors import InputError, listed, nearest
from discreet.methods import contract, method, method_names, parameters
from discreet.methods.effect import check_effect

Steps = Sequence[tuple[str, Mapping[str, Any]]]  # names with their parameters, as in a policy


def able() -> list[str]:
    """The methods that can be a step before counting, by their contract; those on records first.

    >>> able()
    ['swap', 'pram', 'stochastic', 'synthetic', 'discrete-gaussian']
    """
    known = [name for name in method_names() if contract(name).step]
    return sorted(known, key=lambda name: contract(name).acts_on == "table")


def check_step(name: str, stated: Iterable[str]) -> None:
    """Raise if a step is none or has unknown parameters."""
    if name not in able():
        raise InputError(f"{name!r} is not a step before counting; {nearest(name, able())}")
    known = [parameter for parameter in parameters(name) if parameter != "secret"]
    for parameter in stated:
        if parameter not in known:
            raise InputError(f"step {name!r} has no parameter {parameter!r}; {nearest(parameter, known)}")


def check_steps(before: Steps, secret: bytes | None) -> None:
    """Raise if a step is none, has unknown parameters, changes nothing, or comes in the wrong order."""
    asked = [name for name, _ in before]
    for name, stated in before:
        check_step(name, stated)
    if len(set(asked)) > 1 or (len(asked) > 1 and contract(asked[0]).step != "categories"):
        raise InputError(
            f"what several steps cost together cannot be worked out ({listed(asked)}): give one, or PRAM of several "
            "variables"
        )
    for step in build_steps(before, secret):
        check_effect(step)


def build_steps(before: Steps, secret: bytes | None) -> list[Any]:
    """The steps as methods, with the policy's secret where they take it."""
    steps = []
    for name, stated in before:
        keyed = "secret" in parameters(name) and "seed" not in stated
        try:
            steps.append(method(name, **stated, **({"secret": secret} if keyed else {})))
        except InputError:
            raise
        except (TypeError, ValueError):
            listing = ", ".join(f"{key} = {value!r}" for key, value in stated.items())
            raise InputError(f"step {name!r} cannot take these parameters: {listing}") from None
    return steps


def variables_of(steps: Iterable[Any]) -> list[str]:
    """The variables that steps name, so far as they must be dimensions of the codebook."""
    return [name for step in steps for name in step.variables]


def words_of(before: Steps) -> str:
    """What the steps do, in words for the public."""
    return "; ".join(contract(name).words for name, _ in before)
