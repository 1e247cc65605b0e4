"""Record swapping: who moves, with whom, and what stays as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from tests.persons import AREAS, microdata, persons

# PSD14 Tables 3-5: Hellinger distance under 10 % swapping, by output area and of the whole table
ROWS = {
    "psd14_travel": [0.5397, 0.5386, 0.5942, 0.5979, 0.5539, 0.6101, 0.5844, 0.5623, 0.6571, 0.6392],
    "psd14_sex": [0.1165, 0.1259, 0.1202, 0.1213, 0.1445, 0.1292, 0.1274, 0.1343, 0.1396, 0.1432],
    "psd14_religion": [0.5507, 0.8832, 0.4893, 0.5323, 0.4443, 0.9705, 0.4715, 0.5466, 0.8918, 0.5312],
}
WHOLE = {"psd14_travel": 1.9920, "psd14_sex": 0.5076, "psd14_religion": 2.2708}


@pytest.mark.parametrize("name", WHOLE)
def test_psd14_hellinger_under_swapping(name: str) -> None:
    """5 % picked and paired with persons of other output areas: the printed means of 1,000 draws."""
    table = getattr(dc.datasets, name)()
    counts = table.array()
    rows, columns = counts.shape
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    area, kind, n = cell // columns, cell % columns, len(cell)
    people = pa.table({"id": np.arange(n), "area": (area + 1).astype(str)})
    data = dc.Microdata.of(people, dimensions=[table.dimensions[0]], unit="id")
    found = []
    for seed in range(400):
        plan = dc.Swap("area", seed=seed).plan(data)
        assert (plan.swapped, plan.unpaired) == (2 * round(0.05 * n), 0)
        after = np.bincount(area[plan.source] * columns + kind, minlength=counts.size)
        gap = (np.sqrt(counts) - np.sqrt(after.reshape(rows, columns))) ** 2 / 2
        found.append([*np.sqrt(gap.sum(axis=1)), np.sqrt(gap.sum())])
    allowed = 4.5 * np.std(found, axis=0) * np.sqrt(1 / 400 + 1 / 1000) + 5e-5
    assert (np.abs(np.mean(found, axis=0) - [*ROWS[name], WHOLE[name]]) <= allowed).all()


def rows_of(data: dc.Microdata) -> pa.Table:
    return data.engine.arrow()  # type: ignore[attr-defined]


def test_what_is_kept_and_what_moves() -> None:
    """Numbers by area and by everything else stay, 10 % of the persons move, and only their area changes."""
    table = persons(2000)
    before, after = microdata(table), dc.Swap("area", seed=1)(microdata(table))
    for by in (["area"], ["sex", "age"]):
        assert (dc.tabulate(before, by=by).count == dc.tabulate(after, by=by).count).all()
    new = rows_of(after)
    moved = np.array(new["area"].to_pylist()) != np.array(table["area"].to_pylist())
    assert moved.sum() == 200
    for name in ("id", "sex", "age", "rkey"):
        assert new[name].to_pylist() == table[name].to_pylist()


def test_partners_agree_in_strata_and_if_possible_in_the_profile() -> None:
    """Within regions, of one sex, alike in age as long as there is somebody."""
    table = persons(3000)
    data = microdata(table)
    plan = dc.Swap("area", seed=2, strata=("level 1", "sex"), profile=("age",)).plan(data)
    moved = np.flatnonzero(plan.source != np.arange(3000))
    area, sex, age = (np.array(table[n].to_pylist()) for n in ("area", "sex", "age"))
    region = np.array([AREAS[a] for a in area])
    assert moved.size == 300
    assert (sex[moved] == sex[plan.source[moved]]).all()
    assert (region[moved] == region[plan.source[moved]]).all()
    assert (area[moved] != area[plan.source[moved]]).all()
    assert (age[moved] == age[plan.source[moved]]).mean() > 0.95
    assert (plan.source[plan.source] == np.arange(3000)).all()


def test_the_rare_are_picked_first_and_leave_the_area_where_they_are_rare() -> None:
    """Everybody below k is swapped; one who is unique in the region leaves the region."""
    table = persons(2000)
    age = np.array(table["age"].to_pylist())
    area = np.array(table["area"].to_pylist())
    lonely = int(np.flatnonzero(area == "n1")[0])
    age[:], age[lonely] = "0", "3"
    data = microdata(table.set_column(4, "age", pa.array(age)))
    plan = dc.Swap("area", seed=3, rate=0.01, risk=("age",), k=2).plan(data)
    assert area[plan.source[lonely]].startswith("s")
    random = dc.Swap("area", seed=3, rate=0.05).plan(microdata(table))
    aimed = dc.Swap("area", seed=3, rate=0.05, risk=("age", "sex")).plan(microdata(table))
    old = np.array(table["age"].to_pylist()) == "3"
    assert (aimed.source != np.arange(2000))[old].mean() > 1.5 * (random.source != np.arange(2000))[old].mean()


def test_households_move_together_with_others_of_their_make_up() -> None:
    """All members go to one area; partners have as many members, and of the same sexes if asked."""
    table = persons(3000)
    data = microdata(table)
    plan = dc.Swap("area", household="household", rate=0.05, strata=("sex",), seed=4).plan(data)
    household = np.array(table["household"].to_pylist())
    after = np.array(table["area"].to_pylist())[plan.source]
    sex = np.array(table["sex"].to_pylist())
    for one in np.unique(household[plan.source != np.arange(3000)]):
        at = household == one
        assert len(set(after[at])) == 1
        other = household == household[plan.source[at][0]]
        assert sorted(sex[at]) == sorted(sex[other])
    made = dc.Swap("area", household="household", rate=0.05, seed=4)(data)
    assert (dc.tabulate(made, by="area").count == dc.tabulate(data, by="area").count).all()


def test_a_record_swaps_the_same_way_in_every_order_and_format(tmp_path: Path) -> None:
    """By keys or a seed, persons or households: a shuffled file and a CSV give the same counts and keys."""
    table = persons(500)
    pyarrow.csv.write_csv(table, tmp_path / "p.csv")
    mixed = table.take(np.random.default_rng(1).permutation(500))
    together = dc.Swap("area", seed=1, household="household", rate=0.2)
    for method in (dc.Swap("area", seed=1, risk="age"), dc.Swap("area"), together):
        made = [dc.tabulate(method(microdata(s)), by=["area", "age"]) for s in (table, mixed, tmp_path / "p.csv")]
        assert made[0] == made[1] == made[2]


def test_what_is_refused() -> None:
    """A table, a rate above a half, k without risk, an unknown variable, a household in two areas, no keys."""
    with pytest.raises(dc.InputError, match="Microdata"):
        dc.Swap("area")(dc.datasets.psd14_sex())  # type: ignore[arg-type]
    with pytest.raises(dc.InputError, match="half"):
        dc.Swap("area", rate=0.6)
    with pytest.raises(dc.InputError, match="risk="):
        dc.Swap("area", k=3)
    with pytest.raises(dc.InputError, match="unknown dimension"):
        dc.Swap("aera", seed=1)(microdata(persons()))
    with pytest.raises(dc.InputError, match="more than one area"):
        dc.Swap("area", household="sex", seed=1)(microdata(persons()))
    with pytest.raises(dc.InputError, match="no record keys"):
        dc.Swap("area")(microdata(persons(), key=None))
