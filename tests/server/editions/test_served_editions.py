"""Editions that a store has served: one of another folder that differs by few records is noticed, other data not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.data.microdata import Microdata
from discreet.datasets import census
from discreet.errors import InputError
from discreet.policy import parse_policy
from discreet.server.counting import cube
from discreet.server.editions.edition_history import EDITION
from discreet.server.editions.edition_marks import EditionMarks
from discreet.server.editions.edition_sketch import PLACES, EditionSketch
from discreet.server.editions.editions import NEW_SERIES
from discreet.server.record.store import Store
from discreet.server.service import Service
from discreet.server.settings import Settings
from tests import servers
from tests.server.editions.test_editions import edited

KEYS = 'secret = { env = "DISCREET_TEST_SECRET" }\n[edition]\nmin_changes = 50\n[[method]]\nname = "cell-key"\n'


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_TEST_SECRET", servers.SECRET)


def built(folder: Path, data: Microdata, text: str = KEYS, asked: str = "") -> Path:
    cube.build(data, folder, parse_policy(text), asked=asked)
    return folder


def serve(tmp_path: Path, folder: Path, text: str = KEYS, store: str = "store.db") -> None:
    """Start a service of a cube and end it."""
    file = tmp_path / "policy.toml"
    file.write_text(text)
    Service(Settings(policy=str(file), cube=str(folder), store=f"sqlite:///{tmp_path}/{store}")).store.close()


@pytest.mark.parametrize("method", ['[[method]]\nname = "cell-key"\n', '[[before]]\nname = "synthetic"\n'])
def test_an_edition_of_another_folder_that_differs_by_a_record_is_not_served(tmp_path: Path, method: str) -> None:
    text = KEYS.partition("[[")[0] + method
    first, second = built(tmp_path / "a", edited(0), text), built(tmp_path / "b", edited(1), text)
    serve(tmp_path, first, text)
    for _ in range(2):  # what was refused is not noted either
        with pytest.raises(InputError, match="not built in 'b', and fewer than 50 records differ"):
            serve(tmp_path, second, text)
    serve(tmp_path, first, text)
    serve(tmp_path, second, text, store="other.db")  # a store knows its own


def test_serve_of_an_edition_that_is_refused_ends(tmp_path: Path) -> None:
    """It says why, once, before it says that it serves, and no worker is started again and again."""
    serve(tmp_path, built(tmp_path / "a", edited(0)))
    built(tmp_path / "b", edited(1))
    start = "import discreet.cli; discreet.cli.main()"
    given = ["b", "--policy", "policy.toml", "--port", "0", "--store", f"sqlite:///{tmp_path}/store.db"]
    done = subprocess.run(
        [sys.executable, "-c", start, "serve", *given], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.count("not built in 'b'") == 1
    assert "serves on" not in done.stdout + done.stderr


def test_the_same_edition_may_lie_in_two_folders(tmp_path: Path) -> None:
    serve(tmp_path, built(tmp_path / "a", edited(0)))
    serve(tmp_path, built(tmp_path / "b", edited(0)))


def test_enough_changed_records_and_other_people_are_served(tmp_path: Path) -> None:
    serve(tmp_path, built(tmp_path / "a", edited(0)))
    serve(tmp_path, built(tmp_path / "b", edited(150)))
    serve(tmp_path, built(tmp_path / "c", census(2_500, seed=9)))


def test_other_people_of_a_small_data_set_are_named(tmp_path: Path) -> None:
    text = KEYS.replace("50", "5000")
    named = text.replace("[[method]]", 'people = "the next village"\n[[method]]')
    serve(tmp_path, built(tmp_path / "a", edited(0), text), text)
    other = built(tmp_path / "b", census(1_500, seed=9), text)
    with pytest.raises(InputError, match="people"):
        serve(tmp_path, other, text)
    serve(tmp_path, other, named)


def test_what_a_folder_has_judged_is_not_judged_again(tmp_path: Path) -> None:
    """A new series was asked for by name where it was built."""
    serve(tmp_path, built(tmp_path / "a", edited(0)))
    text = KEYS.partition("[[")[0] + '[[before]]\nname = "synthetic"\n'
    serve(tmp_path, built(tmp_path / "a", edited(1), text, NEW_SERIES), text)


def test_without_a_minimum_nothing_is_compared(tmp_path: Path) -> None:
    text = KEYS.replace("50", "0")
    serve(tmp_path, built(tmp_path / "a", edited(0), text), text)
    serve(tmp_path, built(tmp_path / "b", edited(1), text), text)


def test_a_folder_without_its_marks_is_not_served(tmp_path: Path) -> None:
    folder = built(tmp_path / "a", edited(0))
    (folder / EDITION).unlink()
    with pytest.raises(InputError, match="marks"):
        serve(tmp_path, folder)
    serve(tmp_path, folder, KEYS.replace("50", "0"))


def test_the_store_holds_nothing_that_can_be_tried(tmp_path: Path) -> None:
    """Sketches of the same edition differ from store to store and hold no sequence of the marks."""
    folder = built(tmp_path / "a", edited(0))
    rows: list[Any] = []
    for store in ("one.db", "two.db"):
        serve(tmp_path, folder, store=store)
        opened = Store(f"sqlite:///{tmp_path}/{store}")
        rows += opened.rows(_every())
        opened.close()
    assert rows[0]["sketch"] != rows[1]["sketch"]
    assert rows[0]["name"] != rows[1]["name"]
    assert (
        max(np.bincount(np.frombuffer(rows[0]["sketch"], np.uint8), minlength=256)) < 2 * len(rows[0]["sketch"]) / 256
    )


def _every() -> Any:
    from sqlalchemy import select

    from discreet.server.schema import editions

    return select(editions)


def marks(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.unique(rng.integers(0, 1 << 63, size, dtype=np.uint64) * np.uint64(2))


@pytest.mark.parametrize(("size", "gone", "new"), [(1000, 0, 0), (1000, 1, 0), (50_000, 400, 700), (90_000, 60_000, 0)])
def test_a_sketch_counts_changed_records_and_never_too_many(size: int, gone: int, new: int) -> None:
    rng = np.random.default_rng(size + gone + new)
    first = marks(rng, size)
    second = np.unique(np.concatenate([rng.permutation(first)[gone:], marks(rng, new)]))
    both = [EditionSketch.of(EditionMarks(one)) for one in (first, second)]
    told, changed = both[0].changed_records(both[1]), max(gone, new)
    assert told <= changed
    assert told >= (0.97 if changed < 0.1 * PLACES else 0.8) * changed
    assert EditionSketch.from_bytes(both[0].to_bytes()).changed_records(both[1]) == told


def test_a_sketch_of_nobody_in_common_is_far() -> None:
    rng = np.random.default_rng(1)
    one, other = (EditionSketch.of(EditionMarks(marks(rng, 400_000))) for _ in range(2))
    assert one.changed_records(other) > 300_000


def test_changed_values_count(tmp_path: Path) -> None:
    """The same people with other amounts in one cell of three."""
    rng = np.random.default_rng(2)
    people, cells = marks(rng, 900), marks(rng, 300)
    other = np.unique(np.concatenate([cells[100:], marks(rng, 100)]))
    one, two = (EditionSketch.of(EditionMarks(people, cells, values)) for values in (cells, other))
    assert 1 <= one.changed_records(two) <= 100
