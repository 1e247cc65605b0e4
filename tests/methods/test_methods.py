"""Every method by its name: on the command line, through the barrier, with a page and a picture of its own."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.cli import run
from discreet.data.codebook import Magnitude
from discreet.methods import HOMES, method, method_class
from tests.persons import DIMENSIONS, microdata, persons

DOCS = Path(__file__).parents[2] / "docs"
PERTURBING = {
    "round": [],
    "random-round": ["-P", "base=5"],
    "semi-controlled-round": ["-P", 'control=["area"]'],
    "controlled-round": [],
    "small-count-round": ["-P", "base=6"],
    "cell-key": ["-P", "d=3", "-P", "v=2", "-P", "secret=env:DISCREET_TEST_SECRET"],
    "cell-key-magnitude": ["--value", "income", "-P", "flex=50"],
    "stochastic": ["-P", "stay=0.6"],
    "barnard": ["-P", "p=0.5"],
    "same-margins": ["-P", 'distribution="exact"'],
    "synthetic": ["-P", "v=4", "-P", "secret=env:DISCREET_TEST_SECRET"],
    "discrete-gaussian": ["-P", "rho=2", "-P", "secret=env:DISCREET_TEST_SECRET"],
    "cta": ["--rule", "threshold(n=6)"],
    "swap": ["-P", "geography=area", "-P", 'risk=["age"]'],
    "pram": ["-P", "variable=age", "-P", "exact=true"],
    "global-recode": ["-P", "variable=area", "-P", "level=level 1"],
    "sample": ["-P", "fraction=0.5"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The persons and their codebook as files."""
    made = tmp_path_factory.mktemp("methods")
    table = persons(400)
    table = table.append_column("income", table["id"])
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, made / "p.parquet")
    book = dc.Codebook(dimensions=DIMENSIONS, unit="id", key="rkey", magnitudes=(Magnitude("income"),))
    (made / "p.toml").write_text(book.to_toml())
    return made


@pytest.mark.parametrize("name", PERTURBING)
def test_on_the_command_line(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release is written, twice the same bytes, and it is no copy of the truth unless the method only coarsens."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DISCREET_TEST_SECRET", "sixteen bytes and more")
    which = ["p.parquet", "--codebook", "p.toml", "--by", "area,age"]
    for out in ("one.csv", "two.csv"):
        assert run(["protect", *which, "--method", name, *PERTURBING[name], "-o", out]) == 0
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
    assert run(["protect", *which, "--method", "publish", "-o", "true.csv"]) == 0
    assert (folder / "one.csv").read_bytes() != (folder / "true.csv").read_bytes()


def test_every_method_has_a_page_and_a_picture() -> None:
    """And its first line of documentation names a paper or says what it does."""
    for name in PERTURBING:
        text = (DOCS / "methods" / f"{name}.md").read_text()
        assert "## What it promises" in text
        assert "## Limits" in text
        assert (DOCS / "pictures" / f"method-{name}.png").stat().st_size < 40_000
        assert method_class(name).__doc__
    assert set(PERTURBING) <= set(HOMES)


def test_parameters_by_name() -> None:
    """Unknown and missing parameters are said by name; what is made is frozen."""
    with pytest.raises(dc.InputError, match="did you mean 'base'"):
        method("random-round", bass=3)
    with pytest.raises(dc.InputError, match="needs the parameter 'geography'"):
        method("swap")
    made = method("random-round", base=5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.base = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [n for n in PERTURBING if n not in ("swap", "pram", "global-recode", "sample")])
def test_a_release_holds_nothing_of_the_truth(name: str) -> None:
    """The pickle of a release has no true counts: it is the same for two tables that show the same."""
    data = microdata(persons(300).append_column("income", persons(300)["id"]))
    book = dataclasses.replace(data.codebook, magnitudes=(Magnitude("income"),))
    data = dc.Microdata(data.engine, book)
    table = dc.tabulate(data, by=["area", "age"], value="income" if name == "cell-key-magnitude" else None)
    needs: dict[str, dict[str, Any]] = {"cta": {"rule": "threshold(n=3)"}, "discrete-gaussian": {"seed": 1}}
    made = dc.protect(table, method(name, **needs.get(name, {})))
    release = made.release()
    assert pickle.loads(pickle.dumps(release)) == release
    assert not any(hasattr(release, field) for field in ("table", "details"))
    assert (made.status == "s").all()
