"""From records to a Table: every number of every cell against a plain computation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Dimension, InputError, Microdata, Table, tabulate

AREA = Dimension.from_parents("area", {"n1": "N", "n2": "N", "s1": "S"}, {"n1": "coast", "s1": "coast", "n2": "inland"})
SEX = Dimension.flat("sex", ["f", "m"])

firms = st.lists(
    st.tuples(
        st.sampled_from(AREA.leaves),
        st.sampled_from(SEX.leaves),
        st.integers(-300, 900),  # hundredths
        st.integers(10, 40),  # tenths
        st.sampled_from([None, "h1", "h2", "h3"]),
        st.integers(0, 2**64 - 1),
    ),
    min_size=1,
    max_size=14,
)


def frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=["area", "sex", "pay", "weight", "holding", "key"])
    made["pay"], made["weight"] = made["pay"] / 100, made["weight"] / 10
    return made.astype({"key": "uint64"}).assign(id=range(len(made)))


def microdata(data: pd.DataFrame, **options: Any) -> Microdata:
    return Microdata.of(data, dimensions=[AREA, SEX], unit="id", magnitudes=["pay"], **options)


def members(data: pd.DataFrame, area: str, sex: str) -> pd.DataFrame:
    return data[data.area.isin(AREA.leaves_of(area)) & data.sex.isin(SEX.leaves_of(sex))]


def largest(part: pd.DataFrame, top: int) -> list[float]:
    """The largest contributions in size, the parts of a holding added up."""
    who = part.holding.where(part.holding.notna(), part.id.astype(str))
    sums = (part.pay * 100).round().groupby(who).sum() / 100
    return sorted(sums.abs().tolist(), reverse=True)[:top]


@settings(max_examples=30, deadline=None)
@given(firms)
def test_every_number_of_every_cell(rows: list[tuple[Any, ...]]) -> None:
    """Counts, sums, weighted sums, keys, contributors and the largest contributions, margins included."""
    data = frame(rows)
    table = tabulate(
        microdata(data, weight="weight", holding="holding", key="key"), by=["area", "sex"], value="pay", top=2
    )
    for n, cell in enumerate(table.cells.itertuples()):
        part = members(data, str(cell.area), str(cell.sex))
        assert table.count[n] == len(part)
        assert table.statistic("pay").values[n] == pytest.approx(part.pay.sum(), abs=1e-9)
        assert table.statistic("weighted count").values[n] == pytest.approx(part.weight.sum(), abs=1e-9)
        assert table.value[n] == pytest.approx((part.weight * part.pay).sum(), abs=1e-9)
        assert int(table.key[n]) == sum(int(k) for k in part.key) % 2**64
        who = part.holding.where(part.holding.notna(), part.id.astype(str))
        assert table.contributions.count[n] == who.nunique()
        found = np.abs(table.contributions.value[n])
        assert found[~np.isnan(found)].tolist() == pytest.approx(largest(part, 2), abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(firms)
def test_slices_and_margins_agree_with_tabulating_anew(rows: list[tuple[Any, ...]]) -> None:
    """Slicing a table is tabulating that population; other margins are other columns."""
    data = microdata(frame(rows), weight="weight", holding="holding", key="key")
    whole = tabulate(data, by=["area", "sex"], value="pay", top=3)
    part = whole.slice(area="coast")
    anew = tabulate(data, by=["sex"], value="pay", top=3, where={"area": "coast"})
    assert part == anew
    assert np.array_equal(part.contributions.count, anew.contributions.count)
    assert np.array_equal(np.abs(part.contributions.value), np.abs(anew.contributions.value), equal_nan=True)
    linked = [("area",), ("sex",)]
    assert whole.with_margins(linked) == tabulate(data, by=["area", "sex"], margins=linked, value="pay", top=3)


def test_weights_of_the_largest_contributions() -> None:
    """A holding's weight is its weighted sum by its sum."""
    data = frame([("n1", "f", 100, 10, "h1", 1), ("s1", "f", 300, 20, "h1", 2), ("n1", "m", 50, 40, None, 3)])
    table = tabulate(microdata(data, weight="weight", holding="holding"), by=["area", "sex"], value="pay", top=2)
    total = table.where(area="Total", sex="Total")
    assert table.contributions.value[total].tolist() == [[4.0, 0.5]]
    assert table.contributions.weight[total].tolist() == [[1.75, 4.0]]
    assert table.measure == "weighted pay"


def test_signed_groups_have_no_contributions() -> None:
    """What a difference of cells is made of is nobody's contribution."""
    area = AREA.with_group("odd", ["N"], minus=["s1"])
    data = Microdata.of(frame([("n1", "f", 100, 10, None, 1)]), dimensions=[area, SEX], magnitudes=["pay"])
    table = tabulate(data, by=["area"], value="pay")
    odd = table.where(area="odd")
    assert np.isnan(table.contributions.value[odd]).all()
    assert table.contributions.count[odd].tolist() == [-1]
    assert table.value[odd].tolist() == [1.0]


def test_a_record_in_a_structural_zero_is_refused_by_count() -> None:
    """The declaration and the data contradict each other."""
    data = microdata(frame([("n1", "f", 1, 10, None, 1), ("n2", "f", 1, 10, None, 1)]))
    with pytest.raises(InputError, match="2 records lie in cells declared structural zeros"):
        tabulate(data, by=["area", "sex"], structural=[{"area": "N", "sex": "f"}])
    table = tabulate(data, by=["area", "sex"], structural=[{"area": "S"}])
    assert table.layout.n_inner == 4


def test_margins_name_the_dimensions() -> None:
    """Without by=, inner cells are the product of what the margins name, in the codebook's order."""
    data = microdata(frame([("n1", "f", 1, 10, None, 1)]))
    table = tabulate(data, margins=[{"sex": "sex"}, {"area": "level 1"}])
    assert [d.name for d in table.dimensions] == ["area", "sex"]
    assert len(table) == 4
    wrong: dict[str, Any]
    for wrong in (
        {},
        {"by": []},
        {"by": ["sxe"]},
        {"by": ["sex", "sex"]},
        {"by": ["sex"], "value": "wage"},
        {"by": ["sex"], "value": "pay", "top": 0},
    ):
        with pytest.raises(InputError):
            tabulate(data, **wrong)


def test_no_keys_without_a_key() -> None:
    """Nothing is made up: cell keys need record keys or a secret."""
    data = frame([("n1", "f", 1, 10, None, 1)])
    with pytest.raises(InputError, match="no cell keys"):
        _ = tabulate(microdata(data), by=["sex"]).key
    one, other = (tabulate(microdata(data, secret=s * 16), by=["sex"]).key for s in ("a", "b"))
    assert (one != other)[:2].all()
    assert isinstance(tabulate(microdata(data), by="sex"), Table)
