"""Suppression by a solver under a name of its own, for the command line and policies: all parameters in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.methods.suppress.method import MODULAR, OPTIMAL, Suppress


@checked
@dataclass(frozen=True, eq=False)
class SuppressOptimal(Suppress):
    """Suppression with the cheapest secondary cells: ``Suppress(method=Optimal(...))``.

    ``weights``, ``time`` (seconds), ``gap``, ``solver`` and ``resume`` are those of ``Optimal``.
    """

    method: Any = field(default=OPTIMAL, init=False)
    weights: Any = field(default="value", kw_only=True)
    time: float = field(default=60.0, kw_only=True)
    gap: float = field(default=0.0, kw_only=True)
    solver: str = field(default="auto", kw_only=True)
    resume: str | Path | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        from discreet.methods.suppress.exact.optimal import Optimal

        made = Optimal(weights=self.weights, time=self.time, gap=self.gap, solver=self.solver, resume=self.resume)
        object.__setattr__(self, "method", made)
        super().__post_init__()


@checked
@dataclass(frozen=True, eq=False)
class SuppressModular(Suppress):
    """Suppression sub-table by sub-table, for hierarchical tables: ``Suppress(method=Modular(...))``.

    ``weights``, ``time`` (seconds) and ``exact`` are those of ``Modular``.
    """

    method: Any = field(default=MODULAR, init=False)
    weights: Any = field(default="value", kw_only=True)
    time: float = field(default=120.0, kw_only=True)
    exact: int = field(default=200, kw_only=True)

    def __post_init__(self) -> None:
        from discreet.methods.suppress.hitas.hitas import Modular

        object.__setattr__(self, "method", Modular(weights=self.weights, time=self.time, exact=self.exact))
        super().__post_init__()
