"""Totals under any name: found, asked about, said; never taken for a category in silence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import cli
from discreet.tables.total_names import PERHAPS, USUAL, like_a_total

NAMES = [
    "All",
    "Gesamt",
    "TOTAL",
    "_T",
    "Sum",
    "Both",
    "Insgesamt",
    "Ensemble",
    "Totalt",
    "Ogółem",
    "Всего",
    "合計",
    "总计",
]


def people(seed: int, n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"area": rng.choice(list("ABCD"), n), "sex": rng.choice(["f", "m"], n)})


def crosstab(seed: int, name: str) -> pd.DataFrame:
    data = people(seed)
    return pd.crosstab(data.area, data.sex, margins=True, margins_name=name)


@pytest.mark.parametrize("name", NAMES)
def test_a_cross_tabulation_with_margins_is_the_table_of_its_records(name: str) -> None:
    """Whatever pandas calls the margins, the table has the records once, and it is said what was taken."""
    for seed in range(5):
        data = people(seed)
        with pytest.warns(dc.DiscreetWarning, match="taken as the total"):
            table = dc.Table.of(crosstab(seed, name))
        assert table.n == len(data)
        assert [d.total for d in table.dimensions] == [name, name]
        plain = dc.Table.of(pd.crosstab(data.area, data.sex))
        assert table.count.tolist() == plain.count.tolist()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["Blah", "Sverige", "north and south"]))
def test_a_sum_under_a_name_of_its_own_is_asked_about(seed: int, name: str) -> None:
    """Neither doubled nor guessed; each of the two answers that the message gives is taken."""
    cells = crosstab(seed, name)
    with pytest.raises(dc.InputError, match="is the sum of the other codes") as error:
        dc.Table.of(cells)
    assert f"total={{'area': {name!r}}}" in str(error.value)
    assert "--total" in str(error.value)
    assert dc.Table.of(cells, total=name).n == 60
    assert dc.Table.of(cells, total={"area": "Total", "sex": "Total"}).n == 4 * 60


def test_no_message_holds_a_cell_value() -> None:
    """Codes and numbers of lines are named, cells are not."""
    cells = crosstab(1, "Blah") * 1_009
    with pytest.raises(dc.InputError) as error:
        dc.Table.of(cells)
    assert not {str(v) for v in cells.to_numpy().ravel()} & set(str(error.value).replace(",", " ").split())


@pytest.mark.parametrize(
    "frame",
    [
        {"sex": ["f", "m"], "count": [5, 5]},
        {"sex": ["f", "m"], "area": ["a", "a"], "count": [7, 7]},
        {"kind": ["a", "b", "c"], "count": [0, 0, 0]},
        {"kind": ["a", "b", "c"], "count": [5, 3, 2]},
        {"children": ["0", "1", "2"], "count": [3, 2, 1]},
        {"nace": ["S", "T", "U"], "count": [30, 4, 2]},
    ],
)
def test_chance_is_not_a_total(frame: dict[str, list[object]]) -> None:
    """Equal counts, zeros, one line of small numbers: categories, and nothing is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = dc.Table.of(frame)
    assert table.n == sum(frame["count"])  # type: ignore[arg-type]


def test_a_name_that_may_be_a_total_needs_more_than_one_small_line() -> None:
    """T of the sexes is asked about in five persons, taken in a large table; T of NACE stays a section."""
    with pytest.raises(dc.InputError, match="too little is shown"):
        dc.Table.of({"sex": ["F", "M", "T"], "count": [3, 2, 5]})
    with pytest.warns(dc.DiscreetWarning, match="'T' is taken"):
        assert dc.Table.of({"sex": ["F", "M", "T"], "count": [3_011, 2_300, 5_311]}).n == 5_311
    assert dc.Table.of({"sex": ["F", "M", "T"], "count": [3, 2, 5]}, total={"sex": "Total"}).n == 10


def test_called_a_total_but_none() -> None:
    """All others than the sum: an error that asks, whatever is done with totals."""
    frame = {"area": ["a", "b", "All"], "count": [3, 2, 6]}
    for totals in ("check", "compute", "trust"):
        with pytest.raises(dc.InputError, match="called like a total but is not the sum"):
            dc.Table.of(frame, totals=totals)
    assert dc.Table.of(frame, total="All", totals="compute").n == 5
    with pytest.raises(dc.NotAdditiveError):
        dc.Table.of(frame, total="All")


