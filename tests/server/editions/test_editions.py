"""Editions: two that differ by a few records would give these away, so the earlier one stays, or it is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.cli import run
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.datasets import census_arrow, census_codebook
from discreet.errors import InputError
from discreet.policy import Policy, Query, answer, parse_policy
from discreet.server.counting import cube
from discreet.server.editions.edition_history import EDITION, FIRST_EDITION, HEAD, history_of
from discreet.server.editions.editions import NEW_SERIES

RECORDS = census_arrow(2_000)
KEYS, SYNTHETIC = '[[method]]\nname = "cell-key"\n', '[[before]]\nname = "synthetic"\nseed = 3\n'


def policy(least: int = 50, method: str = KEYS, title: str = "") -> Policy:
    return parse_policy(f'title = "{title}"\n[edition]\nmin_changes = {least}\n{method}')


def edited(number: int) -> Microdata:
    """The same people, of whom so many are of the other sex."""
    sex = np.array(RECORDS["sex"].to_pylist())
    sex[:number] = np.where(sex[:number] == "M", "F", "M")
    at = RECORDS.column_names.index("sex")
    return Microdata.read(RECORDS.set_column(at, "sex", pa.array(sex)), census_codebook())


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("method", [SYNTHETIC, KEYS])
def test_one_changed_record_changes_nothing_that_is_served(tmp_path: Path, method: str) -> None:
    """All answers are the same bytes until as many records have changed as the policy asks for."""
    made = policy(50, method)
    first = cube.build(edited(0), tmp_path, made)
    assert not first.kept
    before = answer(cube.read_cube(tmp_path)[0], Query.of("sex, age, region"), made).to_csv()
    for number in (0, 1, 49):
        again = cube.build(edited(number), tmp_path, made)
        assert (again.version, again.changed) == (first.version, number > 0)
        assert ("fewer than 50" if number else "no record") in again.kept
    assert answer(cube.read_cube(tmp_path)[0], Query.of("sex, age, region"), made).to_csv() == before
    last = cube.build(edited(90), tmp_path, made)
    assert not last.kept
    assert last.version != first.version
    assert (tmp_path / EDITION).stat().st_mode & 0o077 == 0


def test_without_the_rule_the_record_shows(tmp_path: Path) -> None:
    """With no minimum the next edition is another, and cells that hold the changed record have moved."""
    first = cube.build(edited(0), tmp_path, policy(0))
    assert cube.build(edited(0), tmp_path, policy(0)) == first
    assert cube.build(edited(1), tmp_path, policy(0)).version != first.version


@pytest.mark.parametrize(("stated", "least"), [("", 700), ("[edition]\nmin_changes = 30\n", 30)])
def test_changed_records_are_a_population(stated: str, least: int) -> None:
    """If the policy does not say otherwise, what holds for populations of tables holds for the changed records."""
    assert parse_policy(f"[table]\nmin_population = 700\n{stated}{KEYS}").min_changes == least
    assert parse_policy(KEYS).min_changes == 500


def test_words_about_policy_and_data_are_not_another_series(tmp_path: Path) -> None:
    """Titles, labels and the order of codes let nobody past the minimum."""
    first = cube.build(edited(0), tmp_path, policy(title="one"))
    data = edited(1)
    dimensions = tuple(replace(d, labels={d.leaves[0]: "other words"}) for d in data.codebook.dimensions)
    named = replace(data, codebook=replace(data.codebook, title="another title", dimensions=dimensions))
    assert cube.build(named, tmp_path, policy(title="two")).version == first.version
    assert cube.build(named, tmp_path, policy(title="two")).changed


def one_code_more() -> Microdata:
    book = census_codebook()
    sex = Dimension.flat("sex", ["M", "F", "X"])
    dimensions = tuple(sex if d.name == "sex" else d for d in book.dimensions)
    return Microdata.read(census_arrow(2_000), replace(book, dimensions=dimensions))


SECRET = replace(policy(), secret=b"another secret of bytes")
OTHERS: dict[str, tuple[Callable[[], Microdata], Policy | None, str]] = {
    "one code more": (one_code_more, policy(), "another codebook"),
    "a secret": (lambda: edited(1), SECRET, "another secret"),
    "steps": (lambda: edited(1), policy(method=SYNTHETIC), "other steps before counting"),
    "another v": (lambda: edited(1), policy(method=SYNTHETIC + "v = 4\n"), "other steps before counting"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_series_is_asked_for_by_name(tmp_path: Path, name: str) -> None:
    """Another codebook, secret or step is refused with its danger; nothing is written until it is asked for."""
    data, made, words = OTHERS[name]
    first = policy(method=SYNTHETIC) if name == "another v" else policy()
    cube.build(edited(0), tmp_path, first)
    before = files(tmp_path)
    with pytest.raises(InputError, match=rf"{words}.*two measurements of the same people.*--new-series"):
        cube.build(data(), tmp_path, made)
    assert files(tmp_path) == before
    said: list[str] = []
    assert not cube.build(data(), tmp_path, made, said.append, asked=NEW_SERIES).kept
    assert "can be averaged" in said[0]
    with pytest.raises(InputError, match="not a new series"):
        cube.build(data(), tmp_path, made, asked=NEW_SERIES)


def test_without_a_policy_a_protected_edition_stays(tmp_path: Path) -> None:
    """True counts do not take the place of a synthetic population, nor one record more that of true counts."""
    cube.build(edited(0), tmp_path / "a", policy(method=SYNTHETIC))
    with pytest.raises(InputError, match="other steps"):
        cube.build(edited(1), tmp_path / "a")
    first = cube.build(edited(0), tmp_path / "b")
    assert cube.build(edited(1), tmp_path / "b") == replace(
        first, kept="fewer than 500 records have changed", changed=True
    )


def delete(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def of_another(file: Path) -> None:
    cube.build(edited(500), file.parent / "other", policy())
    file.write_bytes((file.parent / "other" / EDITION).read_bytes())


@pytest.mark.parametrize("damage", [delete, cut, flip, of_another])
def test_an_edition_of_which_nothing_is_known_stays(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    """Marks that are missing, damaged or of another cube: refused, and replaced only if nothing was published."""
    cube.build(edited(0), tmp_path, policy())
    damage(tmp_path / EDITION)
    for asked in ("", NEW_SERIES):
        with pytest.raises(InputError, match=r"it is unknown how many.*--first-edition"):
            cube.build(edited(1), tmp_path, policy(), asked=asked)
    assert not cube.build(edited(1), tmp_path, policy(), asked=FIRST_EDITION).kept
    assert len(history_of(tmp_path).every) == 1


def test_a_build_that_was_broken_off(tmp_path: Path) -> None:
    """The same records are counted again; a few others cannot be told from the edition that is no longer whole."""
    first = cube.build(edited(0), tmp_path, policy())
    (tmp_path / HEAD).unlink()
    with pytest.raises(InputError, match="broken off"):
        cube.build(edited(1), tmp_path, policy())
    assert cube.build(edited(0), tmp_path, policy()) == first


def test_the_command_says_what_it_kept_and_leaves_with_another_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 4 and "kept" where other records were given, 0 where they are the same, 2 for what cannot be compared."""
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(f"[edition]\nmin_changes = 50\n{KEYS}")
    Path("people.toml").write_text(census_codebook().to_toml())
    pq.write_table(RECORDS, "people.parquet")
    pq.write_table(RECORDS.slice(1), "fewer.parquet")
    pq.write_table(RECORDS.slice(60), "many_fewer.parquet")
    rest = ["--codebook", "people.toml", "--policy", "policy.toml", "-o", "people.cube"]

    def command(data: str, *options: str) -> tuple[int, str]:
        code = run(["cube", data, *rest, *options])
        return code, capsys.readouterr().err

    assert command("people.parquet")[0] == 0
    version = json.loads(Path("people.cube/cube.json").read_text())["version"]
    code, said = command("fewer.parquet")
    assert code == 4
    assert "kept the edition in people.cube, because fewer than 50 records have changed" in said
    assert "wrote" not in said
    assert json.loads(Path("people.cube/cube.json").read_text())["version"] == version
    code, said = command("people.parquet")
    assert (code, "kept" in said, "wrote" in said) == (0, True, False)
    assert command("fewer.parquet", "--new-series")[0] == 2
    assert command("fewer.parquet", "--new-series", "--first-edition")[0] == 2
    assert command("many_fewer.parquet")[0] == 0
    assert command("people.parquet", "--first-edition")[0] == 0
