"""Certificates made to deceive: somebody wants a pass for a table that leaks, and seals what he changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.verify import (
    FINDINGS,
    MalformedError,
    NotProvedError,
    cells_digest,
    read_rows,
    sha256,
    verify,
    what_is_proved,
)

Content = dict[str, Any]
REFUSED = (NotProvedError, MalformedError)


def sealed(content: Content) -> Content:
    """The same with a seal that fits."""
    return content | {"seal": sha256({k: v for k, v in content.items() if k != "seal"})}


def certified(values: Any, hidden: list[tuple[int, int]], **more: Any) -> tuple[Content, str]:
    """The certificate and the CSV of a two-way table of which some inner cells are hidden."""
    table = dc.Table.of(np.array(values), ["area", "sex"])
    pattern = np.zeros(len(table), bool)
    for i, j in hidden:
        pattern |= table.where(area=str(i), sex=str(j))
    protected = dc.protect(table, dc.Hide(pattern))
    certificate = dc.audit(protected, **more).certificate()
    return json.loads(certificate.to_json()), protected.release().to_csv().decode()


VALUES = [[5, 1, 3], [6, 4, 6], [7, 8, 9]]
SAFE, SAFE_CSV = certified(VALUES, [(1, 1), (1, 2), (2, 1), (2, 2)])
LEAK, LEAK_CSV = certified(VALUES, [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)])


def test_the_honest_ones() -> None:
    """What the forgeries start from."""
    assert verify(SAFE, [SAFE_CSV]) == "pass"
    assert verify(LEAK, [LEAK_CSV]) == "fail"


def relabelled(content: Content) -> Content:
    """Everything is called open."""
    for claim in content["measures"]:
        for cell in claim["cells"]:
            cell.pop("proof", None)
            cell["finding"] = "open"
        claim["summary"] = dict.fromkeys(FINDINGS, 0) | {"open": len(claim["cells"])}
    return content | {"verdict": "pass", "audit": "pass"}


def moved(content: Content, move: list[Any], reached: dict[tuple[str, ...], list[str]]) -> Content:
    """One more witness, and what it would reach."""
    claim = content["measures"][0]
    claim["moves"].append(move)
    for cell in claim["cells"]:
        cell["reached"] = reached.get(tuple(cell["cell"]), cell["reached"])
    return relabelled(content)


def leaf_total(content: Content) -> Content:
    """The total of a dimension becomes a code of its own, so that nothing adds up to it."""
    d = next(d for d in content["measures"][0]["dimensions"] if d["name"] == "sex")
    d["leaves"].append("Total")
    d["sums"], d["total"] = {}, None
    return content


def without(content: Content, *codes: str) -> Content:
    claim = content["measures"][0]
    claim["cells"] = [cell for cell in claim["cells"] if tuple(cell["cell"]) != codes]
    return content


def dropped_leak(content: Content) -> Content:
    return relabelled(without(content, "3", "3"))


def edited_witness(content: Content) -> Content:
    return moved(content, [1, [8], [1]], {("3", "3"): ["9", "10"]})


def negative_floor(content: Content) -> Content:
    content["measures"][0]["beforehand"] = [[-1, n, -100, None] for n in range(9)]
    return moved(content, [1, [0, 1], [-100, 100]], {("1", "1"): ["-95", "5"], ("1", "2"): ["1", "101"]})


def no_floor(content: Content) -> Content:
    content["measures"][0]["least"] = None
    return edited_witness(content)


def left_out_equation(content: Content) -> Content:
    sex = next(d for d in content["measures"][0]["dimensions"] if d["name"] == "sex")
    del sex["sums"]["Total"]["3"]
    return edited_witness(content)


def half_witness(content: Content) -> Content:
    return moved(content, [2, [8], [1]], {("3", "3"): ["9", "19/2"]})


def wider_meaning(content: Content) -> Content:
    content["measures"][0]["implied"] = {}
    return edited_witness(content)


def decimals_of_counts(content: Content) -> Content:
    content["measures"][0]["decimals"] = 1
    return relabelled(content)


def no_audit(content: Content) -> Content:
    return content | {"audit": "pass", "verdict": "pass"}


def empty(content: Content) -> Content:
    return content | {"measures": [], "files": [], "verdict": "pass", "audit": "pass"}


def no_table(content: Content) -> Content:
    content["measures"][0]["tables"] = []
    return relabelled(content)


def prior_everything(content: Content) -> Content:
    """The leak is said to be known beforehand within wide bounds."""
    content["measures"][0]["beforehand"] = [[0, ["3", "3"], 0, 100]]
    return edited_witness(content)


FORGERIES = [
    relabelled,
    dropped_leak,
    edited_witness,
    negative_floor,
    no_floor,
    left_out_equation,
    half_witness,
    wider_meaning,
    decimals_of_counts,
    no_audit,
    empty,
    no_table,
    prior_everything,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_no_pass_for_a_table_that_leaks(forge: Callable[[Content], Content]) -> None:
    """Whatever is sealed."""
    with pytest.raises(REFUSED):
        verify(sealed(forge(copy.deepcopy(LEAK))), [LEAK_CSV])


def test_a_hierarchy_that_hides_a_sum() -> None:
    """A total that is called a finest code adds up in every full line: it is seen, and there is no pass."""
    rng = np.random.default_rng(2)
    values = rng.integers(2, 30, (5, 4))
    content, text = certified(values, [(1, 1)])
    forged = leaf_total(content)
    claim = forged["measures"][0]
    inner = {tuple(line.split(",")[:2]): line.split(",")[2] for line in text.splitlines()[1:]}
    areas, codes = claim["dimensions"][0]["leaves"], [*"1234", "Total"]
    amounts = [int(inner[a, s] or 0) for a in areas for s in codes]
    claim["base"] = [1, list(range(len(amounts))), amounts]
    claim["beforehand"] = []
    # the column's total still ties the cell; without that sum, too, it would be open
    claim["dimensions"][0]["sums"], claim["dimensions"][0]["total"] = {}, None
    claim["dimensions"][0]["leaves"] = [*areas, "Total"]
    amounts += [int(inner["Total", s] or 0) for s in codes]
    claim["base"] = [1, list(range(len(amounts))), amounts]
    claim["moves"] = [[1, [0], [7]]]
    claim["cells"][0]["reached"] = ["0", "7"]
    with pytest.raises(NotProvedError, match="verdict does not follow"):
        verify(sealed(relabelled(forged)), [text])
    forged["verdict"] = forged["audit"] = "unknown"
    assert verify(sealed(relabelled(forged) | {"verdict": "unknown"}), [text]) == "unknown"


def test_swapped_tables() -> None:
    """The certificate of one table is none of another, also if it says the other's digest."""
    for content, text in ((SAFE, LEAK_CSV), (LEAK, SAFE_CSV)):
        with pytest.raises(NotProvedError, match="not among the files"):
            verify(content, [text])
    forged = copy.deepcopy(SAFE)
    forged["files"] = LEAK["files"]
    with pytest.raises(NotProvedError, match="nothing is claimed"):
        verify(sealed(forged), [LEAK_CSV])