def test_magnitudes_are_compared_at_their_precision() -> None:
    """Binary sums are no obstacle; parts rounded one by one are said to be that."""
    frame = {"area": ["a", "b", "c", "Summe"], "pay": [0.1, 0.2, 0.4, 0.7]}
    with pytest.warns(dc.DiscreetWarning, match="'Summe'"):
        assert dc.Table.of(frame, value="pay").value.tolist() == [0.7, 0.1, 0.2, 0.4]
    rounded = {"area": ["a", "b", "Summe"], "pay": [1.3, 1.3, 2.5]}
    with pytest.warns(dc.DiscreetWarning), pytest.raises(dc.NotAdditiveError, match=r"tolerance=0\.5"):
        dc.Table.of(rounded, value="pay", decimals=1)


def test_margins_that_are_given_in_part_deny_nothing() -> None:
    """A grand total without the rows between is still a total."""
    data = people(3).assign(job=lambda d: np.resize(["x", "y", "z"], len(d)))
    with pytest.warns(dc.DiscreetWarning, match="'area', 'job', 'sex'"):
        table = dc.Table.of(pd.crosstab([data.area, data.job], data.sex, margins=True))
    assert table.n == 60


@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 3))
def test_an_array_with_its_margins_is_refused(seed: int, first: bool, axes: int) -> None:
    """An array holds inner cells; with the cut that the message gives it is the table."""
    rng = np.random.default_rng(seed)
    array = rng.integers(5, 40, tuple(rng.integers(2, 5, axes)) if axes > 1 else (60,)) + (axes == 1) * 50_000
    whole = array
    for axis in range(axes):
        sums = whole.sum(axis=axis, keepdims=True)
        whole = np.concatenate([sums, whole] if first else [whole, sums], axis=axis)
    with pytest.raises(dc.InputError, match="first entries" if first else "last entries"):
        dc.Table.of(whole)
    assert dc.Table.of(array).n == array.sum()
    assert dc.Table.of(whole, total="Total").n == whole.sum()


