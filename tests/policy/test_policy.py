"""Query, Policy and answer(): what is allowed, and that no decision tells of a true count."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import methods
from discreet.policy import Policy, Query, answer, answer_recorded, dry_run, parse_policy, replay, screen, template
from discreet.policy.answering import unfiltered
from discreet.policy.sections import QueryRules, TableRules

AREA = dc.Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S", "s2": "S"})
SEX = dc.Dimension.flat("sex", ["f", "m"])
AGE = dc.Dimension.flat("age", ["young", "old"])
YEAR = dc.Dimension.flat("year", ["1", "2"], total=None)
DIMENSIONS = (AREA, SEX, AGE)


def people(n: int = 400, seed: int = 1) -> dc.Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({d.name: rng.choice(d.leaves, n) for d in DIMENSIONS} | {"id": np.arange(n)})
    return dc.Microdata.of(frame, dimensions=DIMENSIONS, unit="id", secret="sixteen letters!")


def policy(text: str = "") -> Policy:
    return parse_policy('[[method]]\nname = "random-round"\nbase = 3\n' + text)


# -- queries ----------------------------------------------------------------------------------------------------


@given(st.permutations(["sex", "area:level 1", "age"]), st.permutations(["a", "b", "c"]))
def test_order_does_not_matter(names: list[str], codes: list[str]) -> None:
    """Variables and codes in any order are one query with one hash, which reads back."""
    query = Query.of(names, where={"x": codes})
    assert query == Query.of("age, area:level 1, sex", where="x=a|b|c")
    assert query.digest == Query.of(",".join(names), where=[f"x={'|'.join(codes)}"]).digest
    assert Query.from_dict(json.loads(query.canonical)) == query


def test_a_code_may_hold_a_plus() -> None:
    """As in an age of 100 and over."""
    assert Query.of("sex", where="age=100+").where == (("age", ("100+",)),)


def test_the_hash_is_stable() -> None:
    """It is written into records, so it may not change between versions."""
    assert Query.of("sex").digest == "2acb38cfef643356345cc977b1977388d65618b1117c89eae91b75b4bf96ea12"
    assert Query.of("sex").canonical == '{"measure":"count","variables":{"sex":"sex"},"where":{}}'


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Query.of(""), "at least one variable"),
        (lambda: Query.of("sex,sex"), "named twice"),
        (lambda: Query.of("sex", where="sex=f"), "also its population"),
        (lambda: Query.of("sex", where="age"), "VARIABLE=CODE"),
        (lambda: Query.of("sxe").resolved(DIMENSIONS), "did you mean 'sex'"),
        (lambda: Query.of("area:levle 1").resolved(DIMENSIONS), "did you mean 'level 1'"),
        (lambda: Query.of("sex", where="area=X").resolved(DIMENSIONS), "not a code"),
        (lambda: Query.of("sex", where="area=n1|N").resolved(DIMENSIONS), "no level of the codebook"),
    ],
)
def test_an_impossible_query_is_an_input_error(make: Any, message: str) -> None:
    """Unknown names are no matter of policy."""
    with pytest.raises(dc.InputError, match=message):
        make()


# -- policies ---------------------------------------------------------------------------------------------------


def test_the_template_is_the_default_policy() -> None:
    """Every key is there, and what it says is what a policy without it does; only a method has to be chosen."""
    table, query = TableRules(min_population=100), QueryRules(max_dimensions=2)  # recommended
    before = (("synthetic", {"v": 3, "group": 2000}),)
    assert parse_policy(template()) == Policy(before=before, table=table, query=query)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[query]\nmax_cels = 3", "line 2: unknown key 'max_cels' in 'query'; did you mean 'max_cells'"),
        ("[qery]\nmax_cells = 3", "line 1: unknown key 'qery'.*did you mean 'query'"),
        ("[query]\nmax_cells = 0", "line 2: 'max_cells' must be at least 1"),
        ("[query]\nmax_cells = 'x'", "must be a whole number"),
        ("utility = 'all'", "must be one of 'band', 'expected', 'none'"),
        ("[risk]\nt2 = 1.5", "must be at most 1"),
        ("[query", "line 1: not valid TOML"),
        ("[[method]]\nbase = 3", "has no 'name'"),
        ("[[method]]\nname = 'random-ruond'", "did you mean 'random-round'"),
        ("[[method]]\nname = 'random-round'\nbse = 3", "line 3: .*did you mean 'base'"),
        ("[[method]]\nname = 'keep'\n[[method]]\nname = 'random-ruond'", "line 2: no method 'keep'"),
        ("[[method]]\nname = 'random-round'\nbase = 3\n\n[[method]]\nname = 'round'\nbse = 3", "line 7: .*'base'"),
        ("[[rule]]\nrule = 'threshold'\nn = 3\n[[rule]]\nrule = 'threshold'\nm = 3", "line 6: .*no parameter 'm'"),
        ("[[rule]]\nrule = 'threshold'\nn = 0", "line 3: the threshold"),
        ("[[rule]]\nrule = 'dominance'\nn = 1", "line 2: .*needs the parameter 'k'"),
        ("[[before]]\nname = 'swap'\nraet = 0.1", "line 3: .*did you mean 'rate'"),
        ("title = 't'\n\n[default]\nt2 = 1", "line 3: unknown key 'default'"),
        ("[risk]\nt2 = 1\n[table]\nt2 = 1", "line 4: unknown key 't2' in 'table'"),
        ("[[method]]\nname = 'random-round'\nsecret = 'in the file'", "no parameter 'secret'"),
        ("[[rule]]\nrule = 'treshold'\nn = 3", "line 2: .*threshold"),
        ("secret = { env = 'NOT_THERE' }", "environment variable 'NOT_THERE'"),
    ],
)
def test_a_bad_policy_is_refused_by_line(text: str, message: str) -> None:
    """An unknown key names the nearest known one."""
    with pytest.raises(dc.InputError, match=message):
        parse_policy(text)


def test_a_policy_about_unknown_variables_is_refused() -> None:
    """Checked against the codebook when it is loaded."""
    for text in (
        "disallowed = ['diagnosis']",
        "forbidden = [['sex', 'diagnosis']]",
        "required = { diagnosis = ['sex'] }",
    ):
        with pytest.raises(dc.InputError, match="unknown variable 'diagnosis'"):
            policy(f"[query]\n{text}").check(DIMENSIONS)


def test_the_digest_changes_with_the_policy_but_not_with_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the secret is in no text of it."""
    monkeypatch.setenv("KEPT", "XSECRETX sixteen letters")
    one, other = replace(policy(), secret=b"XSECRETX" * 3), policy()
    assert one.digest == other.digest != policy("[table]\nmin_population = 3").digest
    assert "XSECRETX" not in repr(one)
    assert parse_policy('secret = { env = "KEPT" }\npublish = "as it is"').secret == b"XSECRETX sixteen letters"


