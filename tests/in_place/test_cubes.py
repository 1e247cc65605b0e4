"""Cubes (JSON-stat, PX, SDMX-CSV) as others write them: sums that they do not declare, words beside their cells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from discreet.cli import run
from discreet.sheets.reading_sheets import read_table
from discreet.tables.reading.by_suffix import raw_table

PARTS = {"T": ("N", "S"), "N": ("a", "b"), "S": ("c", "d", "e")}
AREAS = ("T", "N", "a", "b", "S", "c", "d", "e")
SEXES = ("T", "f", "m")
Cells = dict[tuple[str, str], int]


def cells_of(men: list[int], women: list[int]) -> Cells:
    """All cells of five areas of two regions by sex."""
    finest = {area: (f, m) for area, f, m in zip("abcde", women, men, strict=True)}

    def of(area: str) -> tuple[int, int]:
        if area in finest:
            return finest[area]
        below = [of(part) for part in PARTS[area]]
        return sum(f for f, _ in below), sum(m for _, m in below)

    return {(area, sex): n for area in AREAS for sex, n in zip(SEXES, (sum(of(area)), *of(area)), strict=True)}


def px(path: Path, cells: Cells, title: str = "P", source: str = "", labels: str = "") -> None:
    areas = ",".join(f'"{area}"' for area in AREAS)
    lines = [
        'CODEPAGE="utf-8";',
        f'TITLE="{title}";',
        'CONTENTS="Persons";',
        'STUB="area";',
        'HEADING="sex";',
        f'VALUES("area")={labels or areas};',
        f'CODES("area")={areas};',
        'VALUES("sex")="T","f","m";',
        f'SOURCE="{source}";' if source else "",
        'CELLNOTE("a","m")="4 men of one family";',
        "DATA=",
        *(" ".join(str(cells[area, sex]) for sex in SEXES) for area in AREAS),
        ";",
    ]
    path.write_text("\n".join(line for line in lines if line), "utf-8")


def json_stat(path: Path, cells: Cells, title: str = "P", source: str = "", **more: object) -> None:
    dimension = {"area": {"category": {"index": AREAS}}, "sex": {"category": {"index": SEXES}}}
    value = [cells[area, sex] for area in AREAS for sex in SEXES]
    cube = {"version": "2.0", "class": "dataset", "label": title, "source": source, "id": ["area", "sex"]}
    path.write_text(json.dumps({**cube, "size": [8, 3], "dimension": dimension, "value": value, **more}))


def sdmx(path: Path, cells: Cells, title: str = "P", source: str = "") -> None:
    rows = [f'dataflow,X:Y(1.0),I,{a},{s},{n},A,F,it is {n},"{title}",{source}' for (a, s), n in cells.items()]
    head = "STRUCTURE,STRUCTURE_ID,ACTION,AREA,SEX,OBS_VALUE,OBS_STATUS,CONF_STATUS,COMMENT,TITLE,SOURCE"
    path.write_text("\n".join([head, *rows]) + "\n")


WRITERS: dict[str, Callable[..., None]] = {".px": px, ".json": json_stat, ".sdmx.csv": sdmx}


def shown_in(path: Path) -> dict[tuple[str, str], float]:
    """The numbers of a cube that was written; cells that are not shown are not among them."""
    raw = raw_table(path, None)
    (values,) = raw.values.values()
    cells = zip(*(raw.codes[raw.names.index(name)] for name in sorted(raw.names)), strict=True)
    return {(a, s): n for (a, s), n in zip(cells, values.tolist(), strict=True) if not np.isnan(n)}


def interval(shown: dict[tuple[str, str], float], cell: tuple[str, str]) -> tuple[float, float]:
    """Between what a count is, as a program in whole numbers over the finest cells says."""
    finest = [(area, sex) for area in "abcde" for sex in "fm"]

    def within(outer: str, inner: str) -> bool:
        return outer == inner or any(within(part, inner) for part in PARTS.get(outer, ()))

    sums = [[float(within(a, x) and s in ("T", y)) for x, y in finest] for a, s in shown]
    told = np.array(list(shown.values()))
    goal = np.array([float(within(cell[0], x) and cell[1] in ("T", y)) for x, y in finest])
    ends = []
    for sign in (1, -1):
        found = milp(
            sign * goal, integrality=np.ones(10, int), bounds=Bounds(0), constraints=LinearConstraint(sums, told, told)
        )
        ends.append(sign * float(found.fun or 0))
    return ends[0], ends[1]


@pytest.mark.parametrize("suffix", WRITERS)
@settings(max_examples=6, deadline=None)
@given(st.lists(st.sampled_from([1, 2, 4, 7, 30, 61, 88, 143]), min_size=10, max_size=10), st.randoms())
def test_sums_that_a_cube_does_not_declare_give_nothing_away(
    suffix: str, tmp_path_factory: pytest.TempPathFactory, numbers: list[int], random: object
) -> None:
    """Regions stand among their areas, and nothing in the file says so."""
    cells = cells_of(numbers[:5], [n + 20 for n in numbers[5:]])
    folder = tmp_path_factory.mktemp("cube")
    source, safe = folder / f"t{suffix}", folder / f"t.safe{suffix}"
    WRITERS[suffix](source, cells)
    done = run(["protect", str(source), "--hide-under", "6"])
    if done:  # a question, or a table that cannot be protected
        assert not safe.exists()
        return
    shown = shown_in(safe)
    assert all(cells[cell] == n for cell, n in shown.items())
    for cell, n in cells.items():
        if 0 < n < 6:
            assert cell not in shown
            low, high = interval(shown, cell)
            assert low < high


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_nested_cube_is_protected_in_one_command(suffix: str, tmp_path: Path) -> None:
    """One small count of one area: of its region something must go, too."""
    source, safe = tmp_path / f"t{suffix}", tmp_path / f"t.safe{suffix}"
    WRITERS[suffix](source, cells_of([3, 51, 44, 27, 80], [40, 22, 31, 65, 90]))
    assert run(["protect", str(source), "--hide-under", "6"]) == 0
    shown = shown_in(safe)
    low, high = interval(shown, ("a", "m"))
    assert low < high
    assert ("T", "T") in shown


@pytest.mark.parametrize("suffix", WRITERS)
def test_words_of_a_cube_tell_nothing_that_is_hidden(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Title and source are left out where they do; notes, comments and members of other makes always."""
    source, safe = tmp_path / f"t{suffix}", tmp_path / f"t.safe{suffix}"
    cells = cells_of([4, 51, 44, 27, 80], [40, 22, 31, 65, 90])
    WRITERS[suffix](source, cells, "Persons; there are 4 men in a", "Register (40 women of a)")
    assert run(["protect", str(source), "--hide-under", "6"]) == 0
    written = safe.read_text("utf-8")
    assert not [word for word in ("4 men", "40 women", "it is", "family") if word in written]
    said = capsys.readouterr().err
    assert "left out: the title" in said
    assert "left out: the source" in said
    WRITERS[suffix](source, cells, "Persons, 2024", "Register")
    assert run(["protect", str(source), "--hide-under", "6", "--force"]) == 0
    assert "Persons, 2024" in safe.read_text("utf-8")


