"""The plain table of a page: totals first, variables named, and every cell on some page."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.server.views import sheet


def release(shape: tuple[int, ...]) -> dc.Release:
    """Numbers that are all different."""
    names = [f"v{k}" for k in range(len(shape))]
    return dc.Publish()(dc.Table.of(np.arange(np.prod(shape)).reshape(shape), names)).release()


def test_totals_come_first_and_layers_name_their_variable() -> None:
    """A table of three variables opens on everybody."""
    laid = sheet.laid_out(release((4, 3, 2)), {})
    assert laid.stubs[0] == ("Total",)
    assert [head.text for head in laid.heads[-1]] == ["Total", "1", "2", "3"]
    assert laid.layers == ("v2: Total", "v2: 1", "v2: 2")
    assert laid.layer == 0
    assert laid.body[0][0].text == f"{sum(range(24)):,}"


@pytest.mark.parametrize("shape", [(3,), (250,), (5, 90), (450, 100)])
def test_pages_hold_every_cell_once(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size; nothing is cut."""
    whole = release(shape)
    places = {"v0": "rows", "v1": "columns"}
    first = sheet.laid_out(whole, places)
    seen: list[float] = []
    for number in range(max(len(first.pages), 1)):
        laid = sheet.laid_out(whole, places, page=number)
        assert laid.page == number
        assert len(laid.body) == len(laid.stubs) <= sheet.MOST_ROWS
        assert {len(line) for line in laid.body} == {len(laid.heads[-1]) if laid.heads else 1}
        seen += [cell.value for cell in itertools.chain(*laid.body) if cell.value is not None]
    assert sorted(seen) == sorted(whole.values["count"].tolist())
    assert len(set(first.pages)) == len(first.pages)


def test_a_page_that_does_not_exist_is_the_last() -> None:
    """Addresses are kept for years; tables shrink."""
    assert sheet.laid_out(release((250,)), {}, page=99).page == 1


def test_names_lie_as_deep_as_their_groups() -> None:
    """The plain table is indented as the viewer's is: a code below its group, a group below the one above."""
    area = dc.Dimension.from_parents("area", {"N1": "N", "N2": "N", "S1": "S", "N": "land", "S": "land"}, total="all")
    people = dc.Microdata.of(pd.DataFrame({"area": ["N1", "N2", "S1"]}), dimensions=[area])
    laid = sheet.laid_out(dc.Publish()(dc.tabulate(people, by=["area"])).release(), {})
    found = dict(zip([name for (name,) in laid.stubs], [depth for (depth,) in laid.depths], strict=True))
    assert found == {"all": 0, "land": 0, "N": 1, "S": 1, "N1": 2, "N2": 2, "S1": 2}
