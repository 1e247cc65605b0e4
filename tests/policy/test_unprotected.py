"""No policy publishes the truth unless it is asked to by that name, and then everything says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import run
from discreet.methods import HOMES
from discreet.methods.effect import calls_nothing, check_hides
from discreet.policy import Policy, answer, parse_policy, template
from discreet.rules import as_rule
from discreet.server.counting import cube
from tests import servers

SEX = dc.Dimension.flat("sex", ["f", "m"])
RULE = '[[rule]]\nrule = "threshold"\nn = 10\n'
HIDE = '[[method]]\nname = "suppress"\n'
AS_IT_IS = 'publish = "as it is"\n'
OPEN = {
    "nothing": "",
    "a title": 'title = "ours"\n[table]\nmin_population = 3\n',
    "a rule": RULE,
    "the method publish": '[[method]]\nname = "publish"\n',
    "a rule beside the method publish": RULE + '[[method]]\nname = "publish"\n',
    "publish as the last resort": '[[method]]\nname = "random-round"\n[[method]]\nname = "publish"\n',
    "a rule beside as it is": AS_IT_IS + RULE,
    "a method beside as it is": AS_IT_IS + '[[method]]\nname = "random-round"\n',
    "a rule that nothing keeps": RULE + '[[method]]\nname = "random-round"\n',
    "a rule that finds nothing": '[[rule]]\nrule = "threshold"\nn = 1\n[[method]]\nname = "suppress"\n',
    "rounding to 1": '[[method]]\nname = "random-round"\nbase = 1\n',
    "nearest 1": '[[method]]\nname = "round"\nbase = 1\n',
    "never changing": '[[method]]\nname = "barnard"\np = 1\n',
    "always staying": '[[method]]\nname = "stochastic"\nstay = 1\n',
    "two rules that find nothing": '[[rule]]\nany = [{rule="threshold", n=1}, {rule="threshold", n=1}]\n' + HIDE,
    "a rule and one that finds nothing": '[[rule]]\nall = [{rule="threshold", n=3}, {rule="threshold", n=1}]\n' + HIDE,
    "a rule and one of sums": '[[rule]]\nall = [{rule="threshold", n=3}, {rule="k-disclosure", k=1}]\n' + HIDE,
    "no cells on request": '[[rule]]\nrule = "request"\ncells = []\n' + HIDE,
    "lines of no variable": '[[rule]]\nrule = "direct-disclosure"\nsensitive = []\n' + HIDE,
    "lines of nobody": '[[rule]]\nrule = "k-disclosure"\nk = 0\nmost = 0\n' + HIDE,
    "a share that no cell has": '[[rule]]\nrule = "dominance"\nn = 1\nk = 100\n' + HIDE,
    "sums that an adjustment does not see": '[[rule]]\nrule = "k-disclosure"\n[[method]]\nname = "cta"\n',
    "nothing combined": '[[method]]\nname = "redesign"\nmerge = {}\n',
    "hardly any noise": '[[method]]\nname = "cell-key"\nv = 1e-12\n',
    "hardly any noise on values": '[[method]]\nname = "cell-key-magnitude"\np = [1e-9, 1e-9]\n',
    "nearly always staying": '[[method]]\nname = "stochastic"\nstay = 0.999999999\n',
    "hardly anybody swapped": '[[before]]\nname = "swap"\ngeography = "area"\nrate = 1e-12\n',
    "swapped with a neighbour": '[[before]]\nname = "swap"\ngeography = "area"\nstrata = ["area"]\n',
    "hardly anybody recoded": '[[before]]\nname = "pram"\nvariable = "job"\nstay = 0.9999999999\n',
    "a mixture of nothing": '[[before]]\nname = "pram"\nvariable = "job"\nalpha = 1e-15\n',
    "records changed when the table is there": '[[method]]\nname = "swap"\ngeography = ["area"]\n',
}


TRUE = np.array([[1, 2, 4], [5, 7, 1], [2, 8, 11]])  # no count that a usual base leaves alone in every cell


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A few people; one of them alone in a cell."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{area},{job}" for area, job, n in (("a", "x", 4), ("a", "y", 3), ("b", "x", 1)) for _ in range(n)]
    (tmp_path / "m.csv").write_text("\n".join(["area,job", *lines]) + "\n")
    return tmp_path


def said(capture: Any) -> str:
    err: bytes = capture.readouterr().err
    return err.decode()


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_a_policy_without_protection_is_an_error(text: str, folder: Path, capfdbinary: Any) -> None:
    """In the library, when it is checked, when a table is asked, and when a server starts; nothing is written."""
    with pytest.raises(dc.InputError):
        parse_policy(text)
    (folder / "it.toml").write_text(text)
    assert run(["policy", "check", "it.toml"]) == 2
    assert run(["protect", "m.csv", "--by", "area,job", "--policy", "it.toml", "-o", "out.csv"]) == 2
    assert run(["serve", str(servers.small_cube()), "--policy", "it.toml", "--port", "0"]) == 2
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert err.count(b"\n") == 3
    assert not (folder / "out.csv").exists()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*HOMES]),
    st.sampled_from([{}, {"base": 1}, {"base": 2}, {"base": 7}, {"p": 1}, {"p": 0.5}, {"stay": 1}, {"d": 3, "v": 1}]),
    st.booleans(),
)
def test_what_a_policy_releases_is_protected_or_says_so(name: str, given: dict[str, Any], rule: bool) -> None:
    """Whatever method and parameters: an error, a refusal, some cell changed or hidden, or the words."""
    lines = [f"{key} = {value}" for key, value in given.items()]
    text = "\n".join(["[[method]]", f'name = "{name}"', "seed = 5" if name not in SEEDLESS else "", *lines])
    table = dc.Table.of(TRUE, ["area", "job"])
    try:
        release = answer(table, "area,job", parse_policy(text + "\n" + RULE * rule))
    except dc.DiscreetError:
        return
    true = dc.protect(table, dc.Publish()).release().values["count"]
    assert (release.values["count"] != true).any()  # a hidden cell is nan, which equals nothing


SEEDLESS = ("publish", "round", "suppress", "optimal", "modular", "cta", "redesign", "global-recode")


def test_as_it_is_says_so_in_every_answer_and_line(folder: Path, capfdbinary: Any) -> None:
    """Checked, asked and recorded: the words are there, and the record replays."""
    (folder / "it.toml").write_text(AS_IT_IS)
    assert run(["policy", "check", "it.toml"]) == 0
    assert "nothing is protected" in said(capfdbinary)
    more = ["--record", "log.jsonl", "-o", "out.csv"]
    assert run(["protect", "m.csv", "--by", "area,job", "--policy", "it.toml", *more]) == 0
    assert "not protected: it is published as it is" in said(capfdbinary)
    assert json.loads((folder / "log.jsonl").read_text())["outcome"] == "released as it is"
    assert b"b,x,1," in (folder / "out.csv").read_bytes()
    release = answer(dc.Table.of(TRUE, ["area", "job"]), "area,job", parse_policy(AS_IT_IS))
    assert release.method == "published as it is"
    assert "no number was changed or hidden" in " ".join(release.notes)


def test_as_it_is_says_so_on_every_page(tmp_path: Path) -> None:
    """The server's pages, its API, its metadata and its record."""
    with servers.client(tmp_path, servers.policy_text(method=" ").replace("[query]", AS_IT_IS + "[query]")) as client:
        for path in ("/", "/about", "/login", "/table?variables=sex", "/nowhere"):
            page = client.get(path, headers={"accept": "text/html"}).text
            assert "Not protected" in page
            assert "Every number here has been protected" not in page
            assert "no number leaves without protection" not in page
        got = client.get("/api/table.csv?variables=sex")
        assert got.headers["x-discreet-protection"] == "none; published as it is"
        assert "nothing is protected" in client.get("/api/metadata").json()["unprotected"]
        lines = client.app.state.service.store.last_answers(5)  # type: ignore[attr-defined]
        assert {line["outcome"] for line in lines} == {"released as it is"}
    with servers.client(tmp_path) as client:
        assert "Every number here has been protected" in client.get("/").text
        assert "x-discreet-protection" not in client.get("/api/table.csv?variables=sex").headers
        assert client.get("/api/metadata").json()["unprotected"] == ""