def test_labels_of_a_cube_that_state_a_hidden_count_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = '"All","North","Abbey (4 men)","b","South","c","d","e"'
    px(tmp_path / "t.px", cells_of([4, 51, 44, 27, 80], [40, 22, 31, 65, 90]), labels=labels)
    assert run(["protect", str(tmp_path / "t.px"), "--hide-under", "6"]) == 2
    assert "the label of a" in capsys.readouterr().err


def test_marks_beside_the_numbers_of_a_cube_are_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The option in the message is followed, and works."""
    path = tmp_path / "t.json"
    json_stat(path, cells_of([4, 51, 44, 27, 80], [40, 22, 31, 65, 90]), status={"3": "p", "7": "p"})
    assert run(["protect", str(path), "--hide-under", "6"]) == 2
    assert "--flag 'p'" in capsys.readouterr().err
    assert run(["protect", str(path), "--hide-under", "6", "--flag", "p"]) == 0


def test_what_a_cube_says_of_its_sums_is_taken(tmp_path: Path) -> None:
    """Areas below others of one line each, where numbers alone would be asked about."""
    child = {"T": ["N", "S"], "N": ["a", "b"], "S": ["c"]}
    codes = ["T", "N", "a", "b", "S", "c"]
    values = [150, 70, 4, 66, 80, 80]
    cube = {"version": "2.0", "class": "dataset", "id": ["area"], "size": [6], "value": values}
    labels = {"a": "Abbey"}
    dimension = {"area": {"category": {"index": codes, "label": labels, "child": child}}}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({**cube, "dimension": dimension}))
    read = read_table(path)
    assert {group.code for group in read.dimensions[0].groups} == {"N", "S"}
    assert read.dimensions[0].labels == labels
    assert run(["protect", str(path), "--hide-under", "6"]) == 0


def test_a_mark_for_a_list_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The format has marks of its own."""
    px(tmp_path / "t.px", cells_of([4, 51, 44, 27, 80], [40, 22, 31, 65, 90]))
    assert run(["protect", str(tmp_path / "t.px"), "--hide-under", "6", "--mark", "[c]"]) == 2
    assert "leave it out" in capsys.readouterr().err
    assert not (tmp_path / "t.safe.px").exists()
