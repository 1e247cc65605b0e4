"""Pre-tabular methods under a policy, done once: JOS15 section 2.2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet import cli, methods
from discreet.policy import answer, evidence, parse_policy
from discreet.server.counting import cube
from tests import servers
from tests.papers.asking import AS_IT_IS, ROUND, own_r2

SWAP = '[[before]]\nname = "swap"\ngeography = "region"\nrate = {rate}\n'
PRAM = '[[before]]\nname = "pram"\nvariable = "occupation"\nstay = {rate}\n'
STOCHASTIC = '[[before]]\nname = "stochastic"\nstay = {rate}\ncontrol = ["region"]\n'
STEPS = [(SWAP, 0.1), (PRAM, 0.8), (STOCHASTIC, 0.5)]
TOLD = '[utility]\ntold = "expected"\n'


@cache
def people() -> dc.Microdata:
    return dc.datasets.census(n=30_000)


def inner(release: dc.Release) -> Any:
    """The published inner counts, in a row."""
    leaves = np.all(
        [[d.codes[c] in d.leaves for c in release.codes[:, k]] for k, d in enumerate(release.dimensions)], axis=0
    )
    return release.values["count"][leaves]


@pytest.mark.parametrize(("step", "rate"), STEPS)
def test_a_step_before_counting_is_done_once(step: str, rate: float) -> None:
    """All tables are sums of one changed data set: margins of two answers agree to the unit, and again tomorrow."""
    made = parse_policy(step.format(rate=rate))
    wide, narrow = (answer(people(), q, made).cells for q in ("region,occupation,sex", "region,occupation"))
    both = wide[wide["sex"] == "Total"].set_index(["region", "occupation"])["count"]
    assert both.sort_index().tolist() == narrow.set_index(["region", "occupation"])["count"].sort_index().tolist()
    fresh = dc.datasets.census(n=30_000)
    assert answer(fresh, "region,occupation", made).to_csv() == answer(people(), "region,occupation", made).to_csv()


@pytest.mark.parametrize(("step", "rate"), STEPS)
def test_a_step_is_the_method_on_the_records(step: str, rate: float) -> None:
    """What is published are the counts of the records that the method itself gives, keyed by their record keys."""
    shown = answer(people(), "region,occupation", parse_policy(step.format(rate=rate))).values["count"]
    if step is STOCHASTIC:
        true = dc.tabulate(people(), by=["region", "occupation"]).count
        assert shown[0] == true[0], "the distribution of counts is kept, and so is their sum"
        assert (shown != true).any()
        return
    changed = (dc.Swap("region", rate=rate) if step is SWAP else dc.Pram("occupation", stay=rate))(people())
    assert shown.tolist() == dc.tabulate(changed, by=["region", "occupation"]).count.tolist()


@pytest.mark.parametrize(("step", "rate"), STEPS)
@pytest.mark.parametrize("query", ["region,occupation,education", "sex,age", "region,age"])
def test_the_stated_quality_is_that_of_the_change(step: str, rate: float, query: str) -> None:
    """1 - HD/sqrt(N) of the true table against the one shown, from the outside: what is stated is near it."""
    made = parse_policy(TOLD + step.format(rate=rate))
    if {SWAP: "region", PRAM: "occupation"}.get(step, "") not in query:
        with pytest.raises(dc.Refused, match="nothing that the policy does changes this table"):
            answer(people(), query, made)
        return
    shown, true = (inner(answer(people(), query, p)) for p in (made, parse_policy(AS_IT_IS)))
    utility = 1 - math.sqrt(((np.sqrt(true) - np.sqrt(shown)) ** 2).sum() / 2 / true.sum())
    found = evidence(people(), query, made)
    assert found.utility is not None
    assert 1 - found.utility < 1.7 * (1 - utility) + 0.01
    assert 1 - found.utility > 0.6 * (1 - utility) - 0.01
    assert f"Expected utility {found.utility:.2f}" in " ".join(answer(people(), query, made).notes)
    assert "very high" not in " ".join(answer(people(), query, made).notes)
    assert abs(found.after - own_r2(true, shown)) < 0.05


@cache
def typical(share: float) -> dc.Microdata:
    """Records of 4 regions and 9 occupations, a share of them in occupations that are typical of their region."""
    rng, n = np.random.default_rng(1), 60_000
    region = rng.integers(0, 4, n)
    job = np.where(rng.random(n) < share, region * 2 + rng.integers(0, 2, n), rng.integers(0, 9, n))
    frame = pd.DataFrame({"region": region.astype(str), "occupation": job.astype(str), "id": np.arange(n)})
    names = {"region": "0123", "occupation": "012345678"}
    dimensions = [dc.Dimension.flat(name, list(codes)) for name, codes in names.items()]
    return dc.Microdata.of(frame, dimensions=dimensions, unit="id", secret="sixteen letters!")


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_a_swap_that_destroys_structure_says_so(share: float, rate: float) -> None:
    """Swapped data have less structure left to lose: stated is what the swap has cost, not what another would."""
    by, data = ["region", "occupation"], typical(share)
    true, shown = (dc.tabulate(d, by=by).array() for d in (data, dc.Swap("region", rate=rate)(data)))
    utility = 1 - math.sqrt(((np.sqrt(true) - np.sqrt(shown)) ** 2).sum() / 2 / true.sum())
    assert evidence(data, ",".join(by), parse_policy(SWAP.format(rate=rate))).utility == pytest.approx(
        utility, abs=0.03
    )


@pytest.mark.parametrize("text", [SWAP.format(rate=0.1) + 'profile = ["occupation"]\n', SWAP.format(rate=0.4)])
def test_a_swap_that_cannot_be_inverted_states_no_quality(text: str) -> None:
    """By other variables, or of too many: nobody can tell what it cost, so nothing is claimed, and T3 refuses."""
    notes = " ".join(answer(people(), "region,sex", parse_policy(text)).notes)
    assert "quality:" not in notes
    assert "What that costs is not stated" in notes
    with pytest.raises(dc.Refused, match="cost more"):
        answer(people(), "region,sex", parse_policy("[risk]\nt3 = 0.9\n" + text))


def test_a_changed_table_says_so_and_is_not_as_it_is() -> None:
    """Words of the method, a note, no claim of truth; T3 sees what the change costs."""
    made = parse_policy(PRAM.format(rate=0.5))
    release = answer(people(), "region,occupation,education", made)
    assert release.method == "categories changed at random before counting"
    assert release.truthful is False
    assert made.openly == ""
    assert "before counting" in " ".join(release.notes)
    assert "low" in " ".join(release.notes)
    with pytest.raises(dc.Refused, match="cost more"):
        answer(people(), "region,occupation,education", parse_policy("[risk]\nt3 = 0.1\n" + PRAM.format(rate=0.5)))
    answer(people(), "region,occupation", parse_policy("[risk]\nt3 = 0.9\n" + PRAM.format(rate=0.5)))


def test_a_step_and_a_method_state_no_quality() -> None:
    """What both cost together cannot be worked out from the table: nothing is claimed, and T3 is an error at once."""
    both = SWAP.format(rate=0.1) + '[[method]]\nname = "random-round"\nbase = 3\n'
    release = answer(people(), "region,sex", parse_policy(both))
    assert release.method == "records swapped before counting; randomly rounded to base 3"
    assert (release.values["count"] % 3 == 0).all()
    assert "quality:" not in " ".join(release.notes)
    with pytest.raises(dc.InputError, match="t3"):
        parse_policy("[risk]\nt3 = 0.1\n" + both)


@dataclass(frozen=True)
class Same:
    """A step that gives the same people whatever the truth is; done again, it moves the people it is given."""

    contract: ClassVar[dc.Contract] = dc.Contract(
        acts_on="records", truthful=False, cellwise=False, transition=False, step="places", words="the same"
    )
    even: ClassVar[bool] = True
    geography: str
    seed: int | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.geography,)

    def __call__(self, data: dc.Microdata) -> dc.Microdata:
        if self.seed is None:
            return few(range(60), 7)
        counts = dc.tabulate(data, by=["region", "job"]).array()
        rows = [(r, j) for (r, j), n in np.ndenumerate(counts[::-1]) for _ in range(n)]
        return few(range(len(rows)), 0, rows)


def few(ids: Any, seed: int, rows: Any = None) -> dc.Microdata:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [2, 3], (len(ids), 2)) if rows is None else rows
    frame = pd.DataFrame(np.asarray(rows).astype(str), columns=["region", "job"]).assign(id=list(ids))
    dimensions = [dc.Dimension.flat("region", ["0", "1"]), dc.Dimension.flat("job", ["0", "1", "2"])]
    return dc.Microdata.of(frame, dimensions=dimensions, unit="id")


def test_what_is_decided_is_a_function_of_the_changed_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any true data that a step turns into the same get the same evidence, notes and bytes."""
    monkeypatch.setattr(methods, "_registered", {})
    dc.register("same", Same)
    made = parse_policy(TOLD + '[[before]]\nname = "same"\ngeography = "region"\n')
    seen = set()
    for seed in range(4):
        data = few(range(50 + 20 * seed), seed)
        release = answer(data, "region,job", made)
        seen.add((release.to_csv(), release.notes, repr(evidence(data, "region,job", made))))
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[before]]\nname = "swapp"\n', "did you mean 'swap'"),
        ('[[before]]\nname = "swap"\ngeografy = "region"\n', "did you mean 'geography'"),
        ('[[before]]\nname = "swap"\n', "geography"),
        (SWAP.format(rate=0), "changes almost nothing"),
        (PRAM.format(rate=1), "changes almost nothing"),
        (STOCHASTIC.format(rate=1), "changes almost nothing"),
        (SWAP.format(rate=0.1) + PRAM.format(rate=0.5), "cannot be worked out"),
        (AS_IT_IS + SWAP.format(rate=0.1), "leave one"),
        ('[[method]]\nname = "swap"\ngeography = "region"\n', r"\[\[before\]\]"),
        ("[risk]\nt1 = 0.5\n" + SWAP.format(rate=0.1), "t1"),
        ('[[before]]\nname = "publish"\n', "not a step"),
    ],
)
def test_a_step_that_cannot_be_is_found_when_the_policy_is_read(text: str, message: str) -> None:
    """`policy check` accepts nothing that every question would then refuse."""
    with pytest.raises(dc.InputError, match=message):
        parse_policy(text)


