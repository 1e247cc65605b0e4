"""Ways to protect a table, by name. A method is a frozen value that turns a Table into a Protected.

The name is what the command line and a policy file say; the fields of the class are its parameters. What a method says
of itself is its contract (``discreet.methods.contract``); one of your own gets a name with ``register``.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from typing import Any

from discreet.base.arguments import checked
from discreet.errors import InputError, nearest
from discreet.methods.contract import Contract, Method, check_class, contract_of, parameters_of, title

HOMES = {
    "publish": "discreet.methods.by_hand:Publish",
    "round": "discreet.methods.perturb.rounding:Round",
    "random-round": "discreet.methods.perturb.rounding:RandomRound",
    "semi-controlled-round": "discreet.methods.perturb.rounding:SemiControlledRound",
    "controlled-round": "discreet.methods.perturb.controlled:ControlledRound",
    "small-count-round": "discreet.methods.perturb.small_counts:SmallCountRound",
    "cell-key": "discreet.methods.perturb.cell_key:CellKey",
    "cell-key-magnitude": "discreet.methods.perturb.cell_key_magnitude:CellKeyMagnitude",
    "stochastic": "discreet.methods.perturb.stochastic:Stochastic",
    "barnard": "discreet.methods.perturb.barnard:Barnard",
    "synthetic": "discreet.methods.synthetic.synthetic:Synthetic",
    "discrete-gaussian": "discreet.methods.synthetic.privacy_budget:DiscreteGaussian",
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

RECIPES = {
    "opensafely": "discreet.methods.recipes.offices:OpenSAFELY",
    "midpoint6": "discreet.methods.recipes.midpoint:MidpointRound",
    "nhs": "discreet.methods.recipes.offices:NHS",
    "cms-11": "discreet.methods.recipes.offices:CMS11",
    "ons-cell-key": "discreet.methods.recipes.offices:ONSCellKey",
    "statcan-base5": "discreet.methods.recipes.offices:StatCanBase5",
    "redact": "discreet.methods.recipes.redact:Redact",
    "chain": "discreet.methods.recipes.chain:Chain",
}
"""Methods in a row under the name that offices know them by, and the pieces of which one's own is made."""


_registered: dict[str, type[Any]] = {}  # methods of the user, by name


def method_names() -> list[str]:
    """The names of all methods, those of the user last."""
    return [*HOMES, *RECIPES, *_registered]


def recipe_names() -> list[str]:
    """The names of the recipes that offices publish.

    >>> recipe_names()
    ['opensafely', 'midpoint6', 'nhs', 'cms-11', 'ons-cell-key', 'statcan-base5']
    """
    return [name for name in RECIPES if name not in ("redact", "chain")]


def cellwise() -> list[str]:
    """The methods that look at one cell at a time (``cellwise``), so that a table can be protected part by part.

    >>> cellwise()
    ['publish', 'round', 'random-round', 'cell-key', 'barnard', 'midpoint6', 'redact']
    """
    return [name for name in method_names() if contract(name).cellwise]


def method_class(name: str) -> type[Any]:
    """The class of a method, loaded when it is first asked for."""
    if name in _registered:
        return _registered[name]
    if name not in HOMES and name not in RECIPES:
        raise InputError(f"no method {name!r}; {nearest(name, method_names())} (all: discreet protect --method list)")
    module, _, attribute = {**HOMES, **RECIPES}[name].partition(":")
    kind: type[Any] = getattr(importlib.import_module(module), attribute)
    return kind


def contract(name: str) -> Contract:
    """What the method of a name says of itself.

    >>> contract("round").truthful, contract("swap").acts_on
    (False, 'records')
    """
    return contract_of(method_class(name))


def parameters(name: str) -> list[str]:
    """The parameters of the method of a name.

    >>> parameters("round")
    ['base']
    """
    return parameters_of(method_class(name))


def acts_on_records(name: str) -> bool:
    """Whether the method of a name changes records before they are counted."""
    return contract(name).acts_on == "records"


def registered_name(method: object) -> str:
    """The name under which the class of a method is known; that of the class if it has none.

    >>> registered_name(method("round"))
    'round'
    """
    kind = type(method)
    known = [name for name, home in (HOMES | RECIPES).items() if home.endswith(f":{kind.__name__}")] + list(_registered)
    return next((name for name in known if method_class(name) is kind), title(method))


@checked
def register(name: str, kind: Any) -> None:
    """Give a method of your own a name, so that ``grid`` and policies can ask for it; its contract is looked at.

    ``kind`` is a frozen dataclass whose fields are its parameters. The name holds for this process and this class.

    >>> from dataclasses import dataclass
    >>> import discreet as dc
    >>> @dataclass(frozen=True)
    ... class ToTen:
    ...     contract = dc.Contract(acts_on="table", truthful=False, cellwise=True, transition=False)
    ...     def __call__(self, table):
    ...         return dc.Round(10)(table)
    >>> register("to-ten", ToTen)
    >>> [*dc.grid("to-ten")]
    ['to-ten']
    >>> _ = _registered.pop("to-ten")  # here only: other examples of this process need not know it
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InputError(f"{name!r}: the name of a method is small letters, digits and hyphens, such as 'my-method'")
    check_class(kind)
    other = HOMES.get(name) or RECIPES.get(name)
    if other is None and name in _registered and not _same_class(_registered[name], kind):
        other = title(_registered[name])
    if other is not None:
        raise InputError(f"there is a method {name!r} already ({other}); give yours another name")
    _registered[name] = kind


def _same_class(one: type[Any], other: type[Any]) -> bool:
    """Whether a class is the other, or the same text run again, as in a notebook."""

    def content(kind: type[Any]) -> tuple[object, ...]:
        code = {name: item.__code__ for name, item in vars(kind).items() if hasattr(item, "__code__")}
        fields = [(f.name, f.default) for f in dataclasses.fields(kind)]
        return kind.__module__, kind.__qualname__, kind.__bases__, contract_of(kind), code, fields

    return one is other or content(one) == content(other)


@checked
def method(name: str, **parameters: Any) -> Method:
    """A method by name and parameters.

    >>> method("publish")
    Publish(measures=None)
    """
    kind = method_class(name)
    known = parameters_of(kind)
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"method {name!r} has no parameter {parameter!r}; {nearest(parameter, known)}")
    for field in dataclasses.fields(kind):
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.init and needed and field.name not in parameters:
            raise InputError(f"method {name!r} needs the parameter {field.name!r}")
    built: Method = kind(**parameters)
    return built
