"""Policy: what is allowed. A TOML file with a schema; an unknown key is an error that names the nearest known one."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, reduce
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.base.arguments import checked
from discreet.base.files import is_file, read_private
from discreet.base.texts import read_text
from discreet.base.toml import load, place
from discreet.data.dimension import Dimension
from discreet.engines.protocol import SECRET_BYTES
from discreet.errors import InputError, listed, nearest
from discreet.methods import contract, method, parameters
from discreet.methods.contract import SECRETS, UNKEYED, Method
from discreet.policy.measures import read_loss
from discreet.policy.protection import AS_IT_IS, PUBLISH, check_protection
from discreet.policy.sections import (
    AreaRules,
    CatalogueRules,
    EditionRules,
    GuardRules,
    QueryRules,
    TableRules,
    Thresholds,
)
from discreet.policy.served_measures import ServedMeasure, read_served
from discreet.policy.steps import build_steps, check_step, check_steps, variables_of
from discreet.rules import Rule, from_dict

if TYPE_CHECKING:
    from discreet.methods.perturb.cell_key_magnitude import CellKeyMagnitude

TOLD = ("band", "expected", "none")
LONG_SEED = 2**64
"""Below it a seed is found by trying all of them."""


@checked
@dataclass(frozen=True, kw_only=True)
class Policy:
    """Rules for queries and tables, thresholds, sensitive-cell rules, and methods in order of preference.

    A policy protects, or it is none: without a method that changes or hides something it is an error, unless
    ``publish="as it is"`` asks by that name for the true numbers. Then every answer, record line and page says so.
    ``before`` are steps done once to the records or their cube, before anything is counted; they protect too.
    ``measures`` are served beside counts; what it does not name is not.

    >>> Policy(query=QueryRules(max_dimensions=2), methods=(("round", {"base": 5}),)).methods
    (('round', {'base': 5}),)
    """

    title: str = ""
    notes: tuple[str, ...] = ()
    query: QueryRules = field(default_factory=QueryRules)
    table: TableRules = field(default_factory=TableRules)
    areas: AreaRules = field(default_factory=AreaRules)
    risk: Thresholds = field(default_factory=Thresholds)
    guard: GuardRules = field(default_factory=GuardRules)
    edition: EditionRules = field(default_factory=EditionRules)
    catalogue: CatalogueRules = field(default_factory=CatalogueRules)
    rules: tuple[Rule, ...] = ()
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    methods: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    measures: Mapping[str, ServedMeasure] = field(default_factory=dict, hash=False)
    publish: str = ""
    search: bool = False
    utility: str = "band"
    loss: str = "hellinger"
    secret: bytes | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.publish not in ("", AS_IT_IS):
            raise InputError(f"publish = {self.publish!r}: the only thing it can say is {AS_IT_IS!r}")
        if self.before and not self.publish:
            object.__setattr__(self, "methods", () if self.methods == PUBLISH else self.methods)
            check_steps(self.before, self.secret)
            _check_with_steps(self.risk, self.methods)
        if (self.publish or self.before) and self.methods in ((), PUBLISH):
            object.__setattr__(self, "methods", PUBLISH)
        for name, stated in self.methods:
            _check_method(name, stated)
        if self.utility not in TOLD:
            raise InputError(f"'utility' must be one of {listed(TOLD)}")
        object.__setattr__(self, "loss", read_loss(self.loss))
        if (widest := max(map(len, self.catalogue.tables), default=0)) > self.query.max_dimensions:
            raise InputError(
                f"a table of the catalogue has {widest} variables and max_dimensions is {self.query.max_dimensions}: "
                "nobody could ask for it; raise max_dimensions or declare a smaller table"
            )
        _check_measures(self.measures, self.before, self.methods)
        check_protection(self.methods, self.make, before=bool(self.before), publish=self.publish, rules=self.rules)

    @property
    def steps(self) -> list[Any]:
        """The steps before counting as methods, with the secret where they take it."""
        return build_steps(self.before, self.secret)

    @property
    def draws_population(self) -> bool:
        """Whether a step draws a population, so that what is served holds no true count."""
        return any(contract(name).step == "population" for name, _ in self.before)

    @property
    def min_changes(self) -> int:
        """The fewest changed records of a new edition."""
        return self.edition.least(self.table.min_population)

    @property
    def openly(self) -> str:
        """What the policy publishes as it is, in words for whoever starts, reads or records it; empty if nothing."""
        if self.publish:
            return "nothing is protected: this policy publishes every table as it is"
        if any(self.risk.limits("t1").values()):
            limit = ", ".join(f"{limit:g}" for limit in self.risk.limits("t1").values())
            return f"tables of an expected risk below {limit} (T1) are published as they are"
        return ""

    @property
    def unkeyed(self) -> str:
        """That suppression has no key, in words for whoever starts the policy; empty if it has one or there is none."""
        public = [name for name, _ in self.methods if contract(name).rule and "key" in parameters(name)]
        return "" if self.secret is not None or not public else f"{public[0]}: {UNKEYED}"

    @property
    def seeded(self) -> str:
        """That a seed can be tried out, in words for whoever starts the policy; empty if there is none or a long one.

        >>> Policy(methods=(("random-round", {"seed": 1}),)).seeded.partition(":")[0]
        "the seed of 'random-round' can be tried out"
        >>> Policy(methods=(("random-round", {"seed": 2**64}),)).seeded
        ''
        """
        noises = [(name, served.noise or {}) for name, served in self.measures.items()]
        for name, stated in (*self.before, *self.methods, *noises):
            if stated.get("seed", LONG_SEED) < LONG_SEED:
                return (
                    f"the seed of {name!r} can be tried out: answers that add up under one of some thousand million "
                    "seeds tell it, and then every true number; name a secret, or draw a seed of 20 digits or more and "
                    "keep the policy to yourself"
                )
        return ""

    def make(self, number: int, names: Sequence[str] | None = None) -> Method:
        """A method of the policy, with the secret and the sensitive-cell rules where it takes them.

        ``names`` are the variables of the table that it is made for: of those whose totals a method keeps
        (``control``), it keeps the ones that the table has.

        >>> Policy(methods=(("round", {"base": 5}),)).make(0)
        Round(base=5)
        """
        name, stated = self.methods[number]
        arguments = dict(stated)
        if names is not None and "control" in arguments:
            arguments["control"] = tuple(one for one in kept_totals(stated) if one in names)
        if self.secret is not None:
            arguments |= {parameter: self.secret for parameter in SECRETS if parameter in parameters(name)}
        if contract(name).rule:
            if not self.rules:
                raise InputError(f"method {name!r} needs a rule that says which cells are sensitive ([[rule]])")
            arguments["rule"] = reduce(operator.or_, self.rules)
        try:
            return method(name, **arguments)
        except InputError:
            raise
        except (TypeError, ValueError):
            listing = ", ".join(f"{key} = {value!r}" for key, value in stated.items())
            raise InputError(f"method {name!r} cannot take these parameters: {listing}") from None

    def measure_noise(self, name: str) -> CellKeyMagnitude:
        r"""What protects the sums of a measure, as one of all that have noise of their own.

        >>> names = ("hours", "days", "weeks", "years")
        >>> served = "".join(f"[measures.{name}]\nnoise = {{ flex = 40 }}\n" for name in names)
        >>> parse_policy('[[method]]\nname = "cell-key"\n' + served).measure_noise("hours").people
        6.0
        """
        noisy = sum(served.noise is not None for served in self.measures.values())
        return self.measures[name].make_noise(self.secret, noisy)

    @property
    def digest(self) -> str:
        """SHA-256 of everything in the policy but the secret."""
        content = {k: v for k, v in asdict(self).items() if k not in ("secret", "rules", "measures", "areas")}
        content |= {"areas": repr(self.areas)} if self.areas.variable else {}
        content |= {"measures": repr(dict(self.measures))} if self.measures else {}
        content["rules"] = [repr(rule) for rule in self.rules]
        content["edition"] = {"min_changes": self.edition.min_changes}  # whose records they are changes no answer
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    def check(self, dimensions: Sequence[Dimension]) -> None:
        """Whether the policy speaks of variables that exist.

        >>> from discreet import Dimension
        >>> policy = Policy(query=QueryRules(disallowed=("incmoe",)), methods=(("round", {"base": 5}),))
        >>> policy.check([Dimension.flat("income", ["low", "high"])])
        Traceback (most recent call last):
        ...
        discreet.errors.InputError: the policy names an unknown variable 'incmoe'; did you mean 'income'?
        """
        known = [d.name for d in dimensions]
        named = [*self.query.disallowed, *(n for c in self.query.forbidden for n in c)]
        named += [n for k, v in self.query.required.items() for n in (k, *v)]
        named += variables_of(self.steps)
        named += [name for _, stated in self.methods for name in kept_totals(stated)]
        named += [name for table in self.catalogue.levels for name in table]
        named += [self.areas.variable] if self.areas.variable else []
        named += [served.bands for served in self.measures.values() if served.bands]
        for name in named:
            if name not in known:
                raise InputError(f"the policy names an unknown variable {name!r}; {nearest(name, known)}")
        for name, level in [pair for table in self.catalogue.levels for pair in table.items()]:
            dimensions[known.index(name)].level(level)
        for served in self.measures.values():
            codes = len(dimensions[known.index(served.bands)].leaves) if served.bands else 0
            if served.bands and len(served.edges) != codes + 1:
                raise InputError(f"{served.bands!r} has {codes} finest codes, so it has {codes + 1} edges")


def kept_totals(stated: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables whose totals a method keeps, as its parameters name them."""
    control = stated.get("control", ())
    return (control,) if isinstance(control, str) else tuple(control)


