"""Measures beside counts: sums, means, ratios, shares and quantiles, worked out again from protected numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.policy import Query, answer, parse_policy
from discreet.policy.served_measures import TOP_KEPT, Statistic
from discreet.tables.tabulation import tabulate

SECRET = "sixteen letters!"
COUNTS = '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n'
NOISE = "noise = { flex = 2000, p = [0.25, 0.05], separation = 100, epsilon = [1, 0.5] }\n"
PAY = f'[measures.pay]\nstatistics = ["sum", "mean", "median", "p90", "per-hours"]\n{NOISE}'
PAY += 'bands = "band"\nedges = [0, 500, 1000, 2000, 5000]\n'
HOURS = "[measures.hours]\nnoise = { flex = 40 }\n"


def workers(n: int = 4000, weights: bool = False, holdings: bool = False) -> dc.Microdata:
    """People with skewed pay, hours, an area and a band of pay."""
    rng = np.random.default_rng(7)
    pay = np.minimum(rng.lognormal(6, 1, n).round(2), 4999.99)
    frame = pd.DataFrame(
        {
            "area": rng.choice(list("ABCDE"), n, p=[0.5, 0.3, 0.15, 0.04, 0.01]),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(["young", "old"], n),
            "pay": np.where(rng.random(n) < 0.2, 0.0, pay),
            "hours": rng.integers(1, 60, n),
            "id": np.arange(n),
        }
    )
    frame["band"] = pd.cut(frame["pay"], [-1, 500, 1000, 2000, 5000], labels=["0", "1", "2", "3"]).astype(str)
    frame["weight"] = rng.integers(1, 20, n) / 2 if weights else 1.0
    frame["owner"] = rng.integers(0, n // 3, n) if holdings else frame["id"]
    more: dict[str, Any] = {"weight": "weight"} if weights else {}
    more |= {"holding": "owner"} if holdings else {}
    return dc.Microdata.of(
        frame,
        dimensions=["area", "sex", "age", "band"],
        unit="id",
        magnitudes=["pay", "hours"],
        secret=SECRET,
        **more,
    )


def served(text: str = "") -> Any:
    return replace(parse_policy(COUNTS + PAY + HOURS + text), secret=SECRET.encode())


def asked(data: Any, variables: str, policy: Any, **more: Any) -> np.ndarray:
    release = answer(data, Query.of(variables, **more), policy)
    return np.asarray(next(iter(release.values.values())))


def pay_noise() -> dc.CellKeyMagnitude:
    """The noise of pay as NOISE has it, with what policies add."""
    return dc.CellKeyMagnitude(
        flex=2000, p=(0.25, 0.05), separation=100, epsilon=(1, 0.5), people=3 * 2**0.5, zero_keys=True, secret=SECRET
    )


@pytest.mark.parametrize("kind", [{}, {"weights": True}, {"holdings": True}, {"weights": True, "holdings": True}])
def test_a_sum_is_the_method_on_the_table(kind: dict[str, bool]) -> None:
    """What CellKeyMagnitude shows of the tabulated sums, with the policy's secret."""
    data, policy = workers(**kind), served()
    table = tabulate(data, ["area", "sex"], value="pay", top=TOP_KEPT)
    expected = pay_noise()(table).published[table.measure]
    few = (
        np.minimum(asked(data, "area, sex", policy), pay_noise().givers(table)) < 10 if "weights" not in kind else None
    )
    shown = asked(data, "area, sex", policy, measure="pay")
    held = ~np.isnan(shown) if few is None else ~few
    assert held.sum() > len(held) - 3
    assert shown[held].tolist() == np.round(expected, 2)[held].tolist()
    assert (expected != table.value)[table.value > 0].all()


def test_means_and_ratios_are_protected_numbers_divided() -> None:
    """Sum by count, and sum by sum, as each is answered by itself; none where few people are shown."""
    data, policy = workers(), served()
    total, hours = (asked(data, "area, sex, age", policy, measure=name) for name in ("pay", "hours"))
    people = asked(data, "area, sex, age", policy)
    for statistic, below in (("mean", people), ("per-hours", hours)):
        shown = asked(data, "area, sex, age", policy, measure="pay", statistic=statistic)
        expected = np.where(people >= 10, total / np.maximum(below, 1), np.nan)
        np.testing.assert_allclose(shown, np.round(expected, 4))


