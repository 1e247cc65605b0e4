"""What a new user gives wrongly is an error of discreet's own, in one sentence, before any work is done."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet as dc
from discreet.cli import run
from discreet.formats import argus
from discreet.rules import parse

no: Any = dc  # what is tried here is what a type checker refuses
TABLE: Any = dc.Table.of([[17, 0, 5], [12, 1, 9], [4, 8, 6]], ["area", "injury"])
CELLS = pd.DataFrame({"a": ["x", "y"], "count": [1, 2]})
TWICE = pd.DataFrame([["x", "y", 1], ["x", "z", 2]], columns=["a", "a", "count"])


def objects(**columns: list[Any]) -> pd.DataFrame:
    """A frame of Python objects, which may be what no file can hold."""
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: no.audit(5), "released=5: give a Protected or a Release .* or a DataFrame"),
        (lambda: no.protect(CELLS, dc.Publish()), r"DataFrame.*give a Table; of a frame: Table\.of"),
        (lambda: no.tabulate(CELLS, by=["a"]), r"DataFrame.*give a Microdata; .*Microdata\.of"),
        (lambda: no.Suppress(dc.Threshold(3))(CELLS), "DataFrame.*give a Table"),
        (lambda: no.Threshold(3)(CELLS), "DataFrame.*give a Table"),
        (lambda: no.protect(TABLE, "suppress"), r"method='suppress'.*Suppress\(Threshold\(3\)\)"),
        (lambda: no.protect(TABLE, dc.Publish), "the class Publish.*made with its parameters"),
        (lambda: no.protect(TABLE, lambda table: table), "turns a Table into a Protected"),
        (lambda: no.Table.of(TWICE, ["a"]), "more than one column is called 'a'"),
        (lambda: no.Microdata.of(TWICE, dimensions=["a"]), "more than one column called 'a'"),
        (lambda: no.Table.of([[1, 2], [3]]), "same length"),
        (lambda: no.Table.of({"a": ["x", "y"], "count": [1]}), "differ in length"),
        (lambda: no.Table.of(pd.DataFrame({0: ["x"], 1: [2]}), [0], count=1), "each a Dimension or text.*as text: '0'"),
        (lambda: no.Table.of(objects(a=["x\ud800"], count=[1]), ["a"]), "lone surrogate"),
        (lambda: no.Table.of([1], ["a\ud800"]), "lone surrogate"),
        (lambda: no.Dimension.flat("a", ["1"], labels={"1": "\ud800"}), "lone surrogate"),
        (lambda: no.Table.of([1], ["a"], title="\ud800"), "lone surrogate"),
        (lambda: no.tabulate(dc.Microdata.of(objects(a=["\ud800"]), dimensions=["a"]), by="a"), "mixes kinds"),
        (lambda: no.PPercent("10"), "p='10': give a finite number"),
        (lambda: no.Threshold(None), "n=None: give a whole number"),
        (lambda: no.Threshold(2.5), "n=2.5: give a whole number"),
        (lambda: no.Threshold(True), "n=True: give a whole number"),
        (lambda: parse("threshold(n=1e400)"), "n=inf: give a whole number"),
        (lambda: no.Dominance(1, float("nan")), "k=nan: give a finite number"),
        (lambda: no.PPercent(10**400), "give a finite number"),
        (lambda: no.Threshold(m=3), "Threshold has no argument 'm'; known: 'n'"),
        (lambda: no.Suppress(dc.Threshold(3), ordr="value"), "Suppress has no argument 'ordr'; did you mean 'order'"),
        (lambda: no.tabulate(None, bye=["a"]), "tabulate has no argument 'bye'; did you mean 'by'"),
        (lambda: TABLE.array(margin=True), "Table.array has no argument 'margin'; did you mean 'margins'"),
        (lambda: no.Table.of([1], dimensons=["a"]), "did you mean 'dimensions'"),
        (lambda: no.Threshold(), "Threshold needs 'n'"),
        (lambda: no.Threshold(3, n=4), "'n' is given twice"),
        (lambda: no.Round(3, 4), r"Round takes 1 by their place \('base'\), not 2"),
        (lambda: no.CellKey(2, 1, 3), "takes 2 by their place .* give by name: 'js'"),
        (lambda: no.Suppress(dc.Threshold(3), marks=[{"area": "1"}]), "give Marks"),
        (lambda: no.Marks(safe=("1", "2")), "safe"),
    ],
)  # fmt: skip
def test_what_is_given_wrongly(make: Callable[[], Any], says: str) -> None:
    """One sentence: what was given, what is allowed, what to do."""
    with pytest.raises(dc.DiscreetError, match=says):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: dc.CellKey(d=1000, v=1),
        lambda: dc.CellKey(d=3, v=1, js=10**9),
        lambda: dc.PTable.geometric(1.0, 10**7),
        lambda: dc.SmallCountRound(10**30),
        lambda: dc.Stochastic(cap=10**9),
    ],
)
def test_what_would_take_for_ever_is_refused_at_once(make: Callable[[], Any]) -> None:
    """A size that no machine can serve is an error, not a wait."""
    began = time.monotonic()
    with pytest.raises(dc.InputError, match="at most"):
        make()
    assert time.monotonic() - began < 2


def test_what_the_pages_write() -> None:
    """Noise by its place, columns with numbers for names, lazy frames."""
    import polars as pl

    assert dc.CellKey(5, 3) == dc.CellKey(d=5, v=3)
    numbered = dc.Table.of(pd.DataFrame({0: ["x", "y"], 1: [4, 5]}), ["0"], count="1")
    assert numbered.count.tolist() == [9, 4, 5]
    lazy = pl.LazyFrame({"a": ["x", "y"], "count": [4, 5]})
    assert dc.Table.of(lazy, ["a"]).count.tolist() == [9, 4, 5]
    records = pl.LazyFrame({"a": ["x", "y", "x"]})
    assert dc.tabulate(dc.Microdata.of(records, dimensions=["a"]), by="a").count.tolist() == [3, 2, 1]


def test_marks_of_tau_argus_are_marks(tmp_path: Path) -> None:
    """Those of an a-priori file and of a table do what the same marks by hand do, levels included."""
    (tmp_path / "a.hst").write_text("1;1;u\n2;2;s\n3;3;p\n3;1;m\n1;1;pl;3;4\n")
    found = argus.read_apriori(tmp_path / "a.hst", TABLE)
    hand = dc.Marks(
        unsafe=({"area": "1", "injury": "1"},),
        safe=({"area": "2", "injury": "2"},),
        publish=({"area": "3", "injury": "3"},),
    )
    levels = dc.Levels([{"area": "1", "injury": "1"}], below=[3], above=[4])
    rule = dc.Threshold(2)
    ours = dc.protect(TABLE, dc.Suppress(rule, marks=found, method="optimal"))
    same = dc.protect(TABLE, dc.Suppress(rule, marks=hand, levels=levels, method="optimal"))
    assert ours.status.tolist() == same.status.tolist()
    assert ours.status[TABLE.where(area="1", injury="1")].tolist() == ["u"]
    assert ours.room.levels is not None
    assert ours.room.levels[1].max() == 4
    with pytest.raises(dc.InputError, match="the marks are for a table of 16 cells, this one has 4"):
        dc.protect(dc.Table.of([1, 2, 3]), dc.Suppress(rule, marks=found))


class Missing(MetaPathFinder):
    """An installation without some modules."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize("missing", ["fastapi", "sqlalchemy", "uvicorn"])
@pytest.mark.parametrize("words", [("demo", "-n", "100"), ("serve", "x.csv", "--policy", "p.toml")])
def test_a_server_that_is_not_installed(
    missing: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """What to install is said, before anything is made."""
    monkeypatch.chdir(tmp_path)
    for name in list(sys.modules):
        if name.partition(".")[0] == missing or name.startswith("discreet.server"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(missing), *sys.meta_path])
    assert run(words) == 2
    assert "pip install 'discreet[server]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_signatures_are_what_they_were() -> None:
    """The check hides nothing from whoever looks: names, defaults, annotations, words."""
    assert list(inspect.signature(dc.Threshold).parameters) == ["n", "zeros", "level", "sliding"]
    assert inspect.signature(dc.protect).parameters["table"].annotation == "Table"
    assert dc.protect.__doc__
    assert dc.protect.__module__ == "discreet.methods.contract"
    assert inspect.getsource(dc.protect).startswith("@checked\ndef protect")
