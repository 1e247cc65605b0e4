"""Editions: two that differ by a few records would give these away, so the earlier one stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.data.microdata import Microdata
from discreet.datasets import census_arrow, census_codebook
from discreet.policy import Policy, Query, answer, parse_policy
from discreet.policy.pretabular import cube_of
from discreet.server import cube
from discreet.server.edition_marks import FILE, changed_records, marks_of_edition, record_marks

N = 3_000
RECORDS = census_arrow(N)
SECRET = b"sixteen bytes of secret"


def policy(least: int, method: str = '[[before]]\nname = "synthetic"\nseed = 3\n') -> Policy:
    return parse_policy(f"[edition]\nmin_changes = {least}\n{method}")


def edited(number: int) -> Microdata:
    """The same people, of whom so many are of the other sex."""
    sex = np.array(RECORDS["sex"].to_pylist())
    sex[:number] = np.where(sex[:number] == "M", "F", "M")
    at = RECORDS.column_names.index("sex")
    return Microdata.read(RECORDS.set_column(at, "sex", pa.array(sex)), census_codebook())


@pytest.mark.parametrize("method", ['[[before]]\nname = "synthetic"\nseed = 3\n', '[[method]]\nname = "cell-key"\n'])
def test_one_changed_record_changes_nothing_that_is_served(tmp_path: Path, method: str) -> None:
    """All answers are the same bytes until as many records have changed as the policy asks for."""
    made = policy(50, method)
    said: list[str] = []
    first = cube.build(edited(0), tmp_path, made, said.append)
    before = answer(cube.read_cube(tmp_path)[0], Query.of("sex, age, region"), made).to_csv()
    assert cube.build(edited(1), tmp_path, made, said.append) == first
    assert cube.build(edited(49), tmp_path, made, said.append) == first
    assert answer(cube.read_cube(tmp_path)[0], Query.of("sex, age, region"), made).to_csv() == before
    assert len(said) == 2
    assert "the edition that is there stays" in said[0]
    assert cube.build(edited(90), tmp_path, made, said.append) != first
    assert len(said) == 2


def test_without_the_rule_the_record_shows(tmp_path: Path) -> None:
    """With no minimum the next edition is another, and cells that hold the changed record have moved."""
    made = policy(0, '[[method]]\nname = "cell-key"\n')
    first = cube.build(edited(0), tmp_path / "a", made)
    assert cube.build(edited(0), tmp_path / "a", made) == first
    assert cube.build(edited(1), tmp_path / "a", made) != first


def test_changes_are_counted_from_marks() -> None:
    """Added, removed and changed records, whatever the order; other secrets make other marks."""
    cubes = [cube_of(edited(number)) for number in (0, 1, 20)]
    marks = [record_marks(one, SECRET) for one in cubes]
    assert len(marks[0]) == N
    assert changed_records(marks[0], marks[0]) == 0
    assert changed_records(marks[0], marks[1]) == 1
    assert changed_records(marks[0], marks[2]) <= 20  # two that change places are no change of any table
    assert changed_records(marks[0], marks[0][:-7]) == 7
    assert changed_records(marks[0], record_marks(cubes[0], b"another sixteen bytes")) == N


def test_an_edition_of_which_nothing_is_known_is_built(tmp_path: Path) -> None:
    """A cube from elsewhere has no marks to compare; the next one has."""
    made = policy(50)
    cube.build(edited(0), tmp_path)
    assert marks_of_edition(tmp_path) is None
    cube.build(edited(1), tmp_path, made)
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
    assert marks_of_edition(tmp_path) is not None