def test_what_is_said_is_checked() -> None:
    """An unknown dimension and a code that only looks like one are errors with the nearest name."""
    frame = {"area": ["a", "b", "Alle"], "count": [3, 2, 5]}
    with pytest.raises(dc.InputError, match="did you mean 'area'"):
        dc.Table.of(frame, total={"aera": "Alle"})
    with pytest.raises(dc.InputError, match="did you mean 'Alle'"):
        dc.Table.of(frame, total="Ale")
    with pytest.raises(dc.InputError, match="did you mean 'Alle'"):
        dc.Table.of(frame, total={"area": "Ale"})
    with pytest.raises(dc.InputError, match="may each be the total"):
        dc.Table.of({"area": ["a", "All", "Sum"], "count": [0, 5, 5]})
    area = dc.Dimension.flat("area", ["a", "b"])
    with pytest.raises(dc.InputError, match="if 'Alle' is its total"):
        dc.Table.of(frame, [area])
    assert dc.Table.of(frame, [area], total={"area": "Alle"}).dimensions[0].total == "Alle"


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 500), st.sampled_from(["All", "Gesamt", "_T"]))
def test_a_published_file_is_audited_by_its_totals(
    tmp_path_factory: pytest.TempPathFactory, seed: int, name: str
) -> None:
    """What renaming the total to "Total" lets an audit see, it sees without."""
    folder = tmp_path_factory.mktemp("published")
    table = dc.Table.of(pd.crosstab(people(seed)["area"], people(seed)["sex"]))
    gone = np.zeros(len(table), bool)
    gone[np.random.default_rng(seed).choice(len(table), 3, replace=False)] = True
    data = dc.protect(table, dc.Hide(gone)).release().to_csv().decode()
    (folder / "a.csv").write_text(data)
    (folder / "b.csv").write_text(data.replace("Total", name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.DiscreetWarning)
        one, other = (dc.audit(dc.Release.read_csv(folder / f"{x}.csv")) for x in "ab")
    columns = ["lower", "upper"]
    assert one.cells[columns].to_numpy().tolist() == other.cells[columns].to_numpy().tolist()


def test_hidden_cells_do_not_hide_a_total_with_a_name_of_its_own(tmp_path: Path) -> None:
    """Lines with hidden parts can only deny; that one code always exceeds the others is enough to ask."""
    lines = ["area,sex,count,status"]
    for k, area in enumerate("abcdefgh"):
        lines += [f"{area},f,,c", f"{area},m,{10 + k},", f"{area},n,{20 + k},", f"{area},folk,{95 + k},"]
    file = tmp_path / "t.csv"
    file.write_text("\r\n".join([*lines, ""]))
    with pytest.raises(dc.InputError, match="'folk' is the sum"):
        dc.Release.read_csv(file)
    found = dc.audit(dc.Release.read_csv(file, total={"sex": "folk"}))
    assert (found.cells["lower"] == found.cells["upper"]).all()


def test_what_a_known_total_gives_away_and_what_no_total_leaves_unknown(tmp_path: Path) -> None:
    """79 - 76 is known to all; without a total nothing is, and that is no pass."""
    file = tmp_path / "t.csv"
    file.write_text("sex,count,status\r\nf,76,\r\nm,,c\r\nAll,79,\r\n")
    with pytest.warns(dc.DiscreetWarning, match="'All' is taken"):
        found = dc.audit(dc.Release.read_csv(file))
    assert (found.lower.tolist(), found.upper.tolist(), found.ok) == ([3], [3], False)
    file.write_text("sex,count,status\r\nf,76,\r\nm,,c\r\n")
    found = dc.audit(dc.Release.read_csv(file))
    assert not found.ok
    assert found.verdict.value == "unknown"
    assert any("no total found" in text for text in found.unjudged)


def test_every_command_takes_total(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The option stands wherever a table is read; what is found is a line on stderr."""
    monkeypatch.chdir(tmp_path)
    cells = pd.Series(crosstab(2, "All").stack(), name="count").reset_index()
    cells.to_csv("all.csv", index=False)
    cells.replace("All", "folk").to_csv("folk.csv", index=False)
    assert cli.run(["tabulate", "all.csv", "--ready", "-o", "out.csv"]) == 0
    assert "note: 'All' is taken as the total of 'area', 'sex'" in capfd.readouterr().err
    commands = [
        ["tabulate", "folk.csv", "--ready"],
        ["protect", "folk.csv", "--ready", "--rule", "threshold(n=3)"],
        ["risk", "folk.csv", "--ready"],
        ["search", "folk.csv", "--ready", "--try", "random-round:base=3"],
    ]
    for command in commands:
        assert cli.run(command) == 2
        assert "--total area=folk" in capfd.readouterr().err
        judged = 1 if command[0] == "search" else 0  # no method is allowed here, which is an answer
        assert cli.run([*command, "--total", "area=folk", "--total", "sex=folk"]) == judged
        assert cli.run([*command, "--total", "folk"]) == judged
    capfd.readouterr()
    assert cli.run(["tabulate", "folk.csv", "--by", "area", "--total", "folk"]) == 2
    assert "--ready" in capfd.readouterr().err
    assert cli.run(["protect", "folk.csv", "--by", "area", "--rule", "threshold(n=3)", "--total", "folk"]) == 2
    assert cli.run(["tabulate", "folk.csv", "--ready", "--total", "folk", "--total", "sex=folk"]) == 2
    capfd.readouterr()
    assert cli.run(["audit", "out.csv", "--total", "All"]) == 1  # all is shown, and no rule says what should not be
    assert "nothing was judged" in capfd.readouterr().err
    assert cli.run(["show", "out.csv", "--total", "area=All"]) == 0


def test_names_of_totals() -> None:
    """Usual names in many spellings; names that categories have too are only perhaps."""
    assert all(
        like_a_total(n) == USUAL for n in ["total", " TOTAL ", "(All)", "_T", "Grand Total", "I alt", "Yhteensä"]
    )
    assert all(like_a_total(n) == PERHAPS for n in ["T", "both", "All ages", "Total population", "all others"])
    assert not any(like_a_total(n) for n in ["f", "alloy", "totalitarian", "0", "sumatra", "", "1-9"])


def test_sums_of_some_codes_are_asked_about() -> None:
    """Regions among their districts: the table is taken once it is said what adds up what."""
    columns: dict[str, list[Any]] = {
        "area": [code for code in ("T", "N", "a", "b", "S", "c", "d") for _ in range(2)],
        "sex": ["f", "m"] * 7,
        "n": [1580, 1250, 620, 540, 400, 30, 220, 510, 960, 710, 310, 440, 650, 270],
    }
    with pytest.raises(dc.InputError, match=r"'area': 'T' is the sum of 'N', 'S' in every line; .*from_parents"):
        dc.Table.of(columns, ["area", "sex"], count="n")
    parents = {"a": "N", "b": "N", "c": "S", "d": "S"}
    area = dc.Dimension.from_parents("area", parents, total="T")
    assert dc.Table.of(columns, [area, "sex"], count="n").n == 2830
    inner = {name: [x for k, x in enumerate(own) if k > 3 and k not in (8, 9)] for name, own in columns.items()}
    assert dc.Table.of(inner, ["area", "sex"], count="n").n == 2830