# -- answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "text", "rule"),
    [
        (Query.of("sex,age,area"), "[query]\nmax_dimensions = 2", "max_dimensions"),
        (Query.of("sex", where="age=old;area=N"), "", "max_filters"),
        (Query.of("sex", where="area=n1|s1"), "", "nested_only"),
        (Query.of("sex,age"), "[query]\ndisallowed = ['age']", "disallowed"),
        (Query.of("sex", where="age=old"), "[query]\ndisallowed = ['age']", "disallowed"),
        (Query.of("sex", where="age=old"), "[query]\nforbidden = [['age', 'sex']]", "forbidden"),
        (Query.of("sex"), "[query]\nrequired = { sex = ['area'] }", "required"),
        (Query.of("sex,area"), "[query]\nmax_cells = 14", "max_cells"),
        (Query.of("sex", where="area=n1"), "[table]\nmin_population = 5000", "min_population"),
        (Query.of("sex"), "[table]\nmin_mean = 5000", "min_mean"),
        (Query.of("sex,age,area"), "[table]\nmax_small_share = 0.5\nsmall = 300", "max_small_share"),
        (Query.of("sex"), "[risk]\nt2 = 0.0", "t2"),
        (Query.of("sex,age,area"), "[risk]\nt3 = 0.0", "t3"),
    ],
)
def test_every_rule_refuses_with_a_reason_and_a_hint(query: Query, text: str, rule: str) -> None:
    """The rule's name, why, and what to change; never a count of the data."""
    with pytest.raises(dc.Refused) as caught:
        answer(people(), query, policy(text))
    assert caught.value.rule == rule
    assert caught.value.reason
    assert caught.value.hint


@given(st.sets(st.sampled_from(["n1", "n2", "s1", "s2"]), min_size=1), st.integers(0, 200))
def test_a_filter_opens_no_code_that_would_be_refused_alone(codes: set[str], least: int) -> None:
    """Each of several codes is shown by itself: all are answered, or at least one of them is refused by itself too."""
    made = policy(f"[query]\nnested_only = false\n[table]\nmin_population = {least}")
    refused = []
    for some in ([code] for code in sorted(codes)):
        refused += [refusal_of(Query.of("sex", where={"area": some}), made)]
    together = refusal_of(Query.of("sex", where={"area": sorted(codes)}), made)
    assert (together == "min_population") == ("min_population" in refused)
    assert together in ("min_population", None)


