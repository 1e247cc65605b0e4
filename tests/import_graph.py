"""Who imports whom in src: when a module is loaded, later inside a function, or for types only; by any spelling."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import discreet

HOME = Path(discreet.__file__).parent


def module_name(path: Path) -> str:
    """The dotted name of a file, a folder's for its ``__init__``."""
    parts = path.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(HOME.rglob("*.py"))}


def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything in a file that runs: what stands under TYPE_CHECKING does not."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING"):
        inside: list[ast.AST] = list(tree.orelse)
    else:
        yield tree
        inside = list(ast.iter_child_nodes(tree))
    for node in inside:
        yield from running(node)


def imported(node: ast.AST, module: str) -> set[str]:
    """What one statement or call imports of discreet: modules, or ``discreet.Name`` for a name of the package root."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        source = absolute(node, module)
        names = [f"{source}.{alias.name}" for alias in node.names]
    elif is_loading(node) and isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant):
        names = [str(node.args[0].value)]
    own = [name for name in names if name.split(".")[0] == "discreet"]
    return {name if name in MODULES or name.count(".") < 2 else name.rpartition(".")[0] for name in own}


def absolute(node: ast.ImportFrom, module: str) -> str:
    """The module that ``from ... import`` names, relative or not."""
    if not node.level:
        return node.module or ""
    package = module.split(".") if MODULES[module].name == "__init__.py" else module.split(".")[:-1]
    return ".".join([*package[: len(package) - node.level + 1], *(node.module or "").split(".")]).rstrip(".")


def is_loading(node: ast.AST) -> bool:
    """A call of ``importlib.import_module`` or ``__import__``."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__"))


@cache
def imports_of(module: str) -> frozenset[str]:
    """Everything a module imports of discreet, wherever in the file and whatever for."""
    return frozenset().union(*(imported(node, module) for node in ast.walk(tree_of(module)))) - {module}


def knots(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The largest sets of modules each of which leads to every other."""
    reach = {module: set(targets) for module, targets in graph.items()}
    for middle in graph:
        for module in graph:
            if middle in reach[module]:
                reach[module] |= reach[middle]
    return {frozenset(m for m in reach[module] if module in reach[m]) for module in graph if module in reach[module]}
