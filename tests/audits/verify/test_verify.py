"""The checker by itself: it runs without the package, and refuses every certificate that was tampered with."""

from __future__ import annotations

import ast
import copy
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits import verify as checker
from discreet.audits.verify import MalformedError, NotProvedError, sha256, verify

SOURCE = Path(checker.__file__).parent


def example(kind: str) -> tuple[dict[str, Any], list[str]]:
    """A certificate that holds, and its tables."""
    if kind == "counts":
        protected = dc.datasets.willenborg_suppressed()
        certificate = dc.audit(protected).certificate(intervals=True)
    elif kind == "exact":
        table = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"])
        protected = dc.protect(table, dc.Hide(table.where(area="1", sex="2")))
        certificate = dc.audit(protected).certificate()
    elif kind == "rounded":
        table = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"])
        protected = dc.protect(table, dc.Round(5))
        certificate = dc.audit(protected).certificate(confidential=True)
    else:
        table = dc.Table.of(np.array([[5.5, 1.2, 3], [6, 4, 6], [7, 8, 9]]), ["area", "sex"], value="turnover")
        protected = dc.protect(table, dc.Hide(table.where(area=["1", "2"], sex=["1", "2"])))
        levels = (np.where(protected.hidden, 0.5, 0), np.where(protected.hidden, 0.5, 0))
        certificate = dc.audit(protected, protection=levels).certificate(confidential=True)
    return json.loads(certificate.to_json()), [protected.release().to_csv().decode()]