def refusal_of(query: Query, made: Policy) -> str | None:
    try:
        answer(people(), query, made)
    except dc.Refused as refused:
        return refused.rule
    return None


def test_a_filter_of_several_codes_is_a_dimension() -> None:
    """It counts among the dimensions and multiplies the cells, exactly as the release has them; the hint names it."""
    query = Query.of("sex, age", where="area=n1|s1|s2")
    asked = "[query]\nnested_only = false\nmax_dimensions = {}\nmax_cells = {}"
    release = answer(people(), query, policy(asked.format(3, 10_000)))
    assert query.resolved(DIMENSIONS).cells == len(release)
    assert len(release.dimensions) == 3
    assert refusal_of(query, policy(asked.format(3, len(release)))) is None
    assert refusal_of(query, policy(asked.format(3, len(release) - 1))) == "max_cells"
    with pytest.raises(dc.Refused, match=r"'area'.*for everyone") as caught:
        answer(people(), query, policy(asked.format(2, 10_000)))
    assert caught.value.rule == "max_dimensions"


def test_rules_of_the_query_are_decided_without_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dry run says so before anything is read."""
    data = people()
    monkeypatch.setattr(dc.Microdata, "base_cells", None)
    with pytest.raises(dc.Refused):
        answer(data, Query.of("sex,age,area"), policy("[query]\nmax_dimensions = 1"))
    assert dry_run(data, "sex,area:level 1", policy()).cells == 9


def test_records_and_the_cube_give_the_same_bytes() -> None:
    """Whoever asks, in whatever order, from records or from the cube of all variables."""
    data = people()
    cube = dc.tabulate(data, by=["area", "sex", "age"])
    for query in (Query.of("age,sex"), Query.of("sex", where="area=N"), Query.of("area:level 1,age", where="sex=f")):
        ways = {answer(source, query, policy()).to_csv() for source in (data, cube)}
        assert len(ways) == 1
    assert answer(data, "sex,age", policy()).to_csv() == answer(cube, "age,sex", policy()).to_csv()


def test_the_answer_is_the_protected_table_of_the_population() -> None:
    """A filtered answer is a slice of the unfiltered protected one, in the asked detail."""
    data, made = people(), policy()
    query = Query.of("sex,age", where="area=N")
    release = answer(data, query, made)
    whole = made.make(0)(unfiltered(data, query.resolved(data.dimensions)))
    part = whole.cells[whole.cells["area"].astype(str) == "N"]
    assert release.values["count"].tolist() == part["published count"].tolist()
    assert [d.name for d in release.dimensions] == ["sex", "age"]
    assert "Population: area = N." in release.notes


def test_a_variable_without_total_must_be_asked() -> None:
    """The cube cannot sum over it."""
    cube = dc.Table.of(np.full((2, 2), 9), [SEX, YEAR])
    made = Policy(publish="as it is")
    with pytest.raises(dc.Refused, match="no total"):
        answer(cube, "sex", made)
    assert len(answer(cube, "sex,year", made)) == 6


def test_magnitudes_are_judged_by_protected_counts() -> None:
    """A rule about people is applied to the counts behind the totals, protected in the same way."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 50, "pay": np.arange(100.0), "id": np.arange(100)})
    data = dc.Microdata.of(frame, dimensions=[SEX], unit="id", magnitudes=["pay"], secret="sixteen letters!")
    query = Query.of("sex", measure="pay")
    pay = "[measures.pay]\nnoise = { seed = 1 }\n"
    assert answer(data, query, policy(pay)).values["pay"].tolist()[0] != 4950
    with pytest.raises(dc.Refused) as caught:
        answer(data, query, policy("[table]\nmin_population = 200\n" + pay))
    assert caught.value.rule == "min_population"
    assert answer(data, query, policy("[table]\nmin_population = 50\n" + pay)).values["pay"].shape == (3,)
    with pytest.raises(dc.InputError, match="wage"):
        answer(data, Query.of("sex", measure="wage"), policy())


def test_screening_finds_what_is_never_allowed() -> None:
    """Variables at each level, with the rule that refuses them."""
    found = screen(people(), policy("[query]\nmax_cells = 4"))
    assert found.set_index(["variable", "level"])["allowed"].to_dict() == {
        ("area", "level 1"): True, ("area", "area"): False, ("sex", "sex"): True, ("age", "age"): True,
    }  # fmt: skip


def test_t1_publishes_low_risk_tables_as_they_are() -> None:
    """Decided on the protected table's risk."""
    made = policy("[risk]\nt1 = 0.9")
    assert answer(people(), "sex", made).method == "published as it is"
    assert answer(people(), "sex", policy("[risk]\nt1 = 0.0")).method != "published as it is"


