"""The house plan: which room may use which, no import leads back, and importing stays quick."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import discreet
from discreet import formats, methods
from discreet.rules import notation as rules
from tests.import_graph import HOME, MODULES, imports_of, is_loading, knots, running, tree_of
from tests.layers import LAYERS

PLACES = {
    room: {name: k for k, line in enumerate(lines.split("\n")) for name in line.split()}
    for room, lines in LAYERS.items()
}
# Tables of names that are loaded when they are asked for: the only places that import by a name put together.
REGISTRIES = {
    "discreet": {f"discreet.{home}" for home in discreet._HOME.values()},
    "discreet.formats": {f"discreet.formats.{known.module}" for known in formats.FORMATS},
    "discreet.methods": {home.partition(":")[0] for home in (methods.HOMES | methods.RECIPES).values()},
    "discreet.rules.base": {"discreet.rules." + home.partition(":")[0] for home in rules.HOMES.values()},
}
# Who imports a solver. Besides linear.highs: programs in whole numbers by SciPy, whose HiGHS settles which of several
# optimal points is taken (another would change published numbers), and functions that are not linear.
WHOLE_NUMBERS = {"Bounds", "LinearConstraint", "milp"}
SOLVERS = {
    "discreet.linear.highs": {"highspy"},
    "discreet.methods.perturb.controlled": WHOLE_NUMBERS,
    "discreet.methods.perturb.cta": WHOLE_NUMBERS,
    "discreet.methods.perturb.entropy": {"linprog", "minimize"},
    "discreet.methods.suppress.limits": {"highspy", "scipy.optimize"},  # only to have them in memory
    "discreet.methods.suppress.repair.coalitions": WHOLE_NUMBERS,
    "discreet.population.poisson_gamma": {"minimize_scalar"},
    "discreet.population.polya": {"brentq"},
}


def room_of(module: str, room: str) -> str | None:
    """The file or folder of a room that a module stands in; '__init__' for the room's own, None outside."""
    inside = ".".join(["discreet", *room.split("/")]).rstrip(".")
    if module != inside and not module.startswith(f"{inside}."):
        return None
    return module[len(inside) + 1 :].split(".")[0] or "__init__"


def steps_down(module: str) -> set[str]:
    """What a module imports from a lower line of the plan of any room it stands in."""
    found = set()
    for room, lines in PLACES.items():
        places = {"__init__": 1000} | lines
        own = room_of(module, room)
        for target in imports_of(module) if own else ():
            other = room_of(target, room)
            if own and other and places[other] > places[own]:
                found.add(target)
    return found


@pytest.mark.parametrize("room", LAYERS)
def test_every_file_has_its_place(room: str) -> None:
    """A new one needs a line in the plan, and one that has gone needs none."""
    files = {p.stem for p in (HOME / room).glob("*.py")} | {p.parent.name for p in (HOME / room).glob("*/__init__.py")}
    assert files - {"__init__"} == set(PLACES[room]) - {"__init__"}


@pytest.mark.parametrize("module", [m for m in MODULES if m != "discreet"])
def test_imports_only_go_up_the_plan(module: str) -> None:
    """Also those inside functions and for types only."""
    assert not steps_down(module)


@pytest.mark.parametrize("room", sorted(p.parent.name for p in HOME.glob("*/__init__.py")))
def test_no_circle_of_imports_inside_a_room(room: str) -> None:
    """No module leads back to itself: not when it is loaded, not inside functions, not for types."""
    inside = [m for m in MODULES if m.split(".")[1:2] == [room]]
    graph = {module: set(imports_of(module) & set(inside)) for module in inside}
    assert not knots(graph)


def test_nobody_inside_uses_the_front_door() -> None:
    """Names of the package root are for users: inside, each comes from the module it stands in."""
    assert not {m: names for m in MODULES if (names := imports_of(m) - set(MODULES) | imports_of(m) & {"discreet"})}


def test_names_put_together_are_those_of_the_registries() -> None:
    """What is loaded by a computed name is in a table, and each entry is of the table's own room or of one above."""
    loading = {
        module
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if is_loading(node) and isinstance(node, ast.Call) and not isinstance(node.args[0], ast.Constant)
    }
    assert loading == set(REGISTRIES)
    for module, targets in REGISTRIES.items():
        assert targets <= set(MODULES)
        if module != "discreet":
            places = {PLACES[""][str(room_of(m, ""))] for m in targets}
            assert max(places) <= PLACES[""][str(room_of(module, ""))]


def test_the_guard_sees_every_spelling() -> None:
    """Relative, lazy, for types, by importlib; and a circle of three."""
    from tests.import_graph import imported

    def seen(text: str, module: str = "discreet.audits.view") -> set[str]:
        return {name for node in ast.walk(ast.parse(text)) for name in imported(node, module)}

    assert seen("from . import known") == {"discreet.audits.known"}
    assert seen("from .known import Known") == {"discreet.audits.known"}
    assert seen("from ..tables.table import Table") == {"discreet.tables.table"}
    assert seen("from .view import view", "discreet.audits") == {"discreet.audits.view"}
    assert seen("def f():\n    import discreet.audits.known as k") == {"discreet.audits.known"}
    assert seen("import importlib\nimportlib.import_module('discreet.cli')") == {"discreet.cli"}
    assert seen("import discreet as dc") == {"discreet"}
    assert seen("from discreet import Table, errors") == {"discreet.Table", "discreet.errors"}
    assert seen("from .. import Table") == {"discreet.Table"}
    assert seen("import numpy\nfrom scipy.sparse import csr_array") == set()
    assert knots({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {frozenset("abc")}
    assert not [n for n in running(ast.parse("if TYPE_CHECKING:\n    import x")) if isinstance(n, ast.Import)]


def test_only_plot_imports_matplotlib() -> None:
    """Everything else works without a drawing library being loaded."""
    users = {
        module
        for module in MODULES
        for node in running(tree_of(module))
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "matplotlib" in ast.unparse(node)
    }
    assert {room_of(module, "") for module in users} == {"plot"}


def test_linear_programs_go_through_one_module() -> None:
    """Only ``linear.highs`` talks to HiGHS; who solves otherwise, and what by, is in a list that holds no one else."""
    users: dict[str, set[str]] = {}
    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.Import):
                names = {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = {f"{node.module}.{name.name}" for name in node.names}
            else:
                continue
            if solvers := {name for name in names if name.startswith(("highspy", "scipy.optimize"))}:
                users.setdefault(module, set()).update(name.removeprefix("scipy.optimize.") for name in solvers)
    assert users == SOLVERS


def test_importing_loads_nothing_heavy() -> None:
    """`import discreet` and `discreet --help` wait for no data frame, database or compiler."""
    heavy = ("pandas", "duckdb", "numba", "matplotlib", "scipy", "highspy", "pyarrow")
    code = f"import sys, discreet, discreet.cli; print([m for m in {heavy} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_every_public_name_is_there() -> None:
    """What __all__ promises can be had, and the rest is a plain AttributeError."""
    assert all(getattr(discreet, name) is not None for name in discreet.__all__)
    assert set(discreet.__all__) == set(discreet._HOME)
    with pytest.raises(AttributeError):
        discreet.nonsense  # noqa: B018