def _check_with_steps(risk: Thresholds, methods: Sequence[Any]) -> None:
    """Raise for thresholds that cannot be kept where data are changed before counting."""
    if risk.t1 is not None or risk.population:
        raise InputError("t1 and population have no meaning with a step before counting: leave them out")
    if risk.t3 is not None and methods:
        raise InputError(
            "what a step before counting and a method cost together cannot be worked out from the table, so t3 cannot "
            "be kept: leave out t3, the step or the method"
        )


def _check_measures(
    measures: Mapping[str, ServedMeasure], before: Sequence[Any], methods: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """Raise for measures that nothing could protect."""
    if measures and before:
        raise InputError(
            f"a step before counting ({before[0][0]}) changes people, not what they have, so no measure can be served "
            "with it: leave out [measures] or [[before]]"
        )
    hiding = [name for name, _ in methods if contract(name).rule]
    counting = [name for name, _ in methods if not (contract(name).rule or contract(name).amounts)]
    for name, served in measures.items():
        for other in [text.removeprefix("per-") for text in served.statistics if text.startswith("per-")]:
            if other not in measures or other == name:
                raise InputError(
                    f"[measures.{name}]: 'per-{other}' is set against another measure; {nearest(other, measures)}"
                )
        if served.noise is None and counting:
            raise InputError(
                f"[measures.{name}]: method {counting[0]!r} is for counts, and a sum would show what one person gives: "
                "say how sums are protected (noise = { flex = ... })"
            )
        if served.noise is None and hiding and served.statistics != ("sum",):
            raise InputError(
                f"[measures.{name}]: {hiding[0]!r} hides cells and shows the others as they are, so a mean beside its "
                "sum would tell a count that is not judged: serve sums alone, or say noise = {...}"
            )


def _check_method(name: str, stated: Iterable[str]) -> None:
    known = [parameter for parameter in parameters(name) if parameter not in (*SECRETS, "rule")]
    for parameter in stated:
        if parameter not in known:
            raise InputError(f"method {name!r} has no parameter {parameter!r}; {nearest(parameter, known)}")


@checked
def read_policy(path: str | Path) -> Policy:
    """A policy from a TOML file.

    >>> read_policy(resources.files("discreet.policy") / "template.toml").query.max_dimensions
    2
    """
    if not is_file(path := Path(path)):
        raise InputError(f"policy not found: {path.name!r}")
    return parse_policy(read_text(path), source=path.name)


@checked
def parse_policy(text: str, *, source: str = "policy") -> Policy:
    """A policy from TOML text.

    >>> parse_policy('[query]\\nmax_dimensions = 2\\n[[method]]\\nname = "random-round"').query.max_dimensions
    2
    """
    document = load(text, policy_schema(), source, "the policy")
    _check_entries(document, text, source)
    query = dict(document.get("query", {}))
    for name in ("forbidden", "disallowed"):
        if name in query:
            query[name] = tuple(tuple(v) if isinstance(v, list) else v for v in query[name])
    if "required" in query:
        query["required"] = {k: tuple(v) for k, v in query["required"].items()}
    risk: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in document.get("risk", {}).items()}
    stated = document.get("utility", "band")
    stated = {"told": stated} if isinstance(stated, str) else stated
    methods = [dict(m) for m in document.get("method", [])]
    try:
        return Policy(
            title=document.get("title", ""),
            notes=tuple(document.get("notes", ())),
            query=QueryRules(**query),
            table=TableRules(**document.get("table", {})),
            areas=AreaRules(**document.get("areas", {})),
            risk=Thresholds(**risk),
            guard=GuardRules(**document.get("guard", {})),
            edition=EditionRules(**document.get("edition", {})),
            catalogue=CatalogueRules(tables=tuple(map(tuple, document.get("catalogue", {}).get("tables", ())))),
            rules=tuple(from_dict(rule) for rule in document.get("rule", ())),
            before=tuple((m.pop("name"), m) for m in map(dict, document.get("before", []))),
            methods=tuple((m.pop("name"), m) for m in methods),
            measures=read_served(document.get("measures", {})),
            publish=document.get("publish", ""),
            search=document.get("search", False),
            utility=stated.get("told", "band"),
            loss=read_loss(stated.get("loss", "hellinger"), stated.get("f", "kl")),
            secret=_secret(document.get("secret")),
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _check_entries(document: Mapping[str, Any], text: str, source: str) -> None:
    """Refuse what is wrong with one [[rule]], [[before]] or [[method]] by itself, with the line of the key at fault."""
    checks: dict[str, Callable[[dict[str, Any]], object]] = {
        "rule": from_dict,
        "before": lambda one: check_step(one.pop("name"), one),
        "method": lambda one: _check_method(one.pop("name"), one),
    }
    for kind, check in checks.items():
        for n, one in enumerate(document.get(kind, ())):
            try:
                check(dict(one))
            except InputError as error:
                keys = [k for k in one if f"parameter {k!r}" in str(error)]
                keys += [k for k in one if re.search(rf"\b{re.escape(k)}\b", str(error)) and k not in ("name", "rule")]
                keys += [k for k in ("name", "rule") if k in one and repr(one[k]) in str(error)]
                raise InputError(f"{place(text, source, [kind, n, *keys[:1]])}: {error}") from None


def _secret(where: Mapping[str, str] | None) -> bytes | None:
    """The secret from the environment or a file; never from the policy itself."""
    if where is None:
        return None
    if "env" in where:
        text = os.environ.get(where["env"], "")
        if len(text) < SECRET_BYTES:
            raise InputError(
                f"the environment variable {where['env']!r} must hold a secret of at least {SECRET_BYTES} characters"
            )
        return text.encode()
    if len(data := read_private(where["file"], "the secret").strip()) < SECRET_BYTES:
        raise InputError(f"the secret file must hold at least {SECRET_BYTES} bytes")
    return data


@cache
def policy_schema() -> dict[str, Any]:
    """The JSON Schema of a policy."""
    return dict(json.loads(_text("policy.schema.json")))


@checked
def template() -> str:
    """A policy with every key, commented.

    >>> template().splitlines()[0]
    '# A policy of discreet: what may be asked, what a table must be like, and how it is protected.'
    """
    return _text("template.toml")


def _text(name: str) -> str:
    return resources.files("discreet.policy").joinpath(name).read_text(encoding="utf-8")
