"""Ways to protect a table, by name. A method is a frozen value that turns a Table into a Protected.

The name is what the command line and a policy file say; the fields of the class are its parameters.
"""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.release import Method

HOMES = {
    "publish": "discreet.release:Publish",
    "round": "discreet.methods.perturb.rounding:Round",
    "random-round": "discreet.methods.perturb.rounding:RandomRound",
    "semi-controlled-round": "discreet.methods.perturb.rounding:SemiControlledRound",
    "controlled-round": "discreet.methods.perturb.controlled:ControlledRound",
    "small-count-round": "discreet.methods.perturb.small_counts:SmallCountRound",
    "cell-key": "discreet.methods.perturb.cell_key:CellKey",
    "cell-key-magnitude": "discreet.methods.perturb.cell_key:CellKeyMagnitude",
    "stochastic": "discreet.methods.perturb.stochastic:Stochastic",
    "barnard": "discreet.methods.perturb.barnard:Barnard",
    "same-margins": "discreet.methods.perturb.same_margins:SameMargins",
    "cta": "discreet.methods.perturb.cta:CTA",
    "redesign": "discreet.methods.redesign:Redesign",
    "suppress": "discreet.methods.suppress:Suppress",
    "optimal": "discreet.methods.suppress.named:SuppressOptimal",
    "modular": "discreet.methods.suppress.named:SuppressModular",
    "swap": "discreet.methods.records.swapping:Swap",
    "pram": "discreet.methods.records.pram:Pram",
    "global-recode": "discreet.methods.records.recode:GlobalRecode",
    "sample": "discreet.methods.records.recode:Sample",
}


def cellwise() -> list[str]:
    """The methods that look at one cell at a time (``cellwise``), so that a table can be protected part by part.

    >>> cellwise()
    ['publish', 'round', 'random-round', 'cell-key', 'barnard']
    """
    return [name for name in HOMES if getattr(method_class(name), "cellwise", False)]


def method_class(name: str) -> type[Any]:
    """The class of a method, loaded when it is first asked for."""
    if name not in HOMES:
        raise InputError(f"no method {name!r}; {nearest(name, HOMES)}")
    module, _, attribute = HOMES[name].partition(":")
    found: type[Any] = getattr(importlib.import_module(module), attribute)
    return found


@checked
def method(name: str, **parameters: Any) -> Method:
    """A method by name and parameters.

    >>> method("publish")
    Publish(measures=None)
    """
    kind = method_class(name)
    known = [f.name for f in dataclasses.fields(kind) if f.init]
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"method {name!r} has no parameter {parameter!r}; {nearest(parameter, known)}")
    for field in dataclasses.fields(kind):
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.init and needed and field.name not in parameters:
            raise InputError(f"method {name!r} needs the parameter {field.name!r}")
    made: Method = kind(**parameters)
    return made