EXAMPLES = {kind: example(kind) for kind in ("counts", "exact", "rounded", "levels")}


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """The same with a seal that fits, as somebody would make it who tampers on purpose."""
    content["seal"] = sha256({k: v for k, v in content.items() if k != "seal"})
    return content


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all numbers and texts of a claim that something hangs on."""
    if isinstance(content, dict):
        return [p for key, value in content.items() for p in places(value, (*path, key))]
    if isinstance(content, list):
        return [p for k, value in enumerate(content) for p in places(value, (*path, k))]
    return [path]


def changed(value: Any, step: int) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + step
    return f"{value}{step}"


@pytest.mark.parametrize("kind", EXAMPLES)
def test_what_holds_is_proved(kind: str) -> None:
    """The verdict is the one it states."""
    content, tables = EXAMPLES[kind]
    assert verify(content, tables) == content["verdict"]


@given(st.sampled_from(sorted(EXAMPLES)), st.data())
@settings(max_examples=150, deadline=None)
def test_any_change_breaks_the_seal(kind: str, data: st.DataObject) -> None:
    """One value somewhere, a line less, a line twice."""
    content, tables = EXAMPLES[kind]
    content = copy.deepcopy(content)
    path = data.draw(st.sampled_from(places(content)))
    held = content
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = changed(held[path[-1]], data.draw(st.sampled_from([1, -1, 7])))
    with pytest.raises((NotProvedError, MalformedError), match=r"changed|not a certificate"):
        verify(content, tables)


PROOFS = ("base", "moves", "cells", "tables", "decimals", "summary", "implied", "dimensions")


@given(st.sampled_from(sorted(EXAMPLES)), st.data())
@settings(max_examples=300, deadline=None)
def test_a_forged_proof_is_refused(kind: str, data: st.DataObject) -> None:
    """A witness, a combination, a claim, a digest or a count that is changed and sealed again does not hold."""
    content, tables = EXAMPLES[kind]
    content = copy.deepcopy(content)
    measure = content["measures"][0]
    path = data.draw(st.sampled_from([p for p in places(measure) if p[0] in PROOFS and "cells" not in p[1:]]))
    held: Any = measure
    for key in path[:-1]:
        held = held[key]
    before = held[path[-1]]
    held[path[-1]] = changed(before, data.draw(st.sampled_from([1, -1, 7])))
    if _harmless(kind, path):
        return
    with pytest.raises((NotProvedError, MalformedError)):
        verify(sealed(content), tables)


def _harmless(kind: str, path: tuple[Any, ...]) -> bool:
    """What may become another proof of the same claims, or of less.

    A lower level asks for less, wider bounds of a shown value are another assumption, within the bounds of a rounded
    table there are more witnesses, and a cell that is zero may stand in a combination as often as one likes.
    """
    combination = "proof" in path and path[path.index("proof") + 2] != 0  # 0: the bound that it gives
    rounded = kind == "rounded" and path[0] in ("base", "moves")
    return "need" in path or path[0] == "implied" or combination or rounded


def test_levels_that_are_not_reached_are_refused() -> None:
    """A level raised past what the witnesses reach."""
    content, tables = EXAMPLES["levels"]
    content = copy.deepcopy(content)
    claim = next(c for c in content["measures"][0]["cells"] if "need" in c)
    claim["need"] = ["-1000", "100000", "0"]
    with pytest.raises(NotProvedError, match="finding"):
        verify(sealed(content), tables)


@given(st.sampled_from(sorted(EXAMPLES)), st.integers(0, 10**6), st.sampled_from(["", "1", "99"]))
@settings(max_examples=100, deadline=None)
def test_another_table_is_refused(kind: str, row: int, text: str) -> None:
    """One cell shown otherwise, hidden, or gone."""
    content, tables = EXAMPLES[kind]
    lines = tables[0].splitlines()
    at = 1 + row % (len(lines) - 1)
    fields = lines[at].split(",")
    if len(fields) != 4 or fields[2] == text:  # a code with a comma in it
        return
    fields[2] = text
    for other in ([*lines[:at], ",".join(fields), *lines[at + 1 :]], [*lines[:at], *lines[at + 1 :]]):
        with pytest.raises(NotProvedError, match="differs from the one"):
            verify(content, ["\r\n".join([*other, ""])])


@pytest.mark.parametrize("kind", EXAMPLES)
def test_no_hidden_cell_may_be_left_out(kind: str) -> None:
    """Nor told twice, nor a measure left out, nor the verdict improved."""
    content, tables = EXAMPLES[kind]
    for spoil in (_without_a_cell, _cell_twice, _without_measures, _better):
        forged = sealed(spoil(copy.deepcopy(content)))
        if forged["verdict"] == content["verdict"] and spoil is _better:
            continue
        with pytest.raises(NotProvedError):
            verify(forged, tables)


def _without_a_cell(content: dict[str, Any]) -> dict[str, Any]:
    measure = content["measures"][0]
    gone = measure["cells"].pop()
    measure["summary"][gone["finding"]] -= 1
    return content


def _cell_twice(content: dict[str, Any]) -> dict[str, Any]:
    measure = content["measures"][0]
    measure["cells"].append(measure["cells"][0])
    measure["summary"][measure["cells"][0]["finding"]] += 1
    return content


def _without_measures(content: dict[str, Any]) -> dict[str, Any]:
    return {**content, "measures": []}


def _better(content: dict[str, Any]) -> dict[str, Any]:
    return {**content, "verdict": "pass"}


def test_it_stands_alone(tmp_path: Path) -> None:
    """Copied out, in an empty environment, without any installed package: exit codes 0, 1 and 2."""
    shutil.copytree(SOURCE, tmp_path / "verify", ignore=shutil.ignore_patterns("__pycache__"))
    content, tables = EXAMPLES["counts"]
    (tmp_path / "t.csv").write_text(tables[0], encoding="utf-8-sig", newline="")
    (tmp_path / "c.json").write_text(json.dumps(content))
    (tmp_path / "c.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
    (tmp_path / "forged.json").write_text(json.dumps(content).replace("406", "407"))
    (tmp_path / "nothing.json").write_text("{}")
    (tmp_path / "broken.json").write_text("{")
    for name, code, words in [
        ("c.json", 0, "proved; verdict: pass"),
        ("c.json.gz", 0, "4 open: two tables"),
        ("forged.json", 1, "not proved"),
        ("nothing.json", 2, ""),
        ("broken.json", 2, ""),
        ("missing.json", 2, ""),
    ]:
        call = [sys.executable, "-E", "-S", "-m", "verify", name, "t.csv"]
        done = subprocess.run(call, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert words in done.stdout


def test_it_is_short_and_imports_the_standard_library_only() -> None:
    """Somebody can read all of it in an hour: some 640 lines, nothing but the standard library and its own files."""
    every = sorted(SOURCE.glob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in every]
    assert sum(len([line for line in text.splitlines() if line.strip()]) for text in texts) <= 650
    names = set()
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level in (0, 1)
            names |= {str(node.module)} if node.level == 0 else set()
            assert node.level == 0 or f"{node.module}.py" in {path.name for path in every}
    assert names <= set(sys.stdlib_module_names)
