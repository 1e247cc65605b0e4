"""A certificate is never better than the audit it is of, whatever the audit fails or is in doubt about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.audits.intruders import EARLIER, PROGRAM, Intruder
from discreet.base.verdicts import Verdict

ORDER = [Verdict.FAIL, Verdict.UNKNOWN, Verdict.PASS]


def no_better(certificate: dc.Certificate, report: dc.Audit) -> bool:
    return ORDER.index(certificate.verdict) <= ORDER.index(report.verdict)


def intruder(name: str, kind: str) -> Intruder:
    return Intruder(
        name=name,
        cells=4,
        exact=int(kind == "fail"),
        narrow=None,
        unknown=int(kind == "unknown"),
        exposed=kind == "fail",
    )


KINDS = st.sampled_from(["pass", "fail", "unknown"])


@given(st.data(), st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_random_reports(data: st.DataObject, seed: int, confidential: bool) -> None:
    """Levels, doubts, values left in marked cells, intruders, other measures: any of them, on a random table."""
    rng = np.random.default_rng(seed)
    table = dc.Table.of(rng.integers(0, 9, (3, 4)), ["A", "B"])
    protected = dc.protect(table, dc.Hide(table.is_inner & (rng.random(len(table)) < 0.6)))
    level = np.where(protected.hidden, data.draw(st.sampled_from([0.0, 1.0, 4.0])), 0)
    report = dc.audit(protected, protection=(level, level) if data.draw(st.booleans()) else None)
    many = len(report.number)
    if data.draw(st.booleans()):
        report = replace(report, settled=rng.random(many) < 0.7)
    if data.draw(st.booleans()):
        report = replace(report, left=np.where(rng.random(many) < 0.2, "turnover", "").astype(object))
    if data.draw(st.booleans()):
        report = replace(report, unjudged=(*report.unjudged, "something"))
    names = data.draw(st.lists(st.sampled_from(["2 insiders", PROGRAM, EARLIER]), unique=True))
    report = replace(report, informed=tuple(intruder(name, data.draw(KINDS)) for name in names))
    if data.draw(st.booleans()):
        other = replace(report, informed=(), unjudged=("nobody knows",) if data.draw(st.booleans()) else ())
        report = replace(report, others=(other,))
    certificate = report.certificate(confidential=confidential)
    assert no_better(certificate, report)
    assert certificate.check(protected.release().to_csv()) == certificate.verdict


def two_measures() -> dc.Release:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"A": rng.choice(list("abc"), 300), "B": rng.choice(list("xyz"), 300)})
    frame["turnover"] = rng.integers(1, 50, 300).astype(float)
    data = dc.Microdata.of(frame, dimensions=["A", "B"], magnitudes=["turnover"])
    table = dc.tabulate(data, by=["A", "B"], value="turnover")
    hidden = table.where(A=["a", "b"], B=["x", "y"])
    cells = dc.protect(table, dc.Hide(hidden)).release().cells.astype({"A": str, "B": str})
    cells.insert(2, "count", np.where(hidden, np.nan, table.statistic("count").values))
    return dc.Release.of_frame(cells)


def test_a_value_of_another_measure_in_a_marked_cell() -> None:
    """The count of a marked cell stands there: the audit of the turnover fails, and so does every certificate."""
    release = two_measures()
    assert list(release.values) == ["count", "turnover"]
    safe = dc.audit(release)
    assert safe.verdict == safe.certificate().verdict == "pass"
    count = np.array(release.values["count"])
    count[np.flatnonzero(np.isnan(count))[0]] = 3.0
    leaky = replace(release, values={**release.values, "count": count})
    for measure in (None, "turnover", "count"):
        report = dc.audit(leaky, measure=measure)
        assert report.verdict == "fail"
        assert report.certificate().verdict == "fail"


def test_all_columns_are_judged() -> None:
    """An audit of one measure of two: the certificate is of the whole file, and says what the other lets follow."""
    release = two_measures()
    certificate = dc.audit(release, measure="turnover").certificate()
    assert {claim["measure"] for claim in certificate.content["measures"]} == {"count", "turnover"}
    assert certificate.verdict == "pass"
    count = np.array(release.values["count"])
    gone = np.flatnonzero(np.isnan(count))
    shown = replace(
        release,
        values={**release.values, "count": np.where(np.arange(len(count)) == gone[0], 12.0, count)},
        status=np.where(np.arange(len(count)) == gone[0], "", release.status),
    )
    assert dc.audit(shown, measure="turnover").certificate().verdict == "fail"


def test_the_holder_of_the_program() -> None:
    """An attack that succeeds is a fail in the open copy, too; the outsider's claims hold all the same."""
    table = dc.Table.of([[5, 1, 3], [6, 4, 6], [7, 8, 9]], ["area", "sex"])
    protected = dc.protect(table, dc.Hide(table.where(area=["1", "2"], sex=["1", "2"])))
    report = dc.audit(protected)
    assert report.certificate().verdict == "pass"
    for kind in ("fail", "unknown"):
        worse = replace(report, informed=(intruder(PROGRAM, kind),))
        certificate = worse.certificate()
        assert certificate.verdict == kind
        assert {"intruder": PROGRAM, "verdict": kind} in certificate.content["intruders"]
        assert f"Verdict: {kind}" in certificate.to_html()


def test_nothing_hidden_is_no_pass() -> None:
    """Of a table that shows everything nothing is proved."""
    table = dc.Table.of([[5, 1, 3], [6, 4, 6]], ["area", "sex"])
    certificate = dc.audit(dc.protect(table, dc.Publish())).certificate()
    assert certificate.verdict == "unknown"


@pytest.mark.parametrize("seed", range(3))
def test_no_whole_table_in_time(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no witness is found nothing is claimed to be open, and the verdict is no pass."""
    from discreet.errors import Unjudged

    def none(*given: object) -> None:
        raise Unjudged("no time")

    monkeypatch.setattr("discreet.audits.certificate_claims.pool_of", none)
    rng = np.random.default_rng(seed)
    table = dc.Table.of(rng.integers(0, 9, (3, 4)), ["A", "B"])
    protected = dc.protect(table, dc.Hide(table.is_inner & (rng.random(len(table)) < 0.7)))
    report = dc.audit(protected)
    certificate = report.certificate()
    summary = certificate.content["measures"][0]["summary"]
    assert summary["open"] == 0
    assert certificate.verdict == ("fail" if report.verdict == "fail" else "unknown")
    assert certificate.check(protected.release().to_csv()) == certificate.verdict
