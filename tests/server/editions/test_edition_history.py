"""All editions of a folder: a new one is compared with each, not only with the one before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli import run
from discreet.data.microdata import Microdata
from discreet.datasets import census_arrow, census_codebook
from discreet.errors import InputError
from discreet.policy import Policy, parse_policy
from discreet.policy.pretabular import cube_of
from discreet.server.counting import cube
from discreet.server.editions.edition_history import EDITION, FIRST_EDITION, Edition, EditionHistory, history_of
from discreet.server.editions.edition_marks import EditionMarks, SeriesMarks
from discreet.server.editions.edition_series import Series, codes_digest
from discreet.server.editions.editions import NEW_SERIES

RECORDS = census_arrow(2_000)
KEYS, SYNTHETIC = '[[method]]\nname = "cell-key"\n', '[[before]]\nname = "synthetic"\nseed = 3\n'
BOOK = census_codebook()
NO_WORKING_CHILDREN: tuple[dict[str, tuple[str, ...]], ...] = ({"age": ("0-4",), "activity": ("EMP",)},)


def policy(least: int = 50, method: str = KEYS) -> Policy:
    return parse_policy(f"[edition]\nmin_changes = {least}\n{method}")


def first(number: int, step: int = 1) -> Microdata:
    """The first records of the census, or every so many of them."""
    return Microdata.read(RECORDS.slice(0, number).take(np.arange(0, number, step)), BOOK)


def files(folder: Path, *without: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in without}


def test_the_command_compares_with_the_edition_before_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A, then B with far fewer, then A and one record: kept, exit 4; A itself gives the bytes of A."""
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(f"[edition]\nmin_changes = 50\n{KEYS}")
    Path("people.toml").write_text(BOOK.to_toml())
    for name, number in {"a": 1_900, "one_more": 1_901, "b": 1_750, "many_more": 1_960}.items():
        pq.write_table(RECORDS.slice(0, number), f"{name}.parquet")
    rest = ["--codebook", "people.toml", "--policy", "policy.toml", "-o", "people.cube"]

    def command(name: str) -> tuple[int, str]:
        code = run(["cube", f"{name}.parquet", *rest])
        return code, capsys.readouterr().err

    assert command("a")[0] == 0
    a = files(Path("people.cube"), EDITION)
    assert command("one_more")[0] == 4
    assert command("b")[0] == 0
    b = files(Path("people.cube"))
    code, said = command("one_more")
    assert code == 4
    assert "fewer than 50 records have changed since an earlier edition" in said
    assert files(Path("people.cube")) == b
    assert command("a")[0] == 0
    assert files(Path("people.cube"), EDITION) == a
    code, said = command("a")
    assert (code, "no record has changed" in said) == (0, True)
    assert command("one_more")[0] == 4
    assert command("many_more")[0] == 0


@pytest.mark.parametrize("method", [KEYS, SYNTHETIC])
def test_every_pair_of_published_editions_differs_by_the_minimum(tmp_path: Path, method: str) -> None:
    """Whatever is asked in whatever order, what was written differs from all that was written before, or equals it."""
    rng = np.random.default_rng(5)
    written: list[int] = []
    for number in rng.integers(1_500, 2_000, 12).tolist():
        built = cube.build(first(number), tmp_path, policy(50, method))
        near = [one for one in written if 0 < abs(one - number) < 50]
        assert bool(built.kept) == (number in written[-1:] or (bool(near) and number not in written))
        if not built.kept:
            written.append(number)
    assert len(written) >= 4


def test_without_a_minimum_editions_are_still_remembered(tmp_path: Path) -> None:
    """``min_changes = 0`` replaces whatever is there; a minimum that is stated later holds against it."""
    for number in (1_900, 1_901, 1_700):
        assert not cube.build(first(number), tmp_path, policy(0)).kept
    assert cube.build(first(1_902), tmp_path, policy()).kept
    assert not cube.build(first(1_901), tmp_path, policy()).kept


def test_the_way_round_by_another_series(tmp_path: Path) -> None:
    """Out into another series and back: the editions of the first series are compared again."""
    cube.build(first(1_900), tmp_path, policy())
    cube.build(first(1_900), tmp_path, policy(method=SYNTHETIC), asked=NEW_SERIES)
    with pytest.raises(InputError, match="--new-series"):
        cube.build(first(1_901), tmp_path, policy())
    back = cube.build(first(1_901), tmp_path, policy(), asked=NEW_SERIES)
    assert back.changed
    assert "since an earlier edition" in back.kept
    assert not cube.build(first(1_900), tmp_path, policy(), asked=NEW_SERIES).kept
    assert [len(one.versions) for one in history_of(tmp_path).every] == [1, 1]


def test_records_of_an_earlier_edition_with_other_keys_are_not_measured_anew(tmp_path: Path) -> None:
    """Cell keys would draw other noise for the same people, so the cube must be that of then."""
    keys = np.random.default_rng(1).integers(0, 2**63, 2_000)
    book = replace(BOOK, key="rk")

    def keyed(number: int, turned: int) -> Microdata:
        return Microdata.read(RECORDS.append_column("rk", pa.array(np.roll(keys, turned))).slice(0, number), book)

    cube.build(keyed(1_900, 0), tmp_path, policy())
    assert not cube.build(keyed(1_700, 0), tmp_path, policy()).kept
    before = files(tmp_path)
    with pytest.raises(InputError, match="measure the same people again"):
        cube.build(keyed(1_900, 1), tmp_path, policy())
    assert files(tmp_path) == before
    assert not cube.build(keyed(1_900, 0), tmp_path, policy()).kept


