"""What a rule is, how rules are combined, printed, written to TOML and read from a line of text."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.base.annotations import Array
from discreet.base.arguments import checked
from discreet.base.kinds import is_function
from discreet.base.naming import beside
from discreet.errors import InputError, nearest
from discreet.rules.notation import HOMES, plain_value, toml_key, toml_value
from discreet.tables.table import Table, code_columns

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csc_array


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of inner cells, one a column, that must stay unknown although no cell shows them.

    Each must be able to lie at least ``above`` over its true value; ``k`` is how many people an intruder knows of.
    """

    matrix: csc_array
    above: Array
    k: int = 0


class Rule:
    """Which cells of a table are sensitive: a frozen value, called with a Table.

    ``a | b`` is sensitive where either is, ``a & b`` where both; a function from Table to a truth array is a rule, too.

    >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    >>> (parse("threshold(n=3)") & (lambda table: table.is_inner))(table).tolist()
    [False, False, False, False, False, False, False, True, True]
    """

    name: ClassVar[str] = ""

    def __call__(self, table: Table) -> Array:
        """One truth value per published cell."""
        raise NotImplementedError

    def evidence(self, table: Table) -> dict[str, Array]:
        """The numbers that the judgement rests on, one column each over all cells (confidential).

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> parse("threshold(n=3)").evidence(table)["count"].tolist()
        [6, 4, 2, 3, 3, 0, 3, 1, 2]
        """
        return {}

    def levels(self, table: Table) -> tuple[Array, Array]:
        """How far below and above its value an intruder's estimate of each cell must be able to lie.

        0 asks only that a cell is not known exactly.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> below, above = parse("threshold(n=3, level=50)").levels(table)
        >>> above.tolist()
        [3.0, 2.0, 1.0, 1.5, 1.5, 0.0, 1.5, 0.5, 1.0]
        """
        nothing = np.zeros(len(table))
        return nothing, nothing

    def sliding_level(self, table: Table) -> Array:
        """How long the interval of each cell must be, wherever it lies around the value.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> parse("threshold(n=3, sliding=100)").sliding_level(table).tolist()
        [6.0, 4.0, 2.0, 3.0, 3.0, 0.0, 3.0, 1.0, 2.0]
        """
        return np.zeros(len(table))

    def virtual(self, table: Table) -> Sums | None:
        """Sums that must not be known although no published cell shows them.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> parse("k-disclosure(k=1)").virtual(table).matrix.shape
        (4, 2)
        """
        return None

    def why(self, table: Table) -> pd.DataFrame:
        """The sensitive cells, the rule, and the numbers that made them so (confidential).

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> parse("threshold(n=3)").why(table)
            area sex            rule  count
        2  Total   2  Threshold(n=3)      2
        7      2   1  Threshold(n=3)      1
        8      2   2  Threshold(n=3)      2
        """
        import pandas as pd

        at = np.flatnonzero(self(table))
        frame = pd.DataFrame(code_columns(table.layout)).iloc[at]
        numbers_of = {name: numbers[at] for name, numbers in self.evidence(table).items()}
        return beside(frame, {"rule": str(self), **numbers_of})

    def __or__(self, other: Any) -> AnyOf:
        return AnyOf((*_parts(self, AnyOf), *_parts(as_rule(other), AnyOf)))

    def __ror__(self, other: Any) -> AnyOf:
        return as_rule(other) | self

    def __and__(self, other: Any) -> AllOf:
        return AllOf((*_parts(self, AllOf), *_parts(as_rule(other), AllOf)))

    def __rand__(self, other: Any) -> AllOf:
        return as_rule(other) & self

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values: its name and the parameters that differ from their defaults.

        >>> parse("threshold(n=3)").to_dict()
        {'rule': 'threshold', 'n': 3}
        """
        if not self.name:
            raise InputError(f"{self} holds data or a function and cannot be written down; write its parts")
        out: dict[str, Any] = {"rule": self.name}
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if value != f.default:
                out[f.name] = plain_value(value)
        return out

    def to_toml(self) -> str:
        """The rule as TOML; ``from_toml`` reads it back.

        >>> print(parse("dominance(n=1, k=80)").to_toml(), end="")
        rule = "dominance"
        n = 1
        k = 80
        """
        return "".join(f"{toml_key(k)} = {toml_value(v)}\n" for k, v in self.to_dict().items())


@dataclass(frozen=True)
class _Combined(Rule):
    """Several rules as one, which asks for as much as any of those that hold."""

    rules: tuple[Rule, ...]

    def levels(self, table: Table) -> tuple[Array, Array]:
        """The widest that a rule which holds asks for.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> below, above = parse("threshold(n=2, level=10) | threshold(n=3, level=50)").levels(table)
        >>> above.tolist()
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0]
        """
        low, high = np.zeros(len(table)), np.zeros(len(table))
        for rule in self.rules:
            at = rule(table)
            below, above = rule.levels(table)
            low, high = np.maximum(low, np.where(at, below, 0)), np.maximum(high, np.where(at, above, 0))
        return low, high

    def sliding_level(self, table: Table) -> Array:
        """The longest that a rule which holds asks for.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> parse("threshold(n=2, sliding=300) | threshold(n=3, sliding=50)").sliding_level(table).tolist()
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0, 1.0]
        """
        return np.asarray(np.max([np.where(r(table), r.sliding_level(table), 0) for r in self.rules], axis=0))

    def __repr__(self) -> str:
        return str(self)


@checked
@dataclass(frozen=True, repr=False)
class AnyOf(_Combined):
    """Sensitive where one of the rules says so.

    >>> AnyOf((parse("threshold(n=3)"), parse("dominance(n=1, k=80)")))
    Threshold(n=3) | Dominance(n=1, k=80)
    """

    rules: tuple[Rule, ...]

    def __call__(self, table: Table) -> Array:
        return np.asarray(np.logical_or.reduce([r(table) for r in self.rules]))

    def virtual(self, table: Table) -> Sums | None:
        """The sums that any of the rules keeps unknown.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> parse("threshold(n=3) | k-disclosure(k=1)").virtual(table).matrix.shape
        (4, 2)
        """
        from scipy.sparse import csc_array, hstack

        sums = [v for r in self.rules if (v := r.virtual(table)) is not None]
        if not sums:
            return None
        above = np.concatenate([v.above for v in sums])
        return Sums(csc_array(hstack([v.matrix for v in sums])), above, max(v.k for v in sums))

    def why(self, table: Table) -> pd.DataFrame:
        """One row per cell and rule that holds.

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> parse("threshold(n=2) | threshold(n=3)").why(table)["rule"].tolist()
        ['Threshold(n=2)', 'Threshold(n=3)', 'Threshold(n=3)', 'Threshold(n=3)']
        """
        import pandas as pd

        return pd.concat([r.why(table) for r in self.rules], ignore_index=False)

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain values, as ``from_dict`` reads them.

        >>> parse("threshold(n=3) | dominance(n=1, k=80)").to_dict()
        {'any': [{'rule': 'threshold', 'n': 3}, {'rule': 'dominance', 'n': 1, 'k': 80}]}
        """
        return {"any": [r.to_dict() for r in self.rules]}

    def __str__(self) -> str:
        return " | ".join(f"({r})" if isinstance(r, AllOf) else str(r) for r in self.rules)


