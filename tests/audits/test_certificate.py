"""Certificates: what they claim agrees with linear programs written out here, and the open copy holds no truth."""

from __future__ import annotations

import json
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import discreet as dc
from discreet.audits.verify import NotProvedError
from tests.strategies import tables


def suppressed(table: dc.Table, rng: np.random.Generator, share: float) -> dc.Protected:
    return dc.protect(table, dc.Hide(rng.random(len(table)) < share))


def texts(released: dc.Protected | list[dc.Protected]) -> list[bytes]:
    several = released if isinstance(released, list) else [released]
    return [one.release().to_csv() for one in several]


def bounds(protected: dc.Protected, cell: int) -> tuple[float, float]:
    """The least and greatest value of a cell over all inner cells that are not negative, by two linear programs."""
    table = protected.table
    shown = np.flatnonzero(~protected.hidden)
    matrix, value = table.matrix.toarray().astype(float), table.value.astype(float)
    ends = []
    for sign in (1, -1):
        found = linprog(sign * matrix[:, cell], A_eq=matrix[:, shown].T, b_eq=value[shown], bounds=(0, None))
        ends.append(sign * float(found.fun or 0) if found.status == 0 else -sign * np.inf)
    return ends[0], ends[1]


@given(tables(), st.integers(0, 10**6), st.sampled_from([0.2, 0.5]), st.booleans())
@settings(max_examples=20, deadline=None)
def test_findings_are_those_of_linear_programs(table: dc.Table, seed: int, share: float, intervals: bool) -> None:
    """What is called open can move, what is called exact cannot, and no hidden cell is left out."""
    protected = suppressed(table, np.random.default_rng(seed), share)
    if len(table) > 40 or not (table.statistic("count").inner >= 0).all():
        return
    certificate = dc.audit(protected).certificate(intervals=intervals)
    assert certificate.check(*texts(protected)) == certificate.verdict
    claims = certificate.content["measures"][0]["cells"]
    cells = np.flatnonzero(protected.hidden)
    assert len(claims) == len(cells)
    for cell, claim in zip(cells.tolist(), claims, strict=True):
        low, high = bounds(protected, cell)
        values = floor(high + 1e-6) - ceil(low - 1e-6) if np.isfinite([low, high]).all() else np.inf
        seen = [float(end) for end in claim["reached"]]
        assert low - 1e-6 <= seen[0] <= seen[1] <= high + 1e-6
        if claim["finding"] == "open":
            assert values >= 1
        elif claim["finding"] == "exact":
            assert values < 1
            assert seen[0] == table.value[cell]


def firms(decimals: int) -> dc.Protected:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "branch": rng.choice(["a1", "a2", "b1", "b2", "b3"], 90),
            "region": rng.choice(list("nsew"), 90),
            "turnover": rng.lognormal(3, 1.4, 90).round(decimals),
        }
    )
    branch = dc.Dimension.from_prefix("branch", ["a1", "a2", "b1", "b2", "b3"], [1])
    data = dc.Microdata.of(frame, dimensions=[branch, "region"], magnitudes=["turnover"])
    table = dc.tabulate(data, by=["branch", "region"], value="turnover", top=3)
    return dc.protect(table, dc.Suppress(dc.PPercent(15)))


@pytest.mark.parametrize("decimals", [0, 2])
def test_magnitudes_reach_their_levels(decimals: int) -> None:
    """The confidential copy says for every sensitive cell how far it must reach, and witness tables reach it."""
    protected = firms(decimals)
    certificate = dc.audit(protected).certificate(confidential=True)
    assert certificate.verdict == "pass"
    claims = certificate.content["measures"][0]["cells"]
    asked = [claim for claim in claims if "need" in claim]
    assert len(asked) == int((protected.status == "u").sum()) > 0
    assert certificate.content["rule"] != "not stated"
    assert certificate.check(*texts(protected)) == "pass"


def test_the_open_copy_holds_functions_of_the_release_alone() -> None:
    """Two true tables with the same release have the same certificate, to the byte."""
    one = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"])
    other = dc.Table.of([[4, 2, 3], [7, 3, 6], [7, 8, 9]], ["area", "sex"])
    pattern = one.where(area=["1", "2"], sex=["1", "2"])
    both = [dc.audit(dc.protect(table, dc.Hide(pattern))).certificate(intervals=True) for table in (one, other)]
    assert both[0].to_json() == both[1].to_json()
    assert not both[0].confidential
    inside = dc.audit(dc.protect(one, dc.Hide(pattern)), insiders=1)
    assert inside.verdict == "fail"
    open_copy = inside.certificate()
    assert open_copy.verdict == "fail"
    assert {"intruder": "1 insider", "verdict": "fail"} in open_copy.content["intruders"]
    assert inside.certificate(confidential=True).verdict == "fail"


def test_parameters_of_a_method_need_the_confidential_copy() -> None:
    """What a changed value implies is not put into a copy that might be published."""
    table = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"])
    for method in (dc.Round(5), dc.ControlledRound(5), dc.CellKey(d=2, v=1, seed=1)):
        protected = dc.protect(table, method)
        with pytest.raises(dc.InputError, match="confidential=True"):
            dc.audit(protected).certificate()
        certificate = dc.audit(protected).certificate(confidential=True)
        assert certificate.confidential
        assert certificate.check(*texts(protected)) == certificate.verdict


