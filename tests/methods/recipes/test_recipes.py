"""The recipes that offices publish, by their published examples, and what each leaves known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.cli import run
from discreet.methods import method, method_class, method_names, parameters, recipe_names
from discreet.methods.contract import check_class, transition_of
from discreet.policy import answer, parse_policy
from discreet.release import Status

NAMES = recipe_names()


def made(name: str, **stated: Any) -> Any:
    seed = {"seed": 1} if "seed" in parameters(name) else {}
    return method(name, **seed, **stated)


def shown(table: dc.Table, recipe: Any) -> list[float | None]:
    values = dc.protect(table, recipe).published["count"].astype(float)
    return [None if np.isnan(v) else float(v) for v in values]


# -- published examples -----------------------------------------------------------------------------------------


def test_opensafely_table_before_and_after() -> None:
    """docs.opensafely.org, "Rounding counts": heart disease and population by age band, before and after.

    Redacted first (3 of 4 age bands of heart disease are shown), then rounded; totals are the sum of rounded counts.
    """
    ill = shown(dc.Table.of([3, 8, 16, 23], ["age"]), dc.OpenSAFELY())
    people = shown(dc.Table.of([18, 23, 31, 44], ["age"]), dc.OpenSAFELY())
    assert ill == [50, None, 10, 15, 25]
    assert people == [120, 20, 25, 30, 45]


def test_opensafely_says_why_it_redacts_up_to_seven() -> None:
    """The same page: redacting counts up to 5 and rounding to 5 left a shown 5 to be 6 or 7; up to 7 does not."""
    table = dc.Table.of([6, 40, 40], [dc.Dimension.flat("age", ["a", "b", "c"], total=None)])
    old = dc.protect(table, dc.OpenSAFELY(most=5))
    assert old.published["count"][0] == 5
    assert (dc.audit(old).lower[0], dc.audit(old).upper[0]) == (6, 7)
    now = dc.protect(table, dc.OpenSAFELY())
    assert (dc.audit(now).lower[0], dc.audit(now).upper[0]) == (1, 7)


def test_opensafely_midpoint_mapping() -> None:
    """The same page, "Midpoint 6 rounding": 0 stays, 1-6 become 3, 7-12 become 9, 13-18 become 15; x - 2 to x + 3."""
    counts = np.arange(19)
    table = dc.Table.of(counts, [dc.Dimension.flat("n", [str(n) for n in counts], total=None)])
    done = dc.protect(table, dc.MidpointRound())
    assert done.published["count"].tolist() == [0] + [3] * 6 + [9] * 6 + [15] * 6
    assert done.room.lower is not None
    assert done.room.upper is not None
    assert {(s - low, high - s) for s, low, high in zip(
        done.published["count"][1:].tolist(), done.room.lower[1:].tolist(), done.room.upper[1:].tolist(), strict=True
    )} == {(2, 3)}  # fmt: skip


def test_opensafely_secondary_disclosure_by_a_total() -> None:
    """The same page, "Primary vs secondary disclosure": 51 - 10 - 15 - 25 gives the redacted 1 away."""
    table = dc.Table.of([1, 10, 15, 25], ["age"])
    report = dc.audit(dc.protect(table, dc.Redact(7)))
    assert report.verdict.value == "fail"
    assert report.cells["finding"].tolist() == ["exact"]
    assert dc.audit(dc.protect(table, dc.OpenSAFELY())).ok


def test_nhs_rule_for_hospital_episode_statistics() -> None:
    """NHS England, "Disclosure control methodology for Hospital Episode Statistics": sub-national counts.

    0 is 0, 1 to 7 are a mark, all others are rounded to the nearest 5; totals are calculated, then rounded.
    """
    counts = [0, 1, 7, 8, 12, 13, 102]
    table = dc.Table.of(counts, ["trust"])
    assert shown(table, dc.NHS()) == [145, 0, None, None, 10, 10, 15, 100]


def test_cms_policy_on_cell_sizes() -> None:
    """ResDAC, "CMS Cell Size Suppression Policy": no 1 to 10 shown or derivable; 0 and 11 may be."""
    table = dc.Table.of([[0, 11, 10], [40, 35, 60], [22, 17, 31]], ["plan", "state"])
    done = dc.protect(table, dc.CMS11())
    values = done.published["count"]
    assert not ((values >= 1) & (values <= 10)).any()
    assert values[done.table.where(plan="1", state="1")] == [0]
    assert int(done.hidden.sum()) >= 4  # a single hidden cell of a row and a column would follow
    report = dc.audit(done)
    assert report.ok
    assert (report.lower < report.upper).all()


def test_ons_ten_five_rule() -> None:
    """ONS Statistical Methods Library, cell key perturbation, the table of its user guide: 16, 5, 10, 10, 12.

    Its sample table removes all counts under 10 and rounds the others to the nearest 5; counts become 15, nothing, 10,
    10 and 10.
    """
    table = dc.Table.of([16, 5, 10, 10, 12], [dc.Dimension.flat("cell", list("abcde"), total=None)])
    assert shown(table, dc.Chain((dc.Redact(9), dc.Round(5)))) == [15, None, 10, 10, 10]


def test_ons_threshold_comes_after_the_noise() -> None:
    """The same guide: noise is looked up first, then counts below the threshold (10 unless stated) are left out."""
    counts = np.arange(60)
    table = dc.Table.of(counts, [dc.Dimension.flat("n", [str(n) for n in counts], total=None)])
    noisy = dc.CellKey(2, 1.0, seed=9)(table).published["count"]
    recipe = dc.protect(table, dc.ONSCellKey(seed=9)).published["count"]
    assert np.array_equal(np.where(noisy < 10, np.nan, noisy), recipe, equal_nan=True)
    assert np.array_equal(noisy, dc.protect(table, dc.ONSCellKey(seed=9, threshold=0)).published["count"])


def test_statcan_probabilities_of_rounding() -> None:
    """Statistics Canada, "Data Quality and Confidentiality Standards and Guidelines": frequencies by the last digit.

    Of 107, for instance, 110 two times in five and 105 three times in five; counts that end in 0 or 5 stay.
    """
    matrix = transition_of(dc.StatCanBase5().steps[0])
    assert matrix is not None
    assert dict(matrix.outcomes(107)) == pytest.approx({105: 3 / 5, 110: 2 / 5})
    assert dict(matrix.outcomes(101)) == pytest.approx({100: 4 / 5, 105: 1 / 5})
    assert dict(matrix.outcomes(109)) == pytest.approx({105: 1 / 5, 110: 4 / 5})
    assert dict(matrix.outcomes(105)) == {105: 1.0}
    codes = [str(k) for k in range(4000)]
    many = dc.Table.of(np.full(4000, 107), [dc.Dimension.flat("n", codes, total=None)])
    values = dc.protect(many, dc.StatCanBase5(seed=1)).published["count"]
    assert set(values.tolist()) == {105.0, 110.0}
    assert (values == 110).mean() == pytest.approx(0.4, abs=0.03)


# -- laws -------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=2, max_size=4))
def test_sums_of_what_is_shown_tell_nothing_more(rows: list[list[int]]) -> None:
    """With totals that are sums of shown counts every redacted count may be anything from 1 to 7, whatever the table;
    what is shown adds up."""
    done = dc.protect(dc.Table.of(np.array(rows), ["a", "b"]), dc.OpenSAFELY())
    report = dc.audit(done)
    table = done.table
    gone = done.hidden & table.is_inner
    at = {int(n): (low, high) for n, low, high in zip(report.number, report.lower, report.upper, strict=True)}
    assert all(at[int(n)] == (1, 7) for n in np.flatnonzero(gone))
    inner = np.nan_to_num(done.shown_inner()).astype(np.int64)
    sums, seen = table.layout.aggregate(inner), ~done.hidden
    assert (done.published["count"][seen] == sums[seen]).all()
    assert not (done.hidden & ~table.is_inner & (sums > 0)).any()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1_000), st.sampled_from(["nhs", "opensafely"]))
def test_further_cells_hidden_leave_no_small_count_known(seed: int, name: str) -> None:
    """``secondary=True`` with totals rounded by themselves: no redacted count follows."""
    counts = np.random.default_rng(seed).poisson(9, (4, 3))
    more = {"totals": "own"} if name == "opensafely" else {}
    done = dc.protect(dc.Table.of(counts, ["a", "b"]), made(name, secondary=True, **more))
    report = dc.audit(done)
    assert not len(report.primary)
    values = done.published["count"]
    assert not ((values > 0) & (values <= 7)).any()


def test_four_redacted_ones_follow_from_a_rounded_total() -> None:
    """As published the NHS rule gives these away: a part shown as 10 is 8 at least, the total shown as 10 is 12 at
    most, so each of four redacted counts is 1. The audit says so."""
    table = dc.Table.of([1, 1, 1, 1, 8], ["age"])
    report = dc.audit(dc.protect(table, dc.NHS()))
    assert report.verdict.value == "fail"
    assert len(report.primary) == 4
    assert dc.audit(dc.protect(table, dc.NHS(secondary=True))).ok


def test_midpoints_can_give_away_ones() -> None:
    """Six parts that show 3 under a total that shows 3 are six ones."""
    report = dc.audit(dc.protect(dc.Table.of([1] * 6, ["age"]), dc.MidpointRound()))
    assert report.verdict.value == "fail"


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_is_a_method_like_any_other(name: str) -> None:
    """Its class passes the check, its values are as said, it is listed, and the same call gives the same bytes."""
    check_class(method_class(name))
    assert name in method_names()
    table = dc.Table.of([[3, 8, 30], [16, 23, 9], [1, 0, 55]], ["area", "age"])
    done = dc.protect(table, made(name))
    assert done.truthful is method_class(name).contract.truthful
    assert done.release().to_csv() == dc.protect(table, made(name)).release().to_csv()
    assert dc.audit(done).number.size
    true = dc.protect(table, dc.Publish()).release()
    assert done.release().to_csv() != true.to_csv()


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_answers_under_a_policy(name: str) -> None:
    """By its name, with the same bytes as in Python."""
    table = dc.Table.of([[3, 8, 30], [16, 23, 9], [1, 0, 55]], ["area", "age"])
    seed = "seed = 1" if "seed" in parameters(name) else ""
    policy = parse_policy(f'[[method]]\nname = "{name}"\n{seed}')
    expected = dc.protect(table, made(name)).release()
    assert answer(table, "area,age", policy).values["count"].tolist() == pytest.approx(
        expected.values["count"].tolist(), nan_ok=True
    )


def test_a_recipe_on_the_command_line(tmp_path: Any, capfdbinary: Any) -> None:
    """``--method opensafely`` on a table of cells."""
    (tmp_path / "t.csv").write_text("age,count\n21-30,3\n31-40,8\n41-50,16\n51+,23\n")
    arguments = ["protect", str(tmp_path / "t.csv"), "--ready", "--by", "age", "--method", "opensafely"]
    assert run([*arguments, "-o", str(tmp_path / "out.csv")]) == 0
    assert (tmp_path / "out.csv").read_text().split() == [
        "age,count,status", "Total,50,", "21-30,,c", "31-40,10,", "41-50,15,", "51+,25,",
    ]  # fmt: skip
    capfdbinary.readouterr()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dc.OpenSAFELY(most=0), "most"),
        (lambda: dc.NHS(base=0), "base"),
        (lambda: dc.CMS11(n=1), "n"),
        (lambda: dc.StatCanBase5(seed=1, secret="sixteen letters and more"), "give one of the two"),
        (lambda: method("opensafly"), "opensafely"),
        (lambda: dc.StatCanBase5()(dc.Table.of([1, 2], ["a"])), "no cell keys: give a seed"),
    ],
)
def test_wrong_parameters_are_refused(call: Any, words: str) -> None:
    """Before anything is computed."""
    with pytest.raises(dc.InputError, match=words):
        call()


def test_rounding_after_secondary_suppression_tells_no_small_count() -> None:
    """A shown count is 8 or more, so that four tens with a sum of 30, which is 32 at most, are 8 each."""
    table = dc.Table.of([[8, 8, 8, 8], [40, 60, 33, 29]], ["practice", "group"])
    told = dc.audit(made("nhs")(table))
    assert (told.finding == "exact").sum() > 3
    for recipe in (made("nhs", secondary=True), made("opensafely", secondary=True, totals="own")):
        report = dc.audit(recipe(table))
        shown_small = (np.abs(np.asarray(report.truth)) < 10) & (np.asarray(report.status) != Status.SECONDARY.value)
        assert not ((report.finding == "exact") & shown_small).any()