def test_shares_are_of_the_numbers_that_are_shown() -> None:
    """Per cent of the table, of a row, and per thousand of a filter's variable, for counts and sums."""
    data, policy = workers(), served()
    for measure in ("count", "pay"):
        shown = asked(data, "sex, age", policy, measure=measure).reshape(3, 3)
        percent = asked(data, "sex, age", policy, measure=measure, statistic="percent").reshape(3, 3)
        rows = asked(data, "sex, age", policy, measure=measure, statistic="percent-age").reshape(3, 3)
        np.testing.assert_allclose(percent, np.round(100 * shown / shown[0, 0], 1))
        np.testing.assert_allclose(rows, np.round(100 * shown / shown[:, :1], 1))
        young = asked(data, "sex", policy, where="age=young", measure=measure, statistic="rate-age")
        at = next(d.codes for d in data.dimensions if d.name == "age").index("young")
        np.testing.assert_allclose(young, np.round(1000 * shown[:, at] / shown[:, 0], 1))


def test_quantiles_come_from_protected_bands() -> None:
    """The median by hand from the counts that the table with the bands shows; near the true one."""
    data, policy = workers(), served()
    counts = asked(data, "sex, band", policy).reshape(3, 5)[:, 1:]
    edges = np.array([0, 500, 1000, 2000, 5000.0])
    for statistic, share in (("median", 0.5), ("p90", 0.9)):
        expected = []
        for row in counts:
            whole = np.concatenate([[0.0], np.cumsum(row)])
            expected.append(np.interp(share * whole[-1], whole, edges))
        shown = asked(data, "sex", policy, measure="pay", statistic=statistic)
        np.testing.assert_allclose(shown, np.round(expected))
    with pytest.raises(dc.InputError, match="leave it out of the table"):
        answer(data, Query.of("band", measure="pay", statistic="median"), policy)
    with pytest.raises(dc.Refused, match="max_dimensions"):
        answer(data, Query.of("sex, area, age", measure="pay", statistic="median"), policy)


def test_a_quantile_is_not_shown_where_its_band_has_no_end() -> None:
    """The number before it that could be stated is; an end that is a guess makes none."""
    data, ended, open_ = workers(), served(), parse_policy((COUNTS + PAY + HOURS).replace("5000]", "inf]"))
    open_ = replace(open_, secret=SECRET.encode())
    for statistic in ("median", "p90"):
        closed, shown = (asked(data, "area", one, measure="pay", statistic=statistic) for one in (ended, open_))
        assert np.array_equal(closed[~np.isnan(shown)], shown[~np.isnan(shown)])
        assert np.isnan(shown[closed > 2000]).all()
        assert not np.isnan(shown[closed <= 2000]).any()
    notes = answer(data, Query.of("area", measure="pay", statistic="p90"), open_).notes
    assert "Not shown where it lies in a band of band that has no end." in notes
    for edges in ("[0, nan, 1000, 2000, 5000]", "[0, 500, 500, 2000, 5000]"):
        with pytest.raises(dc.InputError, match=r"rising|each a number"):
            parse_policy(COUNTS + PAY.replace("[0, 500, 1000, 2000, 5000]", edges))


def test_a_small_quotient_has_digits_that_say_something() -> None:
    """Hours by pay: a few thousandths, with four digits for everybody, and as many decimals in every table."""
    data = workers()
    swapped = PAY.replace(', "per-hours"', "") + HOURS + 'statistics = ["per-pay", "sum"]\n'
    policy = replace(parse_policy(COUNTS + swapped), secret=SECRET.encode())
    tables = {by: answer(data, Query.of(by, measure="hours", statistic="per-pay"), policy) for by in ("area", "sex")}
    (everybody,) = {next(iter(one.values.values()))[0] for one in tables.values()}
    assert 1000 <= everybody * 10 ** next(iter(tables["sex"].decimals.values())) < 10_000


def test_dominance_hides_cells_before_noise_or_refuses() -> None:
    """Just the cells that the rule names; nothing of them is in any statistic of the measure."""
    data = workers(60)
    rule = 'min_count = 1\nhide = [{ rule = "p-percent", p = 30 }]\n'
    policy = replace(parse_policy(COUNTS + PAY + rule + 'sensitive = "hide"\n' + HOURS), secret=SECRET.encode())
    table = tabulate(data, ["area", "sex"], value="pay", top=TOP_KEPT)
    sensitive = dc.PPercent(30)(table)
    assert 0 < sensitive.sum() < len(table)
    for statistic in ("sum", "mean", "per-hours"):
        shown = asked(data, "area, sex", policy, measure="pay", statistic=statistic)
        assert np.isnan(shown[sensitive]).all()
    nobody = np.minimum(asked(data, "area, sex", policy), pay_noise().givers(table)) < 1
    assert not np.isnan(asked(data, "area, sex", policy, measure="pay")[~sensitive & ~nobody]).any()
    refusing = replace(parse_policy(COUNTS + PAY + rule.replace("30", "90") + HOURS), secret=SECRET.encode())
    with pytest.raises(dc.Refused, match="too few contributors"):
        answer(data, Query.of("area, sex", measure="pay"), refusing)


