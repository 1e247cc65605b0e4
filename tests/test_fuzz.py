"""Damaged files of every kind that is read: an error of ours and no number of the data in it, or a result.

The damage is that of ``benchmarks/fuzz.py``, which does the same a hundred thousand times.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.scripts import script

RUNS = 25  # of each target


FUZZ = script("fuzz")


@pytest.fixture(autouse=True)
def _faults_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_TRACEBACK", "1")


@pytest.mark.parametrize("name", FUZZ.TARGETS)
def test_the_files_are_right_before_they_are_damaged(name: str, tmp_path: Path) -> None:
    """Otherwise nothing behind the first look would ever be reached."""
    FUZZ.whole(FUZZ.TARGETS[name], tmp_path)


@pytest.mark.parametrize("name", FUZZ.TARGETS)
def test_damaged_files_are_no_faults(name: str, tmp_path: Path) -> None:
    """Every run has its seed, so a fault comes back."""
    faults = {}
    for number in range(RUNS):
        fault = FUZZ.attempt(FUZZ.TARGETS[name], tmp_path, random.Random(f"test {name} {number}"))
        if fault is not None:
            faults[number] = fault
    assert not faults


@pytest.mark.parametrize(
    ("what", "says"),
    [
        (lambda folder: 1 / 0, "ZeroDivisionError"),
        (lambda folder: FUZZ.time.sleep(10), "TooLong"),
        (lambda folder: FUZZ.check_message(f"the value {FUZZ.SIGN} is wrong"), "repeats a number"),
        (lambda folder: FUZZ._command("show", "none.csv")(folder), None),
    ],
)  # fmt: skip
def test_a_fault_is_seen(what: object, says: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kind of error, work without end and a number of the data are faults; an error of ours is none."""
    monkeypatch.setattr(FUZZ, "SECONDS", 0.2)
    found = FUZZ.attempt(FUZZ.Target({"a": b"x"}, what), tmp_path, random.Random(1))
    assert found is None if says is None else says in (found or "")


def test_damage_is_the_same_for_a_seed() -> None:
    """A run that is printed can be repeated."""
    one, two = (FUZZ.damaged(FUZZ.CODEBOOK, random.Random("7 3")) for _ in range(2))
    assert one == two != FUZZ.CODEBOOK
    assert os.environ["DISCREET_TRACEBACK"] == "1"