def test_as_it_is_says_so_when_a_server_starts(tmp_path: Path) -> None:
    """On the keeper's terminal and in the workers' log."""
    with servers.running(tmp_path, AS_IT_IS):
        pass
    log = (tmp_path / "serve.log").read_text()
    assert "discreet: warning: nothing is protected" in log
    assert '"level": "warning", "event": "nothing is protected' in log


def test_a_low_risk_release_says_so_too() -> None:
    """T1 lets a table out as it is: its notes and its line of the record tell."""
    made = parse_policy('[risk]\nt1 = 1.0\n[[method]]\nname = "random-round"\nseed = 1\n')
    release = answer(dc.Table.of(TRUE, ["area", "job"]), "area,job", made)
    assert "no number was changed or hidden" in " ".join(release.notes)
    assert "T1" in made.openly


def test_a_started_policy_protects() -> None:
    """`discreet policy init` writes one that does, and a policy made in Python must, too."""
    assert parse_policy(template()).openly == ""
    with pytest.raises(dc.InputError, match="nothing would be protected"):
        Policy()
    with pytest.raises(dc.InputError, match="as it is"):
        Policy(publish="as it was")


def test_a_server_that_could_answer_nothing_does_not_start(tmp_path: Path, capfdbinary: Any) -> None:
    """The template's step needs a secret or record keys: without them the start says so, not every question."""
    data = dc.Microdata.of(pd.DataFrame({"sex": ["f", "m"] * 20}), dimensions=[SEX])
    cube.build(data, tmp_path / "cube")
    (tmp_path / "p.toml").write_text(template())
    store = f"sqlite:///{tmp_path}/s.db"
    arguments = ["--policy", str(tmp_path / "p.toml"), "--store", store, "--port", "0", "--workers", "1"]
    assert run(["serve", str(tmp_path / "cube"), *arguments]) == 2
    assert "takes its random numbers from a secret" in said(capfdbinary)


