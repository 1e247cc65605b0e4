"""Files that give cells away together, and certificates made to judge them apart."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.verify import FINDINGS, NotProvedError, cells_digest, read_rows, sha256, verify, what_is_proved
from discreet.audits.verify.separate_claims import check_not_shown, judged_apart, named_as_in_file
from discreet.cli import main

Content = dict[str, Any]

WIDE = (
    "area,sex,count,status\nTotal,Total,40,\nTotal,1,22,\nTotal,2,18,\n"
    "A,Total,20,\nA,1,,c\nA,2,,c\nB,Total,20,\nB,1,,c\nB,2,,c\n"
)
DETAIL = "area,sex,count\nA,1,12\n"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Content:
    """The certificate of both files: together they give all four cells away."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "wide.csv").write_text(WIDE)
    (folder / "detail.csv").write_text(DETAIL)
    paper = folder / "both.json"
    call = [
        "audit",
        str(folder / "wide.csv"),
        str(folder / "detail.csv"),
        "--zeros-hidden",
        "--certificate",
        str(paper),
    ]
    with pytest.raises(SystemExit):
        main(call)
    content: Content = json.loads(paper.read_text())
    return content


def sealed(content: Content) -> Content:
    return content | {"seal": sha256({k: v for k, v in content.items() if k != "seal"})}


def claim_on(content: Content, table: int, base: list[int], move: list[Any], reached: dict[str, list[str]]) -> Content:
    """A claim of one file, with two witness tables of it; ``reached`` by codes with a blank between them."""
    cells = [{"table": 0, "cell": k.split(), "reached": ends, "finding": "open"} for k, ends in reached.items()]
    changes: Content = {
        "tables": [table],
        "base": [1, list(range(4)), base],
        "moves": [[1, *move]],
        "cells": cells,
        "summary": dict.fromkeys(FINDINGS, 0) | {"open": len(cells)},
    }
    return {**copy.deepcopy(content["measures"][0]), **changes}


def split(honest: Content) -> Content:
    """The wide file by itself is safe; of the other a cell is claimed that it has no line of."""
    content = copy.deepcopy(honest)
    wide = next(t for t, entry in enumerate(content["files"]) if entry["cells"] == 9)
    swing = {"A 1": ["12", "13"], "A 2": ["7", "8"], "B 1": ["9", "10"], "B 2": ["10", "11"]}
    first = claim_on(content, wide, [12, 8, 10, 10], [[0, 1, 2, 3], [1, -1, -1, 1]], swing)
    second = claim_on(content, 1 - wide, [12, 0, 0, 0], [[1], [5]], {"A 2": ["0", "5"]})
    content["measures"] = [first, second]
    return content | {"audit": "pass", "verdict": "pass"}


def renamed(content: Content, measure: str, column: str, names: list[str]) -> Content:
    """The second file's columns called otherwise, with a digest that fits."""
    at = next(t for t, entry in enumerate(content["files"]) if entry["cells"] == 1)
    entry = content["files"][at]
    entry |= {"dimensions": names, "measures": {measure: 0}, "columns": [column]}
    entry["sha256"] = cells_digest(entry, read_rows(DETAIL, entry, ",", ".", ","))
    return content


def test_two_claims_of_one_measure(honest: Content) -> None:
    """Each file by itself passes; both together do not, and no certificate may take them one by one."""
    assert verify(honest, [WIDE, DETAIL]) == "fail"
    with pytest.raises(NotProvedError, match="more than one claim is of 'count'"):
        verify(sealed(split(honest)), [WIDE, DETAIL])


def test_a_cell_that_another_file_shows(honest: Content) -> None:
    """It is compared by its codes, whatever the claims say of sums: in another order, or without a dimension."""
    content = split(honest)
    files, claims = content["files"], content["measures"]
    texts = [WIDE if entry["cells"] == 9 else DETAIL for entry in files]
    read = [read_rows(text, entry, ",", ".", ",") for text, entry in zip(texts, files, strict=True)]
    with pytest.raises(NotProvedError, match="called open and is shown"):
        check_not_shown(claims, files, read)
    detail = next(t for t, entry in enumerate(files) if entry["cells"] == 1)
    turned = [e if t != detail else e | {"dimensions": ["sex", "area"]} for t, e in enumerate(files)]
    read[detail] = {("1", "A"): ("", (12, 12))}
    with pytest.raises(NotProvedError, match="called open and is shown"):
        check_not_shown(claims, turned, read)
    read[detail] = {("1", "C"): ("", (12, 12))}
    check_not_shown(claims, turned, read)
    area = [e if t != detail else e | {"dimensions": ["area"]} for t, e in enumerate(files)]
    read[detail] = {("A",): ("", (20, 20))}
    claims[0]["cells"][0]["cell"] = ["A", "Total"]
    claims[1]["cells"] = []
    with pytest.raises(NotProvedError, match="called open and is shown"):
        check_not_shown(claims, area, read)