def test_a_server_answers_from_the_changed_cube(tmp_path: Path) -> None:
    """Built with the policy it gives the library's bytes; a cube without the step, or with another, is refused."""
    made = parse_policy(SWAP.format(rate=0.1))
    cube.build(people(), tmp_path / "cube", made)
    table, _ = cube.read_cube(tmp_path / "cube")
    assert answer(table, "region,sex", made).to_csv() == answer(people(), "region,sex", made).to_csv()
    assert evidence(table, "region,sex", made) == evidence(people(), "region,sex", made)
    for other in (SWAP.format(rate=0.2), AS_IT_IS, ROUND.format(base=3, seed=1)):
        with pytest.raises(dc.InputError, match="other steps"):
            answer(table, "region,sex", parse_policy(other))
    cube.build(people(), tmp_path / "raw")
    raw, _ = cube.read_cube(tmp_path / "raw")
    with pytest.raises(dc.InputError, match="changes records"):
        answer(raw, "region,sex", made)
    stochastic = parse_policy(STOCHASTIC.format(rate=0.5))
    assert answer(raw, "region,sex", stochastic).to_csv() == answer(people(), "region,sex", stochastic).to_csv()
    twin = next(name for name in table.statistics if name.startswith("again"))
    with pytest.raises(dc.InputError, match="no measure"):
        dc.protect(table, dc.Publish(measures=(twin,)))
    with servers.client(tmp_path, SWAP.format(rate=0.1), cube=str(tmp_path / "cube")) as client:
        got = client.get("/api/table.csv?variables=region,sex")
        assert got.content == answer(table, "region,sex", made).to_csv()
        assert "x-discreet-protection" not in got.headers
        page = client.get("/table?variables=region,sex").text
        assert "changed a little at random before anything was counted" in page
        assert "records swapped before counting" in page


def test_policy_check_knows_what_every_question_would_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Variables of a step, weights of a sample, record keys: said before anybody asks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.toml").write_text('[[dimension]]\nname = "region"\ncodes = ["a", "b"]\n')
    for text, code, says in (
        (SWAP.format(rate=0.1).replace("region", "regoin"), 2, "did you mean 'region'"),
        (PRAM.format(rate=0.5), 2, "unknown variable 'occupation'"),
        (AS_IT_IS + '[risk]\npopulation = "polya"\n', 2, "names no weight"),
        (SWAP.format(rate=0.1), 0, "name a column of random keys"),
        (ROUND.format(base=3, seed=1), 0, "well formed"),
    ):
        (tmp_path / "p.toml").write_text(text)
        assert cli.run(["policy", "check", "p.toml", "--codebook", "book.toml"]) == code
        assert says in capfd.readouterr().err
    (tmp_path / "t.csv").write_text("region,count,status\na,5,\nb,6,\n")
    (tmp_path / "p.toml").write_text(SWAP.format(rate=0.1))
    assert cli.run(["search", "t.csv", "--ready", "--policy", "p.toml"]) == 2
    assert "step before counting" in capfd.readouterr().err
