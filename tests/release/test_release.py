"""The barrier: nothing true of a hidden or changed cell gets through it."""

from __future__ import annotations

import gc
import io
import pickle
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Dimension, Hide, InputError, Protected, Publish, Release, Status, Table, protect
from discreet.tables.room import Room
from tests.strategies import tables

SECRETS = (987_654_321, 123_454_321)
COUNTS = np.array([[SECRETS[0], 5, 7], [3, SECRETS[1], 2]])


def table() -> Table:
    return Table.of(COUNTS, [Dimension.flat("area", ["N", "S"]), Dimension.flat("age", ["a", "b", "c"])], title="t")


def secret_cells(t: Table) -> Any:
    """Every cell whose value is or contains a secret."""
    return t.count > 1000


def forms(number: int) -> list[bytes]:
    """A number as it could stand in bytes."""
    return [
        str(number).encode(),
        f"{number:,}".encode(),
        struct.pack("<q", number),
        struct.pack(">q", number),
        struct.pack("<d", number),
        struct.pack(">d", number),
        struct.pack("<i", number),
        struct.pack(">i", number),
    ]


def everything_it_says(release: Release) -> bytes:
    frame = io.StringIO()
    release.cells.to_csv(frame)
    texts = [
        repr(release),
        str(release),
        release._repr_html_(),
        str(release.to_dict()),
        repr(release.__dict__),
        frame.getvalue(),
    ]
    return pickle.dumps(release) + release.to_csv() + "".join(texts).encode()


def reachable(thing: object) -> list[Any]:
    """All arrays that can be reached from an object by any path of references, bases of views included."""
    seen: set[int] = set()
    stack, arrays = [thing], []
    while stack:
        item = stack.pop()
        if (
            id(item) in seen
            or isinstance(item, type)
            or type(item).__name__ in {"module", "function", "builtin_function_or_method"}
        ):
            continue
        seen.add(id(item))
        if isinstance(item, np.ndarray):
            arrays.append(item)
            stack.append(item.base)
        stack.extend(gc.get_referents(item))
    return arrays


def test_no_true_value_of_a_hidden_cell_gets_out() -> None:
    """Not by pickle, text, HTML, CSV, JSON, nor by following references in memory."""
    t = table()
    release = protect(t, Hide(secret_cells(t))).release(notes=["a note"])
    out = everything_it_says(release)
    for number in [*SECRETS, *t.count[secret_cells(t)].tolist()]:
        for form in forms(number):
            assert form not in out
        for array in reachable(release):
            if array.dtype.kind in "iuf":
                assert not (array == number).any()


def test_the_search_would_find_a_leak() -> None:
    """The test above can fail: a Protected does give the numbers away."""
    t = table()
    hidden = protect(t, Hide(secret_cells(t)))
    assert any(form in pickle.dumps(hidden) for form in forms(SECRETS[0]))
    assert any((a == SECRETS[0]).any() for a in reachable(hidden) if a.dtype.kind in "iuf")


def test_changed_cells_do_not_show_what_they_were() -> None:
    """A method that changes values releases the new ones only."""
    t = table()
    changed = np.where(secret_cells(t), 1000, t.count)
    release = Protected(t, {"count": changed}, np.full(len(t), "s"), "top coding").release()
    out = everything_it_says(release)
    assert not any(form in out for number in SECRETS for form in forms(number))
    assert release.cells["count"].max() == 1000


def test_errors_at_the_barrier_name_no_value() -> None:
    """A hidden cell with a value is refused without saying it."""
    t = table()
    status = np.where(secret_cells(t), Status.PRIMARY.value, Status.PUBLISHED.value)
    with pytest.raises(InputError, match="a hidden cell has a value") as caught:
        Protected(t, {"count": t.count.astype(float)}, status, "broken")
    assert not any(str(s) in str(caught.value) for s in SECRETS)
    with pytest.raises(InputError, match="published one has none"):
        Protected(t, {"count": np.full(len(t), np.nan)}, np.full(len(t), "s"), "broken")
    with pytest.raises(InputError, match="a status is one of"):
        Protected(t, {"count": t.count}, np.full(len(t), "?"), "broken")
    with pytest.raises(InputError, match="one value for each"):
        Protected(t, {"count": t.count[:1]}, np.full(len(t), "s"), "broken")


def test_outward_status_does_not_tell_primary_from_secondary() -> None:
    """Both are 'c'; a cell that is never published is not there at all."""
    t = table()
    status = np.full(len(t), "s")
    status[:4] = ["u", "x", "z", "w"]
    published = np.where(np.isin(status, ["u", "x", "w"]), np.nan, t.count)
    release = Protected(t, {"count": published}, status, "m").release()
    assert release.status.tolist() == ["c", "c", "", *[""] * (len(t) - 4)]
    assert len(release) == len(t) - 1