@pytest.mark.parametrize(
    ("measure", "column", "names", "words"),
    [
        ("Count", "Count", ["area", "sex"], "called open and is shown"),
        ("count.", "count.", ["area", "sex"], "called open and is shown"),
        ("persons", "count", ["area", "sex"], "not called what its column"),
        ("sex", "sex", ["area", "count"], "judged apart|dimension of another"),
    ],
)
def test_a_measure_renamed(honest: Content, measure: str, column: str, names: list[str], words: str) -> None:
    """The same column under another name, as far as the reader takes it, is no other quantity."""
    content = renamed(split(honest), measure, column, names)
    claim = content["measures"][1]
    claim |= {"measure": measure, "whole": False}
    if names != ["area", "sex"]:
        claim["dimensions"][1] = {"name": "count", "total": None, "leaves": ["12", "13"], "sums": {}}
        claim["cells"][0] |= {"cell": ["A", "13"]}
        claim["base"] = [1, [0], [1]]
    with pytest.raises(NotProvedError, match=words):
        verify(sealed(content), [WIDE, DETAIL])


def test_a_dimension_renamed(honest: Content) -> None:
    """One claim of both files, but the second one's dimensions are called others, so that nothing ties them."""
    content = renamed(split(honest), "count", "count", ["Area", "Sex"])
    wide, detail = (next(t for t, e in enumerate(content["files"]) if e["cells"] == n) for n in (9, 1))
    own = copy.deepcopy(content["measures"][0]["dimensions"])
    others = [d | {"name": d["name"].capitalize()} for d in copy.deepcopy(own)]

    def coupled(first: list[int], second: list[int]) -> np.ndarray[Any, Any]:
        """A table of 4 x 4 with these margins."""
        table, left, right = np.zeros((4, 4), int), list(first), list(second)
        for i in range(4):
            for j in range(4):
                table[i, j] = min(left[i], right[j])
                left[i] -= table[i, j]
                right[j] -= table[i, j]
        return table

    base, move = coupled([12, 8, 10, 10], [12, 8, 10, 10]), coupled([13, 7, 9, 11], [12, 8, 10, 10])
    claim = content["measures"][0]
    change = (move - base).ravel()
    numbers = np.flatnonzero(change).tolist()
    claim |= {
        "tables": [wide, detail],
        "dimensions": [*own, *others],
        "base": [1, list(range(16)), base.ravel().tolist()],
        "moves": [[1, numbers, change[numbers].tolist()]],
    }
    content["measures"] = [claim]
    with pytest.raises(NotProvedError, match="called open and is shown"):
        verify(sealed(content), [WIDE, DETAIL])
    read = [{("A", "1"): ("", (12, 12))}] * 2
    words = [why for _, why in judged_apart(content["measures"], content["files"], read)]
    assert words == [f"{d!r} and {d.lower()!r} are judged apart, and may be one dimension" for d in ("Area", "Sex")]


def test_what_is_printed_names_the_files(honest: Content) -> None:
    """Each claim says of which files it is."""
    lines = what_is_proved(honest)
    assert [line for line in lines if line.startswith("  of file")] == [
        "  of file 1 of 2: 'area' x 'sex', 9 lines",
        "  of file 2 of 2: 'area' x 'sex', 1 lines",
    ]