@checked
@dataclass(frozen=True, repr=False)
class AllOf(_Combined):
    """Sensitive where all the rules say so.

    >>> AllOf((parse("threshold(n=5)"), parse("request(cells=[{'area': '2'}])")))
    Threshold(n=5) & Request(1 cells)
    """

    rules: tuple[Rule, ...]

    def __call__(self, table: Table) -> Array:
        return np.asarray(np.logical_and.reduce([r(table) for r in self.rules]))

    def evidence(self, table: Table) -> dict[str, Array]:
        """The numbers of all its rules, one column each over all cells (confidential).

        >>> table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
        >>> list(parse("threshold(n=5) & request(cells=[{'area': '2'}])").evidence(table))
        ['count']
        """
        return {name: numbers for r in self.rules for name, numbers in r.evidence(table).items()}

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain values, as ``from_dict`` reads them.

        >>> parse("threshold(n=3) & dominance(n=1, k=80)").to_dict()
        {'all': [{'rule': 'threshold', 'n': 3}, {'rule': 'dominance', 'n': 1, 'k': 80}]}
        """
        return {"all": [r.to_dict() for r in self.rules]}

    def __str__(self) -> str:
        return " & ".join(f"({r})" if isinstance(r, AnyOf) else str(r) for r in self.rules)


@checked
@dataclass(frozen=True)
class Custom(Rule):
    """A user's function from Table to a truth array."""

    function: Callable[[Table], Any]

    def __call__(self, table: Table) -> Array:
        sensitive = np.asarray(self.function(table))
        if sensitive.shape != (len(table),) or sensitive.dtype != bool:
            raise InputError(
                f"{self}: a rule returns a truth array with one entry for each of the {len(table):,} cells; "
                f"given: {sensitive.dtype} of shape {sensitive.shape}"
            )
        return sensitive

    def __str__(self) -> str:
        return str(getattr(self.function, "__name__", "function"))


