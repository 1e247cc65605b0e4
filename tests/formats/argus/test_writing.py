"""Protected tables in the files of tau-ARGUS."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import (
    Hide,
    InputError,
    Publish,
    protect,
    tabulate,
)  # fmt: skip
from discreet.formats import argus, to_bytes


def test_protected_tables_in_the_files_of_tau_argus(folder: Path) -> None:
    """Codes in quotes, 'x' for hidden values, one letter for all hidden cells."""
    made = argus.read_table(folder / "t.tab")
    hidden = made.marks.unsafe | made.marks.secondary
    r = protect(made.table, Hide(hidden, measures=("Pay", "count"))).release()
    lines = to_bytes(r, "argus-csv").decode().split("\r\n")
    assert lines[:5] == ['"T","Total",12.5', '"T","a",9.0', '"T","b",3.5', '"f","Total",8.5', '"f","a",x']
    sbs = to_bytes(r, "sbs").decode().split("\r\n")
    assert sbs[3:6] == ['"f","Total",8.5,3,V', '"f","a",x,,D', '"f","b",x,,D']
    assert to_bytes(r, "argus-csv", measure="count", names=True).startswith(b'"Sex","Area","Freq"\r\n"T","Total",4\r\n')
    with pytest.raises(InputError, match="no measure 'Pey'; did you mean 'Pay'"):
        to_bytes(r, "sbs", measure="Pey")


def test_levels_in_the_sbs_file(folder: Path) -> None:
    """How far below the total each code stands."""
    t = tabulate(argus.read_microdata(folder / "firms.asc", weighted=True), by=["Area"], value="Pay")
    lines = to_bytes(Publish(measures=("count",))(t).release(), "sbs", levels=True).decode().split("\r\n")
    assert lines[:3] == ['"All",0,5,5,V', '"N",1,3,3,V', '"1",2,2,2,V']
    three = Publish(measures=("count", "Pay", "weighted Pay"))(t).release()
    with pytest.raises(InputError, match="holds one measure; name it"):
        to_bytes(three, "sbs")
