"""The risk-utility map and the commands around a policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet import cli
from discreet.methods import method
from discreet.policy import grid, ru_map
from discreet.policy.comparing import expected_counts
from discreet.policy.method_digest import parameter_digest

TABLE = dc.datasets.psd14_religion()


def test_the_map_holds_every_method_and_knows_the_best() -> None:
    """Pareto set, thresholds, and a method that does not fit is a row with a note."""
    methods: dict[str, Any] = {
        **grid("random-round", base=[3, 5, 15], seed=1),
        "as it is": dc.Publish(),
        "keyed": method("random-round"),
    }
    seen: list[tuple[int, int]] = []
    found = ru_map(TABLE, methods, t2=0.21, t3=0.2, progress=lambda done, total: seen.append((done, total)))
    assert len(found.frame) == len(methods) == len(seen)
    assert found.frame.loc["as it is", "utility"] == 1
    assert found.frame.loc["as it is", "pareto"]
    assert "cell keys" in str(found.frame.loc["keyed", "note"])
    assert not found.frame.loc["keyed", "allowed"]
    assert found.best in methods
    ok = found.frame[found.frame["allowed"]]
    assert (ok["risk"] <= 0.21).all()
    assert found.frame.loc[str(found.best), "utility"] == ok["utility"].max()
    assert found.summary()["risk"].is_monotonic_increasing
    assert found.summary()["utility"].is_monotonic_increasing, "on the frontier less risk costs utility"
    assert json.dumps(found.to_dict())
    assert found.plot().get_ylabel() == "disclosure risk (r, 0 = none)"


def test_a_search_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Finished results are kept; another table does not take them."""
    path = tmp_path / "kept.jsonl"
    first = ru_map(TABLE, grid("random-round", base=[3, 5], seed=1), resume=path)
    size = len(path.read_text().splitlines())
    again = ru_map(TABLE, grid("random-round", base=[3, 5, 7], seed=1), resume=path)
    assert (size, len(path.read_text().splitlines())) == (2, 3)
    assert path.stat().st_mode & 0o077 == 0, "it tells of the true table"
    assert again.frame.loc[first.frame.index, "risk"].tolist() == first.frame["risk"].tolist()
    ru_map(dc.datasets.psd14_sex(), grid("random-round", base=3, seed=1), resume=path)
    assert len(path.read_text().splitlines()) == 4


def test_hidden_cells_are_filled_by_what_the_totals_leave() -> None:
    """Shown cells as they are, hidden ones fitted to the published totals."""
    table = dc.Table.of(np.array([[10, 20, 30], [40, 50, 60], [7, 8, 9]]), ["a", "b"])
    mask = table.where(a=["1", "2"], b=["1", "2"])
    filled = expected_counts(dc.protect(table, dc.Hide(mask)))
    assert filled[:, 2].tolist() == [30, 60, 9]
    assert filled[2].tolist() == [7, 8, 9]
    assert filled.sum() == pytest.approx(table.array().sum(), abs=2)
    assert filled[:2, :2].sum(axis=1).tolist() == pytest.approx([30, 90], abs=1)
    assert filled[:2, :2].sum(axis=0).tolist() == pytest.approx([50, 70], abs=1)


def test_nothing_to_compare_is_refused() -> None:
    """A map needs a method."""
    with pytest.raises(dc.InputError, match="at least one method"):
        ru_map(TABLE, [])
    with pytest.raises(dc.InputError, match="no method 'nonsense'"):
        grid("nonsense")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dc.protect(TABLE, dc.Publish()).release().to_csv("t.csv")
    return tmp_path