def test_search_takes_the_best_expected_utility() -> None:
    """Base 3 costs less than base 50; without search the first that passes is taken."""
    two = '[[method]]\nname = "random-round"\nbase = 50\n[[method]]\nname = "random-round"\nbase = 3\n'
    assert "50" in answer(people(), "sex", parse_policy(two)).method
    assert "base 3" in answer(people(), "sex", parse_policy("search = true\n" + two)).method
    assert "base 3" in answer(people(), "sex,area", parse_policy(two + "[risk]\nt3 = 0.05")).method


# -- what decisions tell ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixed:
    """A method that shows the same table whatever the truth is."""

    contract = dc.Contract(acts_on="table", truthful=False, cellwise=False, transition=True)

    def __call__(self, table: dc.Table) -> dc.Protected:
        shown = table.layout.aggregate(np.full(table.layout.n_inner, 30) + 3 * np.arange(table.layout.n_inner))
        return dc.Protected(table, {"count": shown}, np.full(len(table), "s"), "fixed")

    def transition(self, table: dc.Table | None = None) -> dc.Transition:
        return dc.Transition.rounding(3)


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["band", "expected", "none"]))
def test_what_is_seen_is_a_function_of_the_protected_table(seed: int, utility: str) -> None:
    """A10 and A13: data that are shown alike are answered alike, to the last byte of notes and refusals."""
    dc.register("fixed", Fixed)
    try:
        limits = "[table]\nmin_population = 100\nmax_small_share = 0.5\n[risk]\nt1 = 0.001\nt2 = 0.5\nt3 = 0.5\n"
        made = parse_policy(f"utility = '{utility}'\n[[method]]\nname = 'fixed'\n" + limits)
        seen: set[tuple[Any, ...]] = set()
        for data in (people(50, seed), people(4000, seed + 1)):
            for query in (Query.of("sex,age"), Query.of("sex", where="area=n1"), Query.of("area")):
                try:
                    release = answer(data, query, made)
                    seen.add((query, release.to_csv(), release.notes, release.method))
                except dc.Refused as refused:
                    seen.add((query, str(refused)))
        assert len(seen) == 3
    finally:
        del methods._registered["fixed"]


def test_a_refusal_near_its_threshold_tells_little_of_one_record() -> None:
    """A13: how well can one record's presence be told from refused or not, at a threshold right between?

    A rule on the true count tells it every time; ours is decided on the protected count, whose noise hides it.
    """
    rng = np.random.default_rng(5)
    truth, guesses = [], []
    for trial in range(120):
        n = 60
        frame = pd.DataFrame({"sex": ["f"] * n + ["m"] * 40, "id": [f"{trial}-{k}" for k in range(n + 40)]})
        there = bool(rng.integers(2))
        frame = frame if there else frame.iloc[1:]
        data = dc.Microdata.of(frame, dimensions=[SEX], unit="id", secret="sixteen letters!")
        made = parse_policy("[table]\nmin_population = 100\n[[method]]\nname = 'random-round'\nbase = 3")
        try:
            answer(data, "sex", made)
            guesses.append(True)
        except dc.Refused:
            guesses.append(False)
        truth.append(there)
    accuracy = float(np.mean(np.array(truth) == np.array(guesses)))
    assert accuracy < 0.8, "a rule on true counts would be right every time"


# -- the record -------------------------------------------------------------------------------------------------


def test_the_record_replays_to_the_same_bytes(tmp_path: Path) -> None:
    """Outcomes and digests, never values; a changed datum is noticed."""
    path = tmp_path / "record.jsonl"
    made = policy("[table]\nmin_population = 20")
    for query in ("sex,age", "area"):
        answer_recorded(people(), query, made, path, who="ann", version="v1")
    with pytest.raises(dc.Refused):
        answer_recorded(people(), "sex,age,area", policy("[query]\nmax_dimensions = 1"), path, who="bob", version="v1")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["outcome"] for line in lines] == ["released", "released", "refused"]
    assert set(lines[0]) == {"when", "who", "query", "policy", "data", "outcome", "rule", "digest"}
    verdicts = [r.found for r in replay(path, people(), made, version="v1")]
    assert verdicts == ["same", "same", "another policy"]
    assert {r.found for r in replay(path, people(seed=9), made, version="v1")} == {
        "differs: now released", "another policy",
    }  # fmt: skip
    assert next(r.found for r in replay(path, people(), made, version="v2")) == "another data version"
    path.write_text("nonsense\n")
    with pytest.raises(dc.InputError, match="line 1"):
        list(replay(path, people(), made))