def test_a_line_left_out_is_a_hidden_cell() -> None:
    """A cell whose line is missing is not shown either, and something must be claimed of it."""
    lines = LEAK_CSV.splitlines()
    table = dc.Table.of(np.array(VALUES), ["area", "sex"])
    release = dc.protect(table, dc.Hide(table.where(area="3", sex="3"))).release()
    gone = dc.Release.of_frame(release.cells[release.cells["status"] != "c"].astype({"area": str, "sex": str}))
    assert len(gone) == len(lines) - 2
    certificate = dc.audit(gone).certificate()
    assert certificate.verdict == "fail"
    content = json.loads(certificate.to_json())
    claims = content["measures"][0]["cells"]
    assert [c["cell"] for c in claims] == [["3", "3"]]
    with pytest.raises(NotProvedError, match="nothing is claimed"):
        verify(sealed(relabelled(without(content, "3", "3"))), [gone.to_csv()])


def test_surplus() -> None:
    """Further files, the same file twice, columns, fields of the certificate, claims of other measures."""
    for tables in ([SAFE_CSV, LEAK_CSV], [SAFE_CSV, SAFE_CSV], []):
        with pytest.raises(NotProvedError):
            verify(SAFE, tables)
    head, *lines = SAFE_CSV.splitlines()
    wider = "\n".join([f"{head},true", *(f"{line},1" for line in lines), ""])
    with pytest.raises(NotProvedError, match="differs"):
        verify(SAFE, [wider])
    for path in ((), ("measures", 0), ("measures", 0, "cells", 0), ("files", 0)):
        forged = copy.deepcopy(SAFE)
        held: Any = forged
        for key in path:
            held = held[key]
        held["extra"] = 1
        with pytest.raises(MalformedError, match=r"extra|certificate"):
            verify(sealed(forged), [SAFE_CSV])
    several: list[list[Any]] = [["measures"], ["files"], ["measures", 0, "dimensions"]]
    for place in several:
        forged = copy.deepcopy(SAFE)
        held = forged
        for step in place:
            held = held[step]
        held.append(copy.deepcopy(held[0]))
        with pytest.raises(NotProvedError):
            verify(sealed(forged), [SAFE_CSV])
    forged = copy.deepcopy(SAFE)
    forged["measures"][0]["dimensions"].append({"name": "age", "total": None, "leaves": ["0"], "sums": {}})
    with pytest.raises(NotProvedError, match="in no table"):
        verify(sealed(forged), [SAFE_CSV])
    forged = copy.deepcopy(SAFE)
    forged["measures"][0]["tables"].append(0)
    with pytest.raises(NotProvedError, match="twice"):
        verify(sealed(forged), [SAFE_CSV])