@pytest.mark.parametrize("statistic", ["sum", "mean", "median", "per-hours"])
@pytest.mark.parametrize("most", [1, 9, 30])
def test_few_respondents_are_few_whatever_they_weigh(statistic: str, most: int) -> None:
    """What is shown of a measure rests on ``min_count`` people as the counts without weights show them."""
    rng = np.random.default_rng(most)
    sizes = {("E", "f"): 1, ("E", "m"): 4, ("D", "f"): 9, ("D", "m"): 40, ("A", "f"): 700, ("A", "m"): 900}
    rows = [(area, sex) for (area, sex), number in sizes.items() for _ in range(number)]
    frame = pd.DataFrame(rows, columns=["area", "sex"])
    frame = frame.assign(pay=rng.integers(100, 4999, len(rows)), hours=rng.integers(20, 60, len(rows)))
    frame["band"] = pd.cut(frame["pay"], [-1, 500, 1000, 2000, 5000], labels=["0", "1", "2", "3"]).astype(str)
    frame = frame.assign(id=range(len(rows)), weight=rng.integers(20, 60, len(rows)))
    given: dict[str, Any] = {"unit": "id", "magnitudes": ["pay", "hours"], "secret": SECRET}
    weights: tuple[dict[str, Any], ...] = ({"weight": "weight"}, {})
    data, plain = (dc.Microdata.of(frame, dimensions=["area", "sex", "band"], **given, **more) for more in weights)
    policy = replace(
        parse_policy(COUNTS + PAY + f"min_count = {most}\n" + HOURS + f"min_count = {most}\n"), secret=SECRET.encode()
    )
    weighed = asked(data, "area, sex", policy, measure="pay", statistic=statistic)
    people = asked(plain, "area, sex", policy)
    assert np.isnan(weighed[people < most]).all()
    assert not np.isnan(weighed[people >= max(most, 30)]).any()
    assert "without their weights" in " ".join(
        answer(data, Query.of("area, sex", measure="pay", statistic=statistic), policy).notes
    )


def test_weighted_counts_and_their_standard_errors() -> None:
    """W n'/n in whole numbers, n' as the unweighted count shows it; errors from what is shown, in two digits."""
    data, policy = workers(weights=True), served()
    table = tabulate(data, ["area", "sex"])
    plain = dc.CellKey(5, 3, secret=SECRET)(replace(table, measure="count")).published["count"]
    shown = asked(data, "area, sex", policy)
    expected = np.rint(table.value * plain / np.maximum(table.count, 1))
    assert shown.tolist() == expected.tolist()
    errors = asked(data, "area, sex", policy, statistic="se")
    by_hand = np.sqrt(np.maximum(shown * (shown[0] / plain[0] - 1) * (1 - shown / shown[0]), 0))
    np.testing.assert_allclose(errors, by_hand, rtol=0.051, atol=0.5)
    assert all(float(f"{error:.1e}") == error for error in errors)
    with pytest.raises(dc.InputError, match="no weights"):
        answer(workers(), Query.of("sex", statistic="se"), policy)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"measure": "pay"}, "no measure 'pay' is served"),
        ({"statistic": "mean"}, "statistic of a measure"),
        ({"statistic": "average"}, "no statistic 'average'"),
        ({"statistic": "percent-age"}, "the table has no 'age'"),
    ],
)
def test_what_a_policy_does_not_name_is_not_served(more: dict[str, str], words: str) -> None:
    """Neither a measure of the data, nor a statistic."""
    with pytest.raises(dc.InputError, match=words):
        answer(workers(50), Query.of("sex", **more), parse_policy(COUNTS))


