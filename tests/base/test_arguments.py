"""Every public function and class, given nonsense of every kind: an error of discreet's own, never another."""

from __future__ import annotations

import enum
import inspect
import math
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.base.arguments import above, one_of, positive, share, whole
from discreet.base.kinds import kind_of
from discreet.formats import argus
from tests.base.call_examples import EXAMPLES, FILES, MICRO, PAY, RELEASE, TABLE

SECONDS = 30


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """What a module offers, its own modules opened."""
    own = [
        n for n, f in vars(module).items() if not n.startswith("_") and getattr(f, "__module__", "") == module.__name__
    ]
    for name in getattr(module, "__all__", own):
        found = getattr(module, name)
        if isinstance(found, ModuleType) and module is dc:
            yield from ((f"{name}.{inner}", f) for inner, f in public(found))
        elif callable(found) and getattr(found, "__module__", "").startswith("discreet"):
            yield name, found


def is_door(found: Any) -> bool:
    """Whether users call it: errors, letters and what stands for any rule are made by us."""
    return not (
        isinstance(found, type)
        and (issubclass(found, (BaseException, enum.Enum)) or found is dc.Rule or getattr(found, "_is_protocol", False))
    )


DOORS = {name: found for name, found in public(dc) if is_door(found)}
DOORS |= {f"argus.{name}": found for name, found in public(argus) if inspect.isfunction(found)}
MINE = sorted(name for name in DOORS if name in dc.__all__)


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function, every class that users make, and every public method of it."""
    for name, found in DOORS.items():
        if inspect.isfunction(found):
            yield name, found
        elif name in dc.__all__:
            yield name, found
            for inner, method in vars(found).items():
                plain = method.__func__ if isinstance(method, (classmethod, staticmethod)) else method
                if inspect.isfunction(plain) and not inner.startswith("_"):
                    yield f"{name}.{inner}", plain


@pytest.mark.parametrize(("name", "door"), list(functions()), ids=lambda x: x if isinstance(x, str) else "")
def test_a_misspelt_argument_is_named(name: str, door: Callable[..., Any]) -> None:
    """With the nearest one that there is."""
    parameters = list(inspect.signature(door).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return  # names are free there; a test of its own says what is done with them
    known = [p.name for p in parameters if p.name not in ("self", "cls") and p.kind is not p.VAR_POSITIONAL]
    wrong = f"{known[-1]}x" if known else "nonsense"
    with pytest.raises(dc.InputError, match=f"has no argument '{wrong}'") as caught:
        door(**{wrong: 1})
    assert not known or repr(known[-1]) in str(caught.value)


def test_every_public_name_has_an_example() -> None:
    """So that none is left out below."""
    assert set(MINE) == set(EXAMPLES)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files to read, a place to write, and an end to what has none."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def stop(number: int, frame: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def used(name: str, given: dict[str, Any]) -> None:
    """Call it, and use what it makes: a method or rule on tables, a method for records on records."""
    signal.alarm(SECONDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        made = getattr(dc, name)(**given)
        if isinstance(made, Iterator):
            list(made)
        if isinstance(made, dc.Waived):
            made(PAY)
        elif callable(made) and isinstance(getattr(dc, name), type):
            wanted = inspect.signature(made).parameters
            for subject in (TABLE, PAY) if "table" in wanted else (MICRO,):
                try:
                    made(subject)
                except dc.DiscreetError as error:
                    if subject is TABLE:
                        last = error
                        continue
                    raise
                else:
                    break
            else:
                raise last
    signal.alarm(0)


@pytest.mark.parametrize("name", MINE)
def test_the_examples_are_right(name: str) -> None:
    """What is given below is wrong in one argument only."""
    used(name, EXAMPLES[name])


class Thing:
    """Something that nobody asked for."""


FRAME = pd.DataFrame({"a": ["x"], "count": [1]})
THINGS = [Thing(), Thing, FRAME]
NUMBERS = ["10", math.nan, math.inf, -math.inf, True, 10**400, [1], -1]
NONSENSE: dict[str, list[Any]] = {
    "int": [*THINGS, None, *NUMBERS, 1.5],
    "float": [*THINGS, None, *NUMBERS],
    "bool": [*THINGS, None, "yes", 2],
    "str": [*THINGS, None, 5, b"x", "\ud800", ["x"]],
    "other": [*THINGS, None, -1, math.nan, "nonsense"],
}
HUGE = [10**18, 10**30, 1e300]
SENSIBLE = {
    ("assess", "table"),
    ("ru_map", "t2"),  # one for each measure
    ("read_table", "zero"),  # any text may be a mark
    ("read_table", "suppressed"),
    ("read_table", "unavailable"),
    ("read_table", "flag"),
    *((n, "axis") for n in ("expected_r2", "jos15_risk", "jos15_after", "r1", "r1_star", "r2", "r2_star")),
}
FRAMED = ("apply_recipe", "perturb_counts", "round_counts", "suppress_small_counts")
FRAMES = {
    ("audit", "released"),
    ("read_table", "source"),
    ("read_tables", "source"),
    *((name, "frame") for name in FRAMED),
}  # where a frame is a table that is out
RESULTS = (
    "Audit",
    "Diagnosis",
    "OwnerAudit",
    "ProtectionReport",
    "RUMap",
    "RiskReport",
    "SampleRisk",
    "SheetTable",
)  # made by functions


def nonsense(parameter: inspect.Parameter) -> list[Any]:
    """What no argument with such an annotation can be."""
    text = str(parameter.annotation)
    first = text.split(" | ")[0]
    base = first if first in NONSENSE else "other"
    kind = None if text == "Any" else kind_of(text, {"Path": Path})
    optional = "None" in text or parameter.default is None
    plain = [v for v in NONSENSE[base] if not (v is None and optional)]
    return [v for v in plain if base != "other" or kind is None or not (isinstance(v, str) and kind.holds(v))]


def outcome(name: str, given: dict[str, Any]) -> str:
    """An error of ours, a fault, or silence."""
    try:
        used(name, given)
    except dc.DiscreetError:
        return "error"
    except Exception as fault:  # noqa: BLE001 - whatever comes is what is looked for
        return f"{type(fault).__name__}: {fault}"
    finally:
        signal.alarm(0)
    return "accepted"


@pytest.mark.parametrize("name", MINE)
def test_nonsense_is_refused(name: str) -> None:
    """In every argument, whatever the kind: never another error, never silence."""
    wrong = []
    for parameter in inspect.signature(getattr(dc, name)).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD or parameter.name.startswith("_"):
            continue
        for value in nonsense(parameter):
            found = outcome(name, {**EXAMPLES[name], parameter.name: value})
            fine = ["error"]
            if (name, parameter.name) in SENSIBLE or (name in RESULTS and not isinstance(value, Thing)):
                fine.append("accepted")
            if value is FRAME and (name, parameter.name) in FRAMES:
                fine.append("accepted")
            if found not in fine:
                wrong.append(f"{parameter.name}={str(value)[:20]!r}: {found}")
    assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize("name", MINE)
def test_huge_numbers_are_refused_or_served(name: str) -> None:
    """A number that is large beyond use is no reason for a fault or for work without end."""
    wrong = []
    for parameter in inspect.signature(getattr(dc, name)).parameters.values():
        if not str(parameter.annotation).startswith(("int", "float", "Any")):
            continue
        for value in HUGE:
            found = outcome(name, {**EXAMPLES[name], parameter.name: value})
            if found not in ("error", "accepted"):
                wrong.append(f"{parameter.name}={value}: {found}")
    assert not wrong, "; ".join(wrong)


def test_the_helpers() -> None:
    """Each at its edges."""
    for good in (0, np.int64(3), 5):
        whole("n", good, 0, 5)
    for bad in (-1, 6, 1.0, True, None, "1", math.nan):
        with pytest.raises(dc.InputError, match="whole number"):
            whole("n", bad, 0, 5)
    positive("x", np.float32(0))
    above("x", 1e-300)
    share("x", 1)
    for check, bad in ((positive, -1e-9), (positive, math.inf), (above, 0), (share, 1.01), (share, "0.5")):
        with pytest.raises(dc.InputError, match="give a"):
            check("x", bad)
    one_of("x", "a", ["a", "b"])
    with pytest.raises(dc.InputError, match="did you mean 'value'"):
        one_of("x", "valu", ["value", "count"])


def test_noise_of_no_or_endless_variance_is_refused() -> None:
    """At once, not as a division by zero or for want of memory when a table is protected."""
    for v in (0, 1e7):
        with pytest.raises(dc.InputError, match="v="):
            dc.Synthetic(v=v, seed=1)
    for rho in (0, 1e-300):
        with pytest.raises(dc.InputError, match="rho="):
            dc.DiscreteGaussian(rho=rho, seed=1)
    for delta in (0, -1, 2):
        with pytest.raises(dc.InputError, match="delta="):
            dc.DiscreteGaussian(seed=1).epsilon(delta)


def test_what_says_how_a_file_is_read_is_refused_where_none_is() -> None:
    """A total or codebook that would change nothing."""
    for function in (dc.audit, dc.difference):
        with pytest.raises(dc.InputError, match="know their sums"):
            function([RELEASE, RELEASE], total="all")
