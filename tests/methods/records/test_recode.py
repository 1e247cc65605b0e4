"""Global recoding and sampling: coarser or fewer, and otherwise true."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from tests.persons import microdata, persons


def test_recoding_adds_the_counts_of_the_old_codes() -> None:
    """By groups and by a level of the hierarchy; totals and other variables as before."""
    data = microdata(persons(500))
    old = dc.tabulate(data, by=["age", "sex"])
    new = dc.tabulate(dc.GlobalRecode("age", groups={"young": ["0", "1"]})(data), by=["age", "sex"])
    assert new.dimensions[0].leaves == ("young", "2", "3")
    together = old.count[old.where(age="0")] + old.count[old.where(age="1")]
    assert (new.count[new.where(age="young")] == together).all()
    assert (new.count[new.where(age="Total")] == old.count[old.where(age="Total")]).all()
    regions = dc.tabulate(dc.GlobalRecode("area", level="level 1")(data), by="area")
    fine = dc.tabulate(data, by="area")
    assert regions.dimensions[0].leaves == ("N", "S")
    assert (regions.count == fine.count[fine.where(area=["Total", "N", "S"])]).all()


def test_groups_that_stay_whole_are_kept() -> None:
    """Joining two southern areas keeps both regions; joining across them keeps none that is cut."""
    data = microdata(persons(100))
    south = dc.GlobalRecode("area", groups={"s1-2": ["s1", "s2"]})(data).dimension("area")
    assert set(south.codes) == {"Total", "N", "n1", "n2", "S", "s1-2", "s3"}
    across = dc.GlobalRecode("area", groups={"x": ["n2", "s1"]})(data).dimension("area")
    assert set(across.codes) == {"Total", "n1", "x", "s2", "s3"}


def test_keys_stay_with_their_records() -> None:
    """A recoded cell has the key of the records it holds, so cell key noise is that of the union."""
    data = microdata(persons(300))
    old, new = dc.tabulate(data, by="area"), dc.tabulate(dc.GlobalRecode("area", level="level 1")(data), by="area")
    assert (old.key[old.where(area=["Total", "N", "S"])] == new.key).all()


def test_samples_have_the_wanted_size_in_every_stratum() -> None:
    """Within one record; a record's fate does not depend on the order of the file."""
    table = persons(2000)
    data = microdata(table)
    sample = dc.Sample(0.1, strata=("area", "sex"), seed=1)(data)
    before, after = dc.tabulate(data, by=["area", "sex"]), dc.tabulate(sample, by=["area", "sex"])
    inner = before.is_inner
    assert (np.abs(after.count[inner] - 0.1 * before.count[inner]) < 1).all()
    mixed = microdata(table.take(np.random.default_rng(1).permutation(2000)))
    again = dc.Sample(0.1, strata=("area", "sex"), seed=1)(mixed)
    assert set(sample.engine.arrow(["id"])["id"].to_pylist()) == set(again.engine.arrow(["id"])["id"].to_pylist())  # type: ignore[attr-defined]


def test_what_is_refused() -> None:
    """Both ways at once, a code in two groups, a group of groups, an empty sample."""
    data = microdata(persons(30))
    with pytest.raises(dc.InputError, match="either"):
        dc.GlobalRecode("age")
    with pytest.raises(dc.InputError, match="two groups"):
        dc.GlobalRecode("age", groups={"a": ["0"], "b": ["0"]})(data)
    with pytest.raises(dc.InputError, match="finest"):
        dc.GlobalRecode("area", groups={"x": ["N"]})(data)
    with pytest.raises(dc.InputError, match="is not a code"):
        dc.GlobalRecode("age", groups={"a": ["7"]})(data)
    with pytest.raises(dc.InputError, match="fraction="):
        dc.Sample(0)
    with pytest.raises(dc.InputError, match="Microdata"):
        dc.Sample(0.5, seed=1)(dc.datasets.psd14_sex())  # type: ignore[arg-type]