def test_levels_raised_or_lowered() -> None:
    """A level that is raised is not reached; what is asked is printed as an assumption."""
    table = dc.Table.of(np.array(VALUES, float), ["area", "sex"], value="turnover")
    protected = dc.protect(table, dc.Hide(table.where(area=["1", "2"], sex=["1", "2"])))
    amount = np.where(protected.hidden, 0.5, 0)
    content = json.loads(dc.audit(protected, protection=(amount, amount)).certificate(confidential=True).to_json())
    text = protected.release().to_csv()
    assert verify(content, [text]) == "pass"
    assert any("levels of 4 cells" in line for line in what_is_proved(content))
    for need in (["-1", "1000", "0"], ["0", "0", "1000"], ["1/0", "1", "1"], ["1e999", "1", "1"], ["nan", "1", "1"]):
        forged = copy.deepcopy(content)
        forged["measures"][0]["cells"][0]["need"] = need
        with pytest.raises(REFUSED):
            verify(sealed(forged), [text])


def test_decimals_that_are_not_written() -> None:
    """Counts said to have decimals would be open between two whole numbers: the files do not show any."""
    forged = copy.deepcopy(SAFE)
    claim, entry = forged["measures"][0], forged["files"][0]
    claim["whole"], claim["decimals"] = False, 1
    with pytest.raises(NotProvedError, match="other decimals"):
        verify(sealed(forged), [SAFE_CSV])
    tenths = {
        codes: (mark, *(tuple(end and 10 * end for end in ends) for ends in values))
        for codes, (mark, *values) in read_rows(SAFE_CSV, entry, ",", ".", ",").items()
    }
    entry["measures"]["count"] = 1
    entry["sha256"] = cells_digest(entry, tenths)
    with pytest.raises(NotProvedError, match="not among the files"):
        verify(sealed(forged), [SAFE_CSV])
    assert verify(SAFE, [SAFE_CSV]) == "pass"


def test_intruders_left_out() -> None:
    """A certificate that does not name the outsider, whom the claims are of, proves nothing of anybody."""
    others = [one for one in SAFE["intruders"] if one["verdict"] != "proved by the claims"]
    assert others
    for intruders in ([], others, [*SAFE["intruders"], SAFE["intruders"][0]]):
        with pytest.raises(NotProvedError, match="intruders"):
            verify(sealed(SAFE | {"intruders": intruders}), [SAFE_CSV])


def test_counts_in_fractions_or_below_zero() -> None:
    """Counts are whole numbers whatever a certificate says; that they may be negative is printed as an assumption."""
    forged = copy.deepcopy(SAFE)
    forged["measures"][0]["whole"] = False
    with pytest.raises(NotProvedError, match="whole numbers"):
        verify(sealed(forged), [SAFE_CSV])
    forged = copy.deepcopy(SAFE)
    forged["measures"][0]["least"] = None
    assert verify(sealed(forged), [SAFE_CSV]) == "pass"
    assert any("they may be negative" in line for line in what_is_proved(forged))


def test_codes_and_dimensions_that_the_claim_does_not_have() -> None:
    """The message says what is missing where."""
    forged = copy.deepcopy(SAFE)
    claim = forged["measures"][0]
    sex = next(d for d in claim["dimensions"] if d["name"] == "sex")
    sex["leaves"][0] = "9"
    sex["sums"]["Total"] = dict.fromkeys(sex["leaves"], 1)
    with pytest.raises(NotProvedError, match="a code of a table is not among those of its dimension"):
        verify(sealed(forged), [SAFE_CSV])
    forged = copy.deepcopy(SAFE)
    forged["measures"][0]["cells"][0]["cell"] = ["1"]
    with pytest.raises(NotProvedError, match="a dimension of a table is not among those of its claim"):
        verify(sealed(forged), [SAFE_CSV])


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, -1, 1, 10**40, "", "x", "-1", "1/0", "9" * 100, [], {}, [[]], [0], {"": 0}, 0.5, "\ud800"]
)


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All paths, those of lists and objects, too."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(p for key, value in pairs for p in places(value, (*path, key)))]


@given(st.data(), ODD)
@settings(max_examples=400, deadline=None)
def test_anything_anywhere(data: st.DataObject, odd: Any) -> None:
    """Whatever stands in the place of a field: refused or proved to be no better, never a crash."""
    content = copy.deepcopy(LEAK)
    path = data.draw(st.sampled_from(places(content)[1:]))
    held: Any = content
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = odd
    try:
        verdict = verify(sealed(content), [LEAK_CSV])
    except REFUSED:
        return
    assert verdict == "fail"