def two_columns(values: Any, others: Any, hidden: Any) -> dc.Release:
    """A release of two measures over the same codes; the first alone is hidden in some inner cells."""
    table, second = (dc.Table.of(np.asarray(v), ["area", "sex"]) for v in (values, others))
    pattern = table.is_inner.copy()
    pattern[pattern] = hidden
    release = dc.protect(table, dc.Hide(pattern)).release()
    count = np.asarray(release.values["count"], float)
    return replace(
        release,
        values={
            "count": count,
            "persons": np.where(pattern, np.nan, np.asarray(second.statistic("count").values, float)),
        },
        decimals={"count": 0, "persons": 0},
    )


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_two_columns_of_one_quantity(seed: int, same: bool) -> None:
    """Columns that show the same wherever both show a number may be one quantity; others are two."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 20, (3, 3))
    hidden = np.array([1, 1, 0, 1, 1, 0, 0, 0, 0], bool)
    release = two_columns(values, values if same else values + 1, hidden)
    certificate = dc.audit(release).certificate()
    told = [text for claim in certificate.content["measures"] for text in claim["unjudged"]]
    assert any("'count' and 'persons' are judged apart" in text for text in told) == same
    if same:
        assert certificate.verdict != "pass"
        content = json.loads(certificate.to_json())
        for claim in content["measures"]:
            claim["unjudged"] = []
        content |= {"verdict": "pass", "audit": "pass"}
        with pytest.raises(NotProvedError, match="judged apart"):
            verify(sealed(content), [release.to_csv()])


def entry_of(names: list[str], measure: str, decimals: int = 0) -> Content:
    return {"dimensions": names, "measures": {measure: decimals}, "columns": [measure], "status": "status"}


def plain_claim(table: int, measure: str, sums: dict[str, Any], decimals: int = 0, implied: Any = None) -> Content:
    dimension = {"name": "area", "total": next(iter(sums), None), "leaves": ["A", "B"], "sums": sums}
    stated = {"measure": measure, "tables": [table], "decimals": decimals, "implied": implied}
    return stated | {"dimensions": [dimension], "cells": []}


WHOLE = {"Total": {"A": 1, "B": 1}}


@pytest.mark.parametrize(
    ("cells", "decimals", "implied", "apart"),
    [
        ({"A": 3, "Total": 9}, 0, None, True),  # the same where both show a number
        ({"A": 3, "Total": 8}, 0, None, False),
        ({"A": 30, "Total": 90}, 1, None, True),  # 3.0 and 9.0
        ({"A": 30, "Total": 91}, 1, None, False),
        ({"A": 5, "Total": 10}, 0, {"5": [3, 7], "10": [8, 12]}, True),  # rounded
        ({"A": 5, "Total": 15}, 0, {"5": [3, 7], "15": [13, 17]}, False),
        ({"A": 3, "Total": 9}, 0, {"3": [50, 60], "9": [50, 60]}, True),  # a value stands for itself at least
        ({"B": 4}, 0, None, True),  # no cell is shown in both
        ({"C": 4}, 0, None, False),  # no code in common
        ({"C": 4, "Total": 9}, 0, None, False),
    ],
)
def test_files_of_two_measures(cells: Any, decimals: int, implied: Any, apart: bool) -> None:
    """Two files with codes in common are of two quantities only if a cell is shown in both, and differs."""
    files = [entry_of(["area"], "count"), entry_of(["area"], "persons", decimals)]
    first = {("A",): ("", (3, 3)), ("B",): ("", (None, None)), ("Total",): ("", (9, 9))}
    second = {(code,): ("", (value, value)) for code, value in cells.items()}
    claims = [plain_claim(0, "count", WHOLE), plain_claim(1, "persons", WHOLE, decimals, implied)]
    assert bool(judged_apart(claims, files, [first, second])) == apart


def test_a_total_that_only_one_claim_calls_so() -> None:
    """It would make a cell of another, which then differs from what the other file shows."""
    files = [entry_of(["area"], "count"), entry_of(["area", "sex"], "persons")]
    first = {("A",): ("", (20, 20))}
    second = {("A", "1"): ("", (12, 12))}
    sex = {"name": "sex", "total": "1", "leaves": ["x", "y"], "sums": {"1": {"x": 1}}}
    claims = [plain_claim(0, "count", WHOLE), plain_claim(1, "persons", WHOLE)]
    claims[1]["dimensions"].append(sex)
    assert judged_apart(claims, files, [first, second])


def test_names_of_columns() -> None:
    """A measure is called what its column is; underscores only where the name is taken."""
    assert named_as_in_file(entry_of(["area"], "count"))
    taken = entry_of(["count"], "count")
    assert not named_as_in_file(taken)
    assert named_as_in_file(taken | {"columns": ["count_"]})
    assert not named_as_in_file(entry_of(["area"], "count") | {"columns": ["count_"]})
