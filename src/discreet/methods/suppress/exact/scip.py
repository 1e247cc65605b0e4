"""Branch and cut in SCIP: its constraint handler asks for violated inequalities at fractional and whole patterns."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from discreet.base.annotations import Array
from discreet.errors import OutOfTimeError, Unjudged
from discreet.methods.suppress.exact.fixing import Improve, Stage
from discreet.methods.suppress.exact.inequalities import Cut, Inequality
from discreet.methods.suppress.exact.separation import violated
from discreet.methods.suppress.model.clock import Clock
from discreet.methods.suppress.model.tuning import WHOLE


def available() -> bool:
    """Whether PySCIPOpt is installed (the extra "optimal")."""
    from importlib.util import find_spec

    return find_spec("pyscipopt") is not None


def branch_by_scip(level: Stage, clock: Clock, gap: float, improve: Improve | None) -> int:
    """Search the tree until a better pattern than the best cannot exist, or the time is up; nodes looked at.

    Now and then the search for good patterns takes over for a while (``improve``): what it finds cuts the tree.
    """
    tree, exact = ScipTree(level), level.tuning.exact
    turn = exact.tree_turn
    seconds = clock.seconds if improve is None else max(exact.slice * clock.seconds, exact.slice_least)
    while True:
        tree.run(min(seconds, clock.left))
        if tree.ended or clock.left <= 0 or level.best.done(gap):
            return tree.nodes
        if improve is not None:
            improve(level, turn, min(max(exact.pause * seconds, exact.least_seconds), clock.left), tree.x)
        turn += 1
        seconds *= exact.longer


class ScipTree:
    """The master problem: cells with a choice, inequalities known so far, and more as they are needed."""

    def __init__(self, level: Stage) -> None:
        import pyscipopt

        self.level, self.problem, relaxation = level, level.problem, level.relaxation
        self.tuning = level.tuning
        self.separation = relaxation.separation
        self.names = set(relaxation.names)
        self.model = pyscipopt.Model()
        self.model.hideOutput()
        out, into = level.fixed()
        self.fixed = np.zeros(len(self.problem))
        self.fixed[into] = 1
        self.free = np.setdiff1d(relaxation.free, np.concatenate([out, into]))
        self.scale = relaxation.scale
        self.variable = {
            int(i): self.model.addVar(f"x{i}", vtype="B", obj=float(self.problem.weight[i] / self.scale))
            for i in self.free
        }
        self.offset = float(self.problem.weight[into].sum())
        for row in relaxation.rows:
            self.add(row)
        self._settings()
        self.model.includeConshdlr(
            _handler(self),
            "protected",
            "every need is met",
            enfopriority=-1,
            chckpriority=-1,
            sepafreq=1,
            propfreq=-1,
            eagerfreq=-1,
            needscons=False,
            sepapriority=1_000_000,
        )
        self.node = (-1, 0)
        self.x = relaxation.x
        self.pending: list[Cut] = []
        self.used, self.nodes, self.ended = 0.0, 0, False
        self.short = False  # whether a pattern was turned away without a proof, as the time was up: nothing is certain

    def _settings(self) -> None:
        import pyscipopt

        self.model.setHeuristics(pyscipopt.SCIP_PARAMSETTING.OFF)  # good patterns come from elsewhere
        for name, value in {
            "misc/allowstrongdualreds": False,  # it presolves before all constraints are there
            "misc/allowweakdualreds": False,
            "presolving/maxrestarts": 0,
            "randomization/randomseedshift": 1,
            "misc/catchctrlc": False,
            "nodeselection/bfs/stdpriority": 1_000_000,  # the bound is what the tree is for
        }.items():
            self.model.setParam(name, value)

    def add(self, row: Inequality) -> None:
        """An inequality, fixed cells put in."""
        import pyscipopt

        plane = row.plane
        pairs = list(zip(plane.cell.tolist(), plane.coefficient.tolist(), strict=True))
        right = plane.right - sum(c * self.fixed[i] for i, c in pairs if i not in self.variable)
        terms = [c * self.variable[i] for i, c in pairs if i in self.variable]
        if terms:  # removable, or the programs grow and grow
            self.model.addCons(pyscipopt.quicksum(terms) >= right, removable=True)
        elif right > 0:  # fixing left nothing that is cheaper than the best
            variable = next(iter(self.variable.values()), None)
            if variable is not None:
                self.model.addCons(variable >= 2)

    def pattern(self, solution: Any = None) -> Array:
        """The values of a solution (None: the present relaxation's) over all cells."""
        x = np.where(self.problem.hidden, 1.0, self.fixed)
        x[self.free] = [self.model.getSolVal(solution, self.variable[int(i)]) for i in self.free]
        return np.clip(x, 0, 1)

    def safe(self, solution: Any = None) -> bool:
        """Whether a whole pattern protects; if so and it is cheaper, it is noted."""
        x = self.pattern(solution)
        cuts = self._violated(x, most=self.tuning.exact.scip_checked)
        if cuts or not self.separation.complete or self.short:
            self.pending += cuts  # a constraint may not be added while a pattern is only checked
            return False
        if (np.abs(x - np.rint(x)) < WHOLE).all():
            self.level.improve(np.rint(x).astype(bool))
        return True

    def cut_off(self) -> int:
        """Inequalities that the present pattern violates, put in; how many were new."""
        x = self.pattern()
        fresh, self.pending = [*self.pending, *self._violated(x)], []
        fresh = list({c.name: c for c in fresh if c.name not in self.names}.values())
        for cut in fresh:
            self.names.add(cut.name)
            self.add(cut)
        self.x = x
        if not self.short:
            self.level.prove(self.bound())
        return len(fresh)

    def _violated(self, x: Array, most: float = np.inf) -> list[Cut]:
        """Inequalities that a pattern violates; when the time is up or one is not settled none, and SCIP stops."""
        try:
            cuts = violated(self.separation, x, most=most)
        except (OutOfTimeError, Unjudged):
            cuts = []
            self.short = True
        if not self.separation.complete and not cuts:
            self.short = True
        if self.short:
            self.model.interruptSolve()
        return cuts

    def bound(self) -> float:
        """What the tree has proved so far, costs as in the problem; nothing beyond the best pattern's cost."""
        proved = float(self.model.getDualbound())
        return proved * self.scale + self.offset if np.isfinite(proved) and abs(proved) < 1e19 else 0.0

    def run(self, seconds: float) -> None:
        """Search for some time more, or until nothing cheaper is left."""
        if not self.variable:
            self.ended = True
            self.level.best.prove(self.level.best.cost)
            return
        self.model.setObjlimit((self.level.target + 1e-6 * self.scale - self.offset) / self.scale)
        self.used += seconds
        self.separation.until = time.monotonic() + seconds
        self.model.setParam("limits/time", max(self.used, 0.1))
        self.model.optimize()
        self.nodes = int(self.model.getNTotalNodes())
        self.ended = self.short or self.model.getStatus() in ("optimal", "infeasible", "inforunbd")
        if self.ended and not self.short:
            self.level.best.prove(self.level.best.cost)
        elif not self.short:
            self.level.prove(self.bound())


def _handler(tree: ScipTree) -> Any:
    import pyscipopt
    from pyscipopt import SCIP_RESULT

    def answer(safe: bool, otherwise: Any) -> dict[str, Any]:
        return {"result": SCIP_RESULT.FEASIBLE if safe else otherwise}

    class Protected(pyscipopt.Conshdlr):  # type: ignore[misc]
        def conscheck(self, constraints: Any, solution: Any, *rest: Any) -> dict[str, Any]:
            return answer(tree.safe(solution), SCIP_RESULT.INFEASIBLE)

        def consenfolp(self, constraints: Any, *rest: Any) -> dict[str, Any]:
            if tree.cut_off():
                return {"result": SCIP_RESULT.CONSADDED}
            return answer(tree.safe(), SCIP_RESULT.INFEASIBLE)

        def consenfops(self, constraints: Any, *rest: Any) -> dict[str, Any]:
            return answer(tree.safe(), SCIP_RESULT.INFEASIBLE)

        def conssepalp(self, constraints: Any, *rest: Any) -> dict[str, Any]:
            number, rounds = tree.node
            here = tree.model.getNNodes()
            tree.node = (here, rounds + 1 if here == number else 1)
            if tree.model.getDepth() > tree.tuning.exact.scip_deep or tree.node[1] > tree.tuning.exact.scip_rounds:
                return {"result": SCIP_RESULT.DIDNOTRUN}
            return {"result": SCIP_RESULT.CONSADDED if tree.cut_off() else SCIP_RESULT.DIDNOTFIND}

        def conslock(self, constraint: Any, kind: Any, positive: int, negative: int) -> None:
            for variable in tree.variable.values():  # a cell hidden more never does harm
                tree.model.addVarLocks(variable, positive, negative)

    return Protected()