@pytest.mark.parametrize("zeros", [(), NO_WORKING_CHILDREN])
def test_a_file_of_one_edition_is_the_first_of_the_list(
    tmp_path: Path, zeros: tuple[dict[str, tuple[str, ...]], ...]
) -> None:
    """As versions before wrote it, with a hash of the codebook that left structural zeros out."""
    book = replace(BOOK, structural=zeros)
    child = pa.compute.equal(RECORDS["age"], "0-4") if zeros else pa.array([False] * 2_000)
    people = RECORDS.filter(pa.compute.invert(child))

    def data(number: int) -> Microdata:
        return Microdata.read(people.slice(0, number), book)

    version = cube.build(data(1_500), tmp_path, policy()).version
    marks = EditionMarks.of(cube_of(data(1_500)), None)
    about = {**asdict(Series.of(book, policy())), "version": version}
    about["codebook"] = codes_digest(replace(book, structural=()))
    np.savez(tmp_path / EDITION, about=np.array(json.dumps(about)), **vars(marks))
    assert history_of(tmp_path).every[0].versions == (version,)
    assert cube.build(data(1_501), tmp_path, policy()).changed
    assert not cube.build(data(1_300), tmp_path, policy()).kept
    assert cube.build(data(1_501), tmp_path, policy()).changed


def test_other_structural_zeros_are_another_series(tmp_path: Path) -> None:
    """Which combinations cannot exist decides what is drawn and shown; how they are written down does not."""
    children = pa.compute.equal(RECORDS["age"], "0-4")
    people = RECORDS.filter(pa.compute.invert(children))

    def data(*zeros: dict[str, tuple[str, ...]]) -> Microdata:
        return Microdata.read(people, replace(BOOK, structural=zeros))

    one: dict[str, tuple[str, ...]] = {"age": ("0-4",), "activity": ("EMP", "UNE")}
    other: dict[str, tuple[str, ...]] = {"sex": ("F",), "age": ("0-4",)}
    cube.build(data(one), tmp_path, policy())
    for zeros in ((), (one, other), (other,), NO_WORKING_CHILDREN):
        with pytest.raises(InputError, match=r"another codebook.*--new-series"):
            cube.build(data(*zeros), tmp_path, policy())
    assert cube.build(data({"activity": ("UNE", "EMP"), "age": ("0-4",)}), tmp_path, policy()).kept
    assert not cube.build(data(one, other), tmp_path, policy(), asked=NEW_SERIES).kept


WORDS = st.sets(st.integers(0, 40), max_size=20)


@settings(max_examples=60)
@given(editions=st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=20), new=st.tuples(WORDS, WORDS, WORDS))
def test_changes_since_every_edition(
    editions: list[tuple[set[int], set[int], set[int]]], new: tuple[set[int], set[int], set[int]]
) -> None:
    """From marks that are kept once, the same numbers as from the sets of each edition, also beyond eight of them."""

    def marks(sets: tuple[set[int], ...]) -> EditionMarks:
        return EditionMarks(*(np.array(sorted(one), np.uint64) for one in sets))

    series = SeriesMarks.of(marks(editions[0]))
    for edition in editions[1:]:
        series = series.joined(marks(edition))
    assert series.changed_records(marks(new)) == [
        max(len(records - new[0]), len(new[0] - records)) + len(cells & new[1]) - len(values & new[2])
        for records, cells, values in editions
    ]


def test_growth_is_of_new_records_alone(tmp_path: Path) -> None:
    """Fifty editions of 20,000 records with 2 % new ones each: about 10 bytes for each record that was ever held."""
    rng = np.random.default_rng(3)
    series = Series("codes", "", "")
    words = np.unique(rng.integers(0, 2**63, 70_000).astype(np.uint64))
    words = words[rng.permutation(len(words))]
    history = EditionHistory()
    for edition in range(50):
        held = np.sort(words[edition * 400 : edition * 400 + 20_000])
        history = history.joined(Edition(series, EditionMarks(held), f"v{edition}"))
    history.write(tmp_path)
    ever = 20_000 + 49 * 400
    assert (tmp_path / EDITION).stat().st_size < 11 * ever
    again = history_of(tmp_path)
    assert again.every[0].marks.changed_records(EditionMarks(held)) == [400 * n for n in range(49, -1, -1)]
    assert again.joined(Edition(series, EditionMarks(held), "v49")).every[0].versions == history.every[0].versions


def shorter(about: dict[str, list[dict[str, list[str]]]]) -> None:
    about["series"][0]["versions"] *= 9


def of_none(about: dict[str, object]) -> None:
    about["current"] = 7


@pytest.mark.parametrize("damage", [shorter, of_none])
def test_marks_that_do_not_fit_are_refused(tmp_path: Path, damage: Callable[[dict[str, object]], None]) -> None:
    """A list of editions that the marks do not fit tells nothing, and nothing is replaced."""
    cube.build(first(1_900), tmp_path, policy())
    with np.load(tmp_path / EDITION) as held:
        arrays = dict(held)
    about = json.loads(str(arrays.pop("about")))
    damage(about)
    np.savez(tmp_path / EDITION, about=np.array(json.dumps(about)), **arrays)
    with pytest.raises(InputError, match="it is unknown"):
        cube.build(first(1_500), tmp_path, policy())
    assert not cube.build(first(1_500), tmp_path, policy(), asked=FIRST_EDITION).kept