@given(tables(), st.randoms(use_true_random=False))
def test_release_shows_exactly_the_open_cells(t: Table, random: Any) -> None:
    """Values where open, missing where hidden, the same bytes each time."""
    mask = np.array([random.random() < 0.4 for _ in range(len(t))])
    release = protect(t, Hide(mask)).release()
    shown = release.values["count"]
    assert np.array_equal(np.isnan(shown), mask)
    assert np.array_equal(shown[~mask], t.count[~mask])
    again = protect(t, Hide(np.flatnonzero(mask))).release()
    assert again == release
    assert again.to_csv() == release.to_csv()
    assert pickle.loads(pickle.dumps(release)) == release


def test_hide_by_mask_number_or_codes() -> None:
    """Three ways to say the same."""
    t = table()
    mask = t.where(area="N", age="a")
    ways = [
        Hide(mask),
        Hide(np.flatnonzero(mask)),
        Hide({"area": "N", "age": "a"}),
        Hide([{"area": "N", "age": ["a"]}]),
    ]
    assert len({protect(t, w).release().to_csv() for w in ways}) == 1
    assert not protect(t, Hide([])).hidden.any()
    for wrong in (mask[:2], [99], [-1], ["x"]):
        with pytest.raises(InputError):
            protect(t, Hide(wrong))
    with pytest.raises(InputError, match="no measure 'key'"):
        protect(t, Publish(measures=("key",)))


def test_csv_is_rfc_4180(tmp_path: Path) -> None:
    """Quotes where needed, CRLF, hidden values empty, decimals as stated; outside readers agree."""
    d = Dimension.flat("a,b", ["x,1", 'y"2', "z"])
    t = Table.of(np.array([0.25, 2.0, 3.5]), [d], value="turnover")
    data = protect(t, Hide([{"a,b": "z"}])).release().to_csv(tmp_path / "t.csv")
    assert data == b'"a,b",turnover,status\r\nTotal,5.75,\r\n"x,1",0.25,\r\n"y""2",2.00,\r\nz,,c\r\n'
    assert (tmp_path / "t.csv").read_bytes() == data
    frame = pd.read_csv(tmp_path / "t.csv")
    assert frame["turnover"].tolist()[:3] == [5.75, 0.25, 2.0]
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    with pytest.raises(InputError, match="nothing was written"):
        protect(t, Publish()).release().to_csv(tmp_path / "no" / "t.csv")


def test_views_of_protected_and_release() -> None:
    """Summaries people read."""
    t = table()
    hidden = protect(t, Hide(secret_cells(t)))
    assert hidden.summary().loc["primary", "cells"] == int(secret_cells(t).sum())
    assert hidden.cells.columns.tolist() == ["area", "age", "count", "published count", "status"]
    assert "hidden" in repr(hidden)
    assert "×" in hidden._repr_html_()
    assert "×" in str(hidden.release())
    assert hidden.release().title == "t"


def test_what_is_published_is_numbers_in_the_units_of_the_measure() -> None:
    """Lists are arrays; texts and counts that are not whole are refused, and no message shows one."""
    table = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    shown: Any = [6.0, 3, 3, 3, 3, 0, 3, 0, 3]
    letters: Any = ["s"] * 9
    plain = Protected(table, {"count": shown}, letters, "rounded")
    assert plain.release().to_csv().splitlines()[1] == b"Total,Total,6,"
    values: Any
    for values in (np.full(9, 59.4), [59.4] * 9, ["59.4"] * 9, np.full(9, "59.4")):
        with pytest.raises(InputError, match=r"whole numbers|are numbers") as refusal:
            Protected(table, {"count": values}, np.full(9, "s"), "mine")
        assert "59" not in str(refusal.value)
    with pytest.raises(InputError, match="a status is one of"):
        Protected(table, {"count": np.zeros(9)}, letters[:8], "mine")


@given(tables(), st.randoms(use_true_random=False))
def test_a_release_is_a_function_of_what_is_published(t: Table, random: Any) -> None:
    """Other true values, status letters, details and levels beside the same published ones: the same bytes."""
    mask = np.array([random.random() < 0.4 for _ in range(len(t))])
    shown = np.where(mask, np.nan, 7.0 * np.arange(len(t)))
    statuses = [np.where(mask, letters, "s") for letters in (np.full(len(t), "u"), np.full(len(t), "x"))]
    other = replace(
        t, statistics={n: replace(v, cells=v.cells + 13, inner=v.inner + 13) for n, v in t.statistics.items()}
    )
    room = Room(levels=tuple(np.full(len(t), 3.0) for _ in range(3)))
    one = Protected(t, {"count": shown}, statuses[0], "m", details={"seed": 4711}, room=room).release()
    two = Protected(other, {"count": shown}, statuses[1], "m").release()
    assert one == two
    assert one.to_csv() == two.to_csv()
    assert pickle.dumps(one) == pickle.dumps(two)