def test_linked_tables_and_files(tmp_path: Path) -> None:
    """Margins of one population, inside and as files: one certificate for all of them."""
    rng = np.random.default_rng(2)
    whole = dc.Table.of(rng.integers(0, 9, (3, 4, 3)), ["A", "B", "C"])
    two = []
    for names in (("A", "B"), ("B", "C")):
        table = whole.with_margins([names, *[(n,) for n in names], ()])
        two.append(dc.protect(table, dc.Hide(rng.random(len(table)) < 0.4)))
    inside = dc.audit(two).certificate()
    assert inside.check(*texts(two)) == inside.verdict
    assert inside.check(*texts(two)[::-1]) == inside.verdict
    paths = []
    for k, one in enumerate(two):
        paths.append(tmp_path / f"{k}.csv")
        one.release().to_csv(paths[-1])
    outside = dc.audit(paths).certificate()
    assert outside.check(*(p.read_bytes() for p in paths)) == outside.verdict
    with pytest.raises(NotProvedError, match="not among the files"):
        outside.check(paths[0].read_bytes())


def test_three_dimensions_in_whole_numbers() -> None:
    """Counts whose vertices are fractions: every witness is a table of whole numbers all the same."""
    rng = np.random.default_rng(4)
    table = dc.Table.of(rng.integers(0, 6, (4, 4, 4)), ["A", "B", "C"])
    protected = dc.protect(table, dc.Hide(table.is_inner & (rng.random(len(table)) < 0.6)))
    certificate = dc.audit(protected).certificate()
    claim = certificate.content["measures"][0]
    assert claim["whole"]
    assert {claim["base"][0], *(move[0] for move in claim["moves"])} == {1}
    assert claim["summary"]["unknown"] == 0


def test_impossible_cells_and_negative_values() -> None:
    """Structural zeros stay zero in every witness; without a floor cells may be anything."""
    table = dc.Table.of([[5, 0, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"], structural=[{"area": "1", "sex": "2"}])
    hidden = table.where(area=["1", "2"], sex=["1", "2", "3"]) & (table.layout.inner_of_cell >= 0)
    protected = dc.protect(table, dc.Hide(hidden))
    certificate = dc.audit(protected).certificate()
    assert certificate.check(*texts(protected)) == certificate.verdict
    assert [-1, 1, 0, 0] in certificate.content["measures"][0]["beforehand"]
    free = dc.audit(protected, nonnegative=False).certificate()
    assert free.content["measures"][0]["least"] is None
    assert free.check(*texts(protected)) == free.verdict


def test_the_forms_of_a_certificate(tmp_path: Path) -> None:
    """JSON, compressed JSON and a page; a confidential one is nobody else's to read."""
    protected = firms(0)
    report = dc.audit(protected)
    certificate = report.certificate(confidential=True, date="2026-11-16")
    for name in ("c.json", "c.json.gz"):
        certificate.to_json(tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    assert json.loads((tmp_path / "c.json").read_bytes()) == certificate.content
    page = certificate.to_html(tmp_path / "c.html")
    assert "Confidential" in page
    assert certificate.content["files"][0]["sha256"] in page
    assert "2026-11-16" in page
    assert "Open copy" in report.certificate().to_html()
    with pytest.raises(dc.InputError, match="certificate"):
        certificate.to_json(tmp_path / "c.csv")


def test_what_cannot_be_certified_is_refused() -> None:
    """Inner cells that nobody publishes, and audits of something else than a release."""
    table = dc.Table.of([[5, 1], [6, 4]], ["area", "sex"]).with_margins([("area",)])
    with pytest.raises(dc.InputError, match="targets"):
        dc.audit(dc.protect(table, dc.Publish()), targets="inner").certificate()
    from discreet.formats.jj import parse_jj

    text = "0 3  0 5 5 s 0 9 0 0 0  1 3 3 u 0 9 1 1 0  2 2 2 s 0 9 0 0 0  1  0 3 : 0 (-1) 1 (1) 2 (1)"
    with pytest.raises(dc.InputError, match="audit a Protected or a Release"):
        parse_jj(text).audit().certificate()


def test_the_size_for_many_cells() -> None:
    """Eight hundred hidden cells take a pool of some dozen tables."""
    rng = np.random.default_rng(1)
    table = dc.Table.of(rng.integers(0, 40, (90, 30)), ["A", "B"])
    protected = dc.protect(table, dc.Hide(table.is_inner & (rng.random(len(table)) < 0.3)))
    certificate = dc.audit(protected).certificate()
    claim: dict[str, Any] = certificate.content["measures"][0]
    assert len(claim["cells"]) > 700
    assert len(claim["moves"]) < 100
    assert len(certificate.to_json()) < 300_000


@pytest.mark.parametrize("seed", range(6))
def test_what_the_audit_calls_open_is_shown_to_be(seed: int) -> None:
    """Perturbed counts in three dimensions, within bounds so tight that few tables fit."""
    rng = np.random.default_rng(seed)
    table = dc.Table.of(rng.integers(0, 8, (3, 4, 3)), ["A", "B", "C"])
    protected = dc.protect(table, dc.CellKey(d=2, v=1, seed=seed))
    report = dc.audit(protected)
    claims = report.certificate(confidential=True).content["measures"][0]["cells"]
    shown = [claim["finding"] for claim in claims]
    assert [("open" if f == "open" else "exact") for f in report.finding] == [
        "exact" if f == "stated" else f for f in shown
    ]