def _parts(rule: Rule, kind: type[AnyOf] | type[AllOf]) -> tuple[Rule, ...]:
    return rule.rules if isinstance(rule, kind) else (rule,)


@checked
def as_rule(rule: Any) -> Rule:
    """A rule, a function, a truth mask, or the text or plain values that describe a rule.

    >>> as_rule("threshold(n=3) | dominance(n=1, k=75)")
    Threshold(n=3) | Dominance(n=1, k=75)
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str):
        return parse(rule)
    if isinstance(rule, Mapping):
        return from_dict(rule)
    if isinstance(rule, (np.ndarray, list)):
        return make("request", {"cells": rule})
    if is_function(rule):
        return Custom(rule)
    raise InputError(f"a rule is a Rule, a function from Table to truth values, or text; not {type(rule).__name__}")


def rule_class(name: str) -> type[Rule]:
    """The class of a rule by its name in text; spelling of case, hyphens and underscores is free."""
    plain = name.lower().replace("_", "").replace("-", "").removesuffix("rule")
    known = {k.replace("-", ""): k for k in HOMES}.get(plain)
    if known is None:
        raise InputError(f"no rule {name!r}; {nearest(name, HOMES)}")
    module, _, attribute = HOMES[known].partition(":")
    kind: type[Rule] = getattr(importlib.import_module(f"discreet.rules.{module}"), attribute)
    return kind


def make(name: str, parameters: Mapping[str, Any]) -> Rule:
    """A rule by name; an unknown parameter is an error."""
    kind = rule_class(name)
    fields: tuple[Any, ...] = dataclasses.fields(kind)  # type: ignore[arg-type]
    for parameter in parameters:
        if parameter not in {f.name for f in fields}:
            raise InputError(
                f"rule {name!r} has no parameter {parameter!r}; {nearest(parameter, [f.name for f in fields])}"
            )
    for f in fields:
        if f.default is dataclasses.MISSING and f.name not in parameters:
            raise InputError(f"rule {name!r} needs the parameter {f.name!r}")
    return kind(**parameters)


@checked
def from_dict(entry: Mapping[str, Any]) -> Rule:
    """The rule that ``to_dict`` wrote.

    >>> from_dict({"any": [{"rule": "threshold", "n": 3}, {"rule": "pq", "p": 10, "q": 50}]})
    Threshold(n=3) | PQ(p=10, q=50)
    """
    keys = set(entry)
    for word, kind in (("any", AnyOf), ("all", AllOf)):
        if keys == {word}:
            return kind(tuple(from_dict(g) for g in entry[word]))
    if "rule" not in keys:
        raise InputError('a rule is {rule = "...", parameters...}, {any = [rules]} or {all = [rules]}')
    return make(str(entry["rule"]), {k: v for k, v in entry.items() if k != "rule"})


@checked
def from_toml(text: str) -> Rule:
    """The rule that ``to_toml`` wrote."""
    try:
        return from_dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}") from None


_NAMES = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|[A-Za-z][\w-]*(?=\s*\()""")  # quoted text, or names


@checked
def parse(text: str) -> Rule:
    """A rule from one line of text: names with parameters, joined by ``|`` and ``&``, grouped by parentheses.

    Names may be written with hyphens, as the documentation has them.

    >>> parse("(few_contributors(n=3) | p_percent(p=10)) & threshold(n=20)")
    (FewContributors(n=3) | PPercent(p=10)) & Threshold(n=20)
    >>> parse("p-percent(p=10)")
    PPercent(p=10)
    """
    plain = _NAMES.sub(lambda match: match[1] or match[0].replace("-", "_"), text.strip())
    try:
        tree = ast.parse(plain, mode="eval").body
    except SyntaxError:
        raise InputError(f"cannot read the rule {text!r}; write e.g. threshold(n=3) | dominance(n=1, k=75)") from None
    return _read(tree, text)


def _read(node: ast.expr, text: str) -> Rule:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd)):
        left, right = _read(node.left, text), _read(node.right, text)
        return left | right if isinstance(node.op, ast.BitOr) else left & right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        try:
            parameters = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
        except ValueError:
            raise InputError(f"cannot read a parameter in the rule {text!r}") from None
        return make(node.func.id, parameters)
    raise InputError(f"cannot read the rule {text!r}; write e.g. threshold(n=3) | dominance(n=1, k=75)")