def test_search_on_the_command_line(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A table, a picture, JSON; methods by --try or from a policy."""
    arguments = ["search", "t.csv", "--ready", "--try", "random-round:base=3,5,seed=1", "--try", "publish"]
    assert cli.run([*arguments, "--t2", "0.2", "--plot", "ru.png"]) == 1
    out, err = capfdbinary.readouterr()
    assert "random-round(base=5, seed=1)" in out.decode()
    assert b"Confidential" in err
    assert (folder / "ru.png").read_bytes().startswith(b"\x89PNG")
    assert cli.run([*arguments, "--json"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["confidential"] is True
    (folder / "p.toml").write_text('[risk]\nt2 = 0.5\n[[method]]\nname = "random-round"\nseed = 1\n')
    assert cli.run(["search", "t.csv", "--ready", "--policy", "p.toml"]) == 0
    for wrong in ([], ["--try", "nonsense"], ["--try", "random-round:bsae=3"], ["--try", "random-round:3"]):
        assert cli.run(["search", "t.csv", "--ready", *wrong]) == 2


def test_policy_commands(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The template checks; a mistake is one line with its place."""
    assert cli.run(["policy", "init", "-o", "p.toml"]) == 0
    assert cli.run(["policy", "check", "p.toml"]) == 0
    capfdbinary.readouterr()
    (folder / "p.toml").write_text("[query]\nmax_cels = 3\n")
    assert cli.run(["policy", "check", "p.toml"]) == 2
    err = capfdbinary.readouterr().err
    assert b"p.toml, line 2" in err
    assert err.count(b"\n") == 1
    assert cli.run(["policy", "check", "none.toml"]) == 2


CODEBOOK = """
unit = "id"
key = "key"
[[dimension]]
name = "area"
parents = { n1 = "N", n2 = "N", s1 = "S" }
[[dimension]]
name = "sex"
codes = ["f", "m"]
"""
POLICY = """
[query]
max_dimensions = 2
[table]
min_population = 30
[[method]]
name = "random-round"
base = 3
"""


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    rows = [f"{k},{rng.choice(['n1', 'n2', 's1'])},{rng.choice(['f', 'm'])},{rng.integers(2**63)}" for k in range(300)]
    (tmp_path / "people.csv").write_text("\n".join(["id,area,sex,key", *rows]) + "\n")
    (tmp_path / "people.toml").write_text(CODEBOOK)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def protect_with(*more: str) -> int:
    return cli.run(["protect", "people.csv", "--codebook", "people.toml", "--policy", "policy.toml", *more])


def test_a_policy_decides_on_the_command_line(survey: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The same bytes as the library; levels and populations as in a query; what is recorded replays."""
    assert protect_with("--by", "sex,area:level 1", "-o", "out.csv", "--record", "log.jsonl", "--who", "ann") == 0
    data = dc.Microdata.read("people.csv", "people.toml")
    assert (survey / "out.csv").read_bytes() == dc.answer(
        data, "area:level 1,sex", dc.read_policy("policy.toml")
    ).to_csv()
    assert protect_with("--by", "sex", "--where", "area=N", "--record", "log.jsonl") == 0
    capfdbinary.readouterr()
    arguments = ["replay", "log.jsonl", "people.csv", "--codebook", "people.toml", "--policy", "policy.toml"]
    assert cli.run(arguments) == 0
    assert b"2 answers, all the same" in capfdbinary.readouterr().err
    (survey / "people.csv").write_text((survey / "people.csv").read_text().replace(",f,", ",m,"))
    assert cli.run(arguments) == 1


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--by", "sex", "--where", "area=X"], 2, "not a code"),
        (["--by", "sxe"], 2, "did you mean 'sex'"),
        (["--by", "sex", "-P", "base=1"], 2, "the policy decides"),
        (["--by", "sex", "--ready"], 2, "ready table"),
        (["--by", "sex", "-o", "no/where.csv"], 2, "nothing was written"),
        (["--by", "sex", "-o", "table.xyz"], 2, "xyz"),
        (["--by", "sex", "--where", "area=n1", "--where", "sex=f"], 2, "also its population"),
        (["--by", "sex", "--policy", "none.toml"], 2, "--policy is given twice"),
    ],
)
def test_a_mistake_is_one_line_and_no_file(
    survey: Path, more: list[str], code: int, says: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Impossible query, bad policy, unwritable output."""
    before = sorted(p.name for p in survey.rglob("*"))
    assert protect_with(*more) == code
    err = capfdbinary.readouterr().err.decode()
    assert says in err
    assert err.count("\n") == 1
    assert sorted(p.name for p in survey.rglob("*")) == before


def test_a_refusal_is_exit_3(survey: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """With the rule, the reason and what to change; recorded, and nothing written."""
    (survey / "policy.toml").write_text(POLICY.replace("min_population = 30", "min_population = 30000"))
    assert protect_with("--by", "sex", "-o", "out.csv", "--record", "log.jsonl") == 3
    err = capfdbinary.readouterr().err
    assert err.startswith(b"refused: min_population: fewer than 30,000 people (choose a larger population)")
    assert not (survey / "out.csv").exists()
    assert json.loads((survey / "log.jsonl").read_text())["outcome"] == "refused"


def test_kept_results_are_those_of_the_same_method(tmp_path: Path) -> None:
    """Not of the same label: what a run with a file finds is what one without finds, whatever the file holds."""
    path = tmp_path / "kept.jsonl"
    mask = np.zeros(len(TABLE), bool)
    mask[4] = True
    tried: list[Any] = [
        dc.Round(3), dc.Round(10), dc.RandomRound(3, seed=1), dc.Hide(mask), dc.Hide(~mask),
        dc.Suppress(dc.Threshold(3)), dc.Suppress(dc.Threshold(9)),
    ]  # fmt: skip
    for one in tried:
        alone = ru_map(TABLE, {"m": one}).frame
        for _ in range(2):
            assert ru_map(TABLE, {"m": one}, resume=path).frame.equals(alone)
    assert len(path.read_text().splitlines()) == len(tried), "each was worked out once"
    assert "allowed" not in path.read_text()
    assert not ru_map(TABLE, {"m": dc.Round(3)}, t2=0.0, resume=path).frame["allowed"].any()
    assert ru_map(TABLE, {"m": dc.Round(3)}, t2=1.0, resume=path).frame["allowed"].all(), (
        "thresholds are looked at anew"
    )


def test_secrets_and_files_are_parameters_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another secret, in the call or in the environment, and another file of the same name are another method."""
    one, other = "a secret of the office", "another secret of it"
    assert parameter_digest(dc.CellKey(secret=one)) == parameter_digest(dc.CellKey(secret=one))
    assert parameter_digest(dc.CellKey(secret=one)) != parameter_digest(dc.CellKey(secret=other))
    digests = set()
    for secret in (one, other):
        monkeypatch.setenv("OFFICE", secret)
        digests.add(parameter_digest(dc.CellKey(secret="env:OFFICE")))
    for text in ("first", "second"):
        (tmp_path / "p.csv").write_text(text)
        digests.add(parameter_digest(dc.CellKey(ptable=tmp_path / "p.csv")))
    assert len(digests) == 4
    assert parameter_digest(lambda table: table) is None, "nobody can say what it does another time"


def test_two_methods_of_one_label_are_refused() -> None:
    """One of them would be lost without a word; the same method twice is one."""
    table = dc.Table.of(np.ones((60, 60), int), ["a", "b"])
    mask = np.zeros(len(table), bool)
    mask[1800] = True
    assert repr(dc.Hide(mask)) == repr(dc.Hide(mask & False))
    with pytest.raises(dc.InputError, match="two different methods have the label"):
        ru_map(table, [dc.Hide(mask), dc.Hide(mask & False)])
    with pytest.raises(dc.InputError, match="two different methods have the label 'cell-key'") as refusal:
        grid("cell-key", secret=["a secret of the office", "another secret of it"])
    assert "office" not in str(refusal.value)
    assert len(ru_map(TABLE, [dc.Round(3), dc.Round(3)]).frame) == 1


@pytest.mark.parametrize("change", [{"result": None}, {"result": {}}, {"method": 3}, {"table": None}])
def test_a_row_that_is_no_result_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    """A file that holds something else is named, and left as it is."""
    path = tmp_path / "kept.jsonl"
    ru_map(TABLE, [dc.Round(3)], resume=path)
    row = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: value for key, value in row.items() if value is not None}) + "\n")
    before = path.read_bytes()
    with pytest.raises(dc.InputError, match=r"does not hold results of a search|lacks figures"):
        ru_map(TABLE, [dc.Round(3)], resume=path)
    assert path.read_bytes() == before


def test_the_state_of_the_exact_method_is_no_file_of_results(tmp_path: Path) -> None:
    """Refused, and nothing is added to it."""
    path = tmp_path / "state"
    dc.protect(TABLE, dc.Suppress(dc.Threshold(3), method=dc.Optimal(resume=path)))
    before = path.read_bytes()
    assert before
    with pytest.raises(dc.InputError, match="does not hold results of a search"):
        ru_map(TABLE, [dc.Round(3)], resume=path)
    assert path.read_bytes() == before