def test_a_base_that_leaves_a_measure_alone_hides_nothing() -> None:
    """Pay in euros and cents rounded to one cent is not given out as protected."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 20, "pay": [1.25, 7.5] * 20})
    table = dc.tabulate(dc.Microdata.of(frame, dimensions=[SEX], magnitudes=["pay"]), "sex", value="pay")
    check_hides(dc.protect(table, dc.Round(5)))
    with pytest.raises(dc.InputError, match="leaves this measure as it is"):
        check_hides(dc.protect(table, dc.Round(0.01)))


@pytest.mark.parametrize("base", [0.01, 5, 10_000])
def test_rounding_protects_no_sums(base: float) -> None:
    """The pay of somebody who is alone would be shown to within the base."""
    with pytest.raises(dc.InputError, match="'random-round' is for counts"):
        parse_policy(f'[[method]]\nname = "random-round"\nbase = {base}\n[measures.pay]\n')


@pytest.mark.parametrize(
    "text",
    [
        "k_disclosure(k=0)", "direct_disclosure(k=0)", "threshold(n=1) | threshold(n=2)", "threshold(n=1, zeros=True)",
        "p_percent(p=5)", "t_sensitivity(t=0)", "threshold(n=5) & dominance(n=1, k=75)", "pq(p=5, q=50)",
        "threshold(n=4) & group_disclosure()", "few_contributors(n=3)",
    ],
)  # fmt: skip
def test_a_rule_that_can_find_something_is_one(text: str) -> None:
    """Also with k = 0, which keeps lines from lying in one cell."""
    assert not calls_nothing(as_rule(text))


def test_k_of_0_hides_something() -> None:
    """All of a line in one cell, as large as it is: no outsider may learn that."""
    table = dc.Table.of([[20, 0, 0], [5, 7, 9], [8, 6, 4]], ["area", "job"])
    assert dc.protect(table, dc.Suppress("k_disclosure(k=0)")).hidden.any()


SWAP = '[[before]]\nname = "swap"\ngeography = "region"\nrate = 0.2\nseed = 3\n'
PRAM = '[[before]]\nname = "pram"\nstay = 0.7\nseed = 3\n'
STOCHASTIC = 'name = "stochastic"\nstay = 0.4\nseed = 3\n'
STEPS = {
    "swap": SWAP,
    "swap within jobs": SWAP + 'strata = ["job"]\n',
    "sex along": SWAP + 'also = ["sex"]\n',
    "within provinces": SWAP + 'strata = ["level 1"]\n',
    "pram": PRAM + 'variable = "sex"\n',
    "exact pram": PRAM + 'variable = "sex"\nexact = true\n',
    "pram within": PRAM + 'variable = "region"\nwithin = "level 1"\n',
}
ASKED = [
    "region", "region:level 1", "job", "sex", "region,job", "region:level 1,job", "region,sex", "job,sex",
    "region:level 1,sex", "region,job,sex",
]  # fmt: skip


def people() -> dc.Microdata:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.choice(codes, 400) for name, codes in CODES.items()})
    region = dc.Dimension.from_prefix("region", CODES["region"], [1])
    flat = [dc.Dimension.flat(name, CODES[name]) for name in ("job", "sex")]
    return dc.Microdata.of(frame, dimensions=[region, *flat])


CODES = {"region": ["na", "nb", "sc", "sd"], "job": ["x", "y"], "sex": ["f", "m"]}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_table_that_no_step_changes_is_refused_and_the_others_are_changed(step: str) -> None:
    """Decided from the codebook; in 400 records every table that a step can change is another one than the true."""
    made, data, refused = parse_policy(step), people(), []
    for query in ASKED:
        true = answer(data, query, parse_policy(AS_IT_IS)).values["count"]
        try:
            release = answer(data, query, made)
        except dc.Refused as said:
            refused.append(said.rule)
            continue
        assert (release.values["count"] != true).any(), query
    assert set(refused) == {"untouched"}
    assert len(refused) < len(ASKED)


def test_a_method_that_keeps_every_cell_answers_nothing() -> None:
    """Control groups of one cell each; as a step, the totals of its groups."""
    step = parse_policy("[[before]]\n" + STOCHASTIC + 'control = ["job"]\n')
    with pytest.raises(dc.Refused, match="nothing that the policy does"):
        answer(people(), "job", step)
    assert answer(people(), "job,sex", step).truthful is False
    made = parse_policy("[[method]]\n" + STOCHASTIC + 'control = ["region", "job"]\n')
    with pytest.raises(dc.Refused, match="nothing that the policy does"):
        answer(people(), "region,job", made)


def test_a_method_on_top_answers_what_the_step_leaves() -> None:
    """Then the method protects it."""
    both = STEPS["pram"] + '[[method]]\nname = "random-round"\nbase = 7\nseed = 1\n'
    assert (answer(people(), "region,job", parse_policy(both)).values["count"] % 7 == 0).all()


NOTHING = {
    "a rule that finds nothing": ["--rule", "threshold(n=1)"],
    "two rules that never meet": ["--rule", "threshold(n=3) & threshold(n=1)"],
    "round": ["--method", "round", "-P", "base=1"],
    "round in parts": ["--method", "round", "-P", "base=1", "--in-parts"],
    "random-round": ["--method", "random-round", "-P", "base=1", "-P", "seed=1"],
    "stochastic": ["--method", "stochastic", "-P", "stay=1", "-P", "seed=1"],
    "control of every cell": ["--method", "stochastic", "-P", 'control=["area", "job"]', "-P", "seed=1"],
    "pram": ["--method", "pram", "-P", "variable=job", "-P", "stay=1", "-P", "seed=1"],
    "swap": ["--method", "swap", "-P", "geography=area", "-P", "rate=0", "-P", "seed=1"],
    "swap in its strata": ["--method", "swap", "-P", "geography=area", "-P", 'strata=["job"]', "-P", "seed=1"],
    "sample": ["--method", "sample", "-P", "fraction=1", "-P", "seed=1"],
    "redesign": ["--method", "redesign", "-P", "merge={}"],
    "global-recode": ["--method", "global-recode", "-P", "variable=job", "-P", "groups={}"],
    "recoded to what it is": ["--method", "global-recode", "-P", "variable=job", "-P", "level=job"],
}


@pytest.mark.parametrize("more", NOTHING.values(), ids=NOTHING)
def test_protect_writes_no_true_table_under_another_name(more: list[str], folder: Path, capfdbinary: Any) -> None:
    """An error that says how to ask for it, and no file."""
    assert run(["protect", "m.csv", "--by", "area,job", *more, "-o", "out.csv"]) == 2
    assert "--method publish" in said(capfdbinary)
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("more", [[], ["--in-parts"]])
def test_protect_as_it_is_says_so(more: list[str], folder: Path, capfdbinary: Any) -> None:
    """Asked for by name it is written, and said."""
    assert run(["protect", "m.csv", "--by", "area,job", "--method", "publish", "-o", "out.csv", *more]) == 0
    assert "warning: this table is not protected: it is published as it is" in said(capfdbinary)
    assert b"b,x,1," in (folder / "out.csv").read_bytes()


PROGRAMME = """
[programme]
name = "p"
output = "out"
[source.people]
data = "m.csv"
codebook = "book.toml"
[defaults]
source = "people"
{how}
[[table]]
name = "t"
by = ["area", "job"]
"""
BOOK = '[[dimension]]\nname = "area"\ncodes = ["a", "b"]\n[[dimension]]\nname = "job"\ncodes = ["x", "y"]\n'


@pytest.mark.parametrize(
    "how",
    [
        'rule = "threshold(n=1)"',
        'rule = "threshold(n=3) & threshold(n=1)"',
        'method = "round"\nparameters = {base = 1}',
        'method = "redesign"\nparameters = {merge = {}}',
        'method = "swap"\nparameters = {geography = "area", strata = ["job"], seed = 1}',
        'method = "sample"\nparameters = {fraction = 1, seed = 1}',
    ],
)
def test_a_programme_does_not_publish_the_truth_under_another_name(how: str, folder: Path, capfdbinary: Any) -> None:
    """Found when it is read."""
    (folder / "book.toml").write_text(BOOK)
    (folder / "p.toml").write_text(PROGRAMME.format(how=how))
    assert run(["run", "p.toml", "--jobs", "1"]) == 2
    assert 'method = "publish"' in said(capfdbinary)
    assert not (folder / "out").exists()


def test_a_programme_says_what_it_publishes_as_it_is(folder: Path, capfdbinary: Any) -> None:
    """On the terminal, in the page and in the report for machines."""
    (folder / "book.toml").write_text(BOOK)
    (folder / "p.toml").write_text(PROGRAMME.format(how='method = "publish"'))
    assert run(["run", "p.toml", "--jobs", "1"]) == 0
    assert "warning: not protected, published as they are: t" in said(capfdbinary)
    assert json.loads((folder / "out" / "report.json").read_text())["unprotected"] == ["t"]
    assert "Not protected:" in (folder / "out" / "report.html").read_text()