def test_a_statistic_that_is_not_listed_is_refused() -> None:
    """With those that are."""
    with pytest.raises(dc.Refused, match="ask for one of: sum"):
        answer(workers(50), Query.of("sex", measure="hours", statistic="mean"), served())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[before]]\nname = "synthetic"\nseed = 1\n[measures.pay]\nnoise = {}\n', "changes people"),
        (COUNTS + "[measures.pay]\n", "'cell-key' is for counts"),
        ('[[method]]\nname = "round"\nbase = 5\n[measures.pay]\n', "'round' is for counts"),
        ('[[method]]\nname = "semi-controlled-round"\nbase = 1000\n[measures.pay]\n', "what one person gives"),
        (COUNTS + "[measures.count]\nnoise = {}\n", "always served"),
        (COUNTS + '[measures.pay]\nnoise = {}\nstatistics = ["median"]\n', "counts of bands"),
        (COUNTS + '[measures.pay]\nnoise = {}\nstatistics = ["percent"]\n', "name what is served"),
        (COUNTS + '[measures.pay]\nnoise = {}\nstatistics = ["per-hours"]\n', "another measure"),
        (COUNTS + "[measures.pay]\nnoise = { flux = 1 }\n", "no parameter 'flux'"),
        (COUNTS + "[measures.pay]\nnoise = { secret = 'x' }\n", "no parameter 'secret'"),
        (COUNTS + "[measures.pay]\nnoise = { p = [0.001, 0.001] }\n", "changes almost nothing"),
        (COUNTS + "[measures.pay]\nnoise = { epsilon = [1, 1, 1, 1, 1, 1] }\n", "at most 5"),
        (COUNTS + "[measures.pay]\nnoise = {}\nhide = [{ rule = 'threshold', n = 1 }]\n", "calls no cell sensitive"),
        (
            '[[rule]]\nrule = "threshold"\nn = 3\n[[method]]\nname = "suppress"\n'
            '[measures.pay]\nstatistics = ["mean"]\n',
            "serve sums alone",
        ),
    ],
)
def test_a_policy_that_could_not_protect_a_measure_is_an_error(text: str, words: str) -> None:
    """When it is read."""
    with pytest.raises(dc.InputError, match=words):
        parse_policy(text)


def test_queries_with_and_without_a_statistic() -> None:
    """The count and the sum are the plain ones; others are another query; all can be written and read back."""
    assert Query.of("sex", statistic="count") == Query.of("sex")
    assert Query.of("sex", measure="pay", statistic="sum") == Query.of("sex", measure="pay")
    mean = Query.of("sex", measure="pay", statistic="mean")
    assert mean.digest != Query.of("sex", measure="pay").digest
    assert Query.from_dict(mean.to_dict()) == mean
    assert [Statistic.of(text).kind for text in ("p5", "per-a-b", "rate-age")] == ["quantile", "per", "rate"]


@pytest.mark.parametrize("step", ['name = "synthetic"', 'name = "swap"\ngeography = "area"\nrate = 0.2'])
@pytest.mark.parametrize("after", ["", '[[method]]\nname = "round"\nbase = 5\n'])
def test_shares_of_changed_data_say_what_was_done_before_counting(step: str, after: str) -> None:
    """As counts of them do: a percentage is not called published as it is, nor true."""
    policy = parse_policy(f"[[before]]\n{step}\nseed = 1\n{after}")
    data = workers(400)
    counts = answer(data, Query.of("area, sex"), policy)
    for statistic in ("percent", "percent-area", "rate-sex"):
        shares = answer(data, Query.of("area, sex", statistic=statistic), policy)
        assert shares.method == counts.method
        assert not shares.as_it_is
        assert not shares.truthful


@pytest.mark.parametrize("statistic", ["sum", "mean", "per-hours", "median"])
def test_no_number_is_given_by_the_bands_of_its_medians(statistic: str) -> None:
    """People of a band have about the same: a sum would count them far better than the counts that are shown."""
    data, policy = workers(), served()
    for query in (
        Query.of("sex, band", measure="pay", statistic=statistic),
        Query.of("sex", measure="pay", statistic=statistic, where="band=3"),
    ):
        with pytest.raises(dc.InputError, match="'pay' is not given by 'band', the bands of its medians"):
            answer(data, query, policy)


@pytest.mark.parametrize("weights", [False, True])
def test_weights_bring_no_decimals(weights: bool) -> None:
    """A sum has those of its measure, a mean two more, whether people count once or by their weights."""
    data, policy = workers(weights=weights), served()
    for statistic, decimals in (("", 2), ("mean", 4)):
        release = dc.policy.answer(data, dc.policy.Query.of("area", measure="pay", statistic=statistic), policy)
        assert list(release.decimals.values()) == [decimals]
        (values,) = release.values.values()
        shown = values[np.isfinite(values)]
        assert len(shown)
        assert np.allclose(shown, np.round(shown, decimals), rtol=0, atol=1e-9)
