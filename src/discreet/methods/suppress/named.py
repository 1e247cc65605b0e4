"""Suppression by a solver under a name of its own, for the command line and policies: all parameters in one place."""

from __future__ import annotations

import dataclasses
from typing import Any

from discreet.base.arguments import checked
from discreet.methods.suppress.exact.optimal import Optimal
from discreet.methods.suppress.hitas.hitas import Modular
from discreet.methods.suppress.method import Suppress


def _with_solver(name: str, solver: type[Any], what: str, parameters: tuple[str, ...]) -> type[Suppress]:
    """``Suppress`` with some parameters of a solver beside its own, with the solver's kinds and defaults."""

    def make_solver(self: Suppress) -> None:
        values = {parameter: getattr(self, parameter) for parameter in parameters}
        object.__setattr__(self, "method", solver(**values))
        Suppress.__post_init__(self)

    known = {f.name: f for f in dataclasses.fields(solver)}
    own = [(p, known[p].type, dataclasses.field(default=known[p].default, kw_only=True)) for p in parameters]
    named = dataclasses.make_dataclass(
        name,
        [("method", Any, dataclasses.field(default=None, init=False)), *own],
        bases=(Suppress,),
        namespace={"__post_init__": make_solver, "__module__": __name__},
        frozen=True,
        eq=False,
    )
    named.__doc__ = f"{what}: ``Suppress(method={solver.__name__}(...))``, of which {', '.join(parameters)} are given."
    return checked(named)


SuppressOptimal = _with_solver(
    "SuppressOptimal",
    Optimal,
    "Suppression with the cheapest secondary cells",
    ("weights", "time", "gap", "solver", "resume"),
)
SuppressModular = _with_solver(
    "SuppressModular",
    Modular,
    "Suppression sub-table by sub-table, for hierarchical tables",
    ("weights", "time", "exact"),
)
