"""Steps before counting, as a policy names them: which there are, whether they fit, the methods that they are.

Records are swapped or redrawn, or the cube of all combinations is perturbed; ``pretabular`` does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.errors import InputError, listed, nearest
from discreet.methods import method, method_class
from discreet.methods.effect import check_effect

Steps = Sequence[tuple[str, Mapping[str, Any]]]  # names with their parameters, as in a policy

RECORDS = ("swap", "pram")
CUBE = ("stochastic",)
STEPS = (*RECORDS, *CUBE)


def check_step(name: str, parameters: Iterable[str]) -> None:
    """Raise if a step is none or has unknown parameters."""
    if name not in STEPS:
        raise InputError(f"{name!r} is no step before counting; {nearest(name, STEPS)}")
    known = [f for f in method_class(name).__dataclass_fields__ if f not in ("secret", "words")]
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"step {name!r} has no parameter {parameter!r}; {nearest(parameter, known)}")


def check_steps(before: Steps, secret: bytes | None) -> None:
    """Raise if a step is none, has unknown parameters, changes nothing, or comes in the wrong order."""
    names = [name for name, _ in before]
    for name, parameters in before:
        check_step(name, parameters)
    if len(set(names)) > 1 or (len(names) > 1 and names[0] != "pram"):
        raise InputError(
            f"what several steps cost together cannot be told ({listed(names)}): give one, or PRAM of several variables"
        )
    for step in build_steps(before, secret):
        check_effect(step)


def build_steps(before: Steps, secret: bytes | None) -> list[Any]:
    """The steps as methods, with the policy's secret where they take it."""
    steps = []
    for name, parameters in before:
        keyed = "secret" in method_class(name).__dataclass_fields__ and "seed" not in parameters
        try:
            steps.append(method(name, **parameters, **({"secret": secret} if keyed else {})))
        except InputError:
            raise
        except (TypeError, ValueError):
            listing = ", ".join(f"{key} = {value!r}" for key, value in parameters.items())
            raise InputError(f"step {name!r} cannot take these parameters: {listing}") from None
    return steps


def variables_of(steps: Iterable[Any]) -> list[str]:
    """The variables that steps name, so far as they must be dimensions of the codebook."""
    names: list[str] = []
    for step in steps:
        for role in ("geography", "variable", "control", "risk"):
            value = getattr(step, role, ())
            names += [value] if isinstance(value, str) else list(value)
    return names


def words_of(before: Steps) -> str:
    """What the steps do, in words for the public."""
    words = {name: str(getattr(method_class(name), "words", "")) for name in RECORDS}
    words |= dict.fromkeys(CUBE, "counts of all combinations perturbed at random")
    return "; ".join(words[name] for name, _ in before)
