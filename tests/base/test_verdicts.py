"""A verdict is one of pass, fail, unknown, and only a pass is ok."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.audits import sampled, settled_intervals, view
from discreet.audits.owner_report import OwnerAudit
from discreet.audits.verify import Measure
from discreet.base.verdicts import Verdict
from discreet.cli import run
from discreet.in_place.protection_report import report_on
from discreet.linear import highs
from discreet.linear import intervals as linear_intervals
from discreet.policy.attacks.attack_report import Attack, Attacked
from discreet.policy.attacks.claims import Claimed
from discreet.policy.record import Replayed
from discreet.publishing import Report
from discreet.publishing.compare.consistency import Finding

TABLE = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])


def public_classes() -> dict[str, type]:
    """Every class that a module of discreet defines, other than private ones."""
    found = {}
    for module in pkgutil.walk_packages(dc.__path__, "discreet."):
        if module.name.startswith("discreet.server") or module.name.endswith("__main__"):
            continue  # what the server calls a verdict on a question is its answer, and stays within it
        for name, kind in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(kind) and kind.__module__ == module.name and not name.startswith("_"):
                found[f"{module.name}.{name}"] = kind
    return found


def report(*findings: Finding) -> Report:
    return Report(
        programme="p", version="1", python="3", when="", seconds=1.0, jobs=1, lines=(), findings=findings
    )  # fmt: skip


def claimed(*, right: int, claims: int = 100, baseline: int = 5) -> Claimed:
    return Claimed(0.9, claims, right, baseline, float(right))


def attacked(*several: Claimed, why: str = "") -> Attacked:
    return Attacked(name="land = rare", people=9, claimed=several, why=why)


def policy_attack(*populations: Attacked) -> Attack:
    return Attack(
        policy="",
        mechanism="",
        requests=1,
        refused=0,
        tables=1,
        cells=1,
        hidden=0,
        conflicts=0,
        left_out=0,
        secrets=1,
        populations=populations,
        counts=(),
    )


def results() -> dict[str, Any]:
    """A result of every kind that has a verdict, with passes, fails and unknowns among them."""
    safe = dc.protect(TABLE, dc.Suppress(dc.Threshold(3)))
    bare = dc.protect(TABLE, dc.Hide([{"area": "2", "sex": "2"}]))
    apart = dc.Table.of([[20, 5], [1, 30]], [dc.Dimension.flat(n, ["1", "2"], total=None) for n in "ab"])
    alone = dc.protect(apart, dc.Hide([{"a": "2", "b": "1"}]))
    draws = sampled(view(safe).known, np.flatnonzero(safe.hidden), seed=1)
    forced = dc.Suppress(dc.Threshold(3), forced=TABLE.where(area="1") | TABLE.where(area="3") | ~TABLE.is_inner)
    marked = dc.diagnose(TABLE, forced)
    entry: Any = None
    months = [dc.Publish()(dc.Table.of([[40, 39], [30, n]], ["area", "sex"])).release() for n in (31, 30)]
    quarters = [dc.Publish()(dc.Table.of([[40, 39], [30, n]], ["area", "sex"])).release() for n in (31, 91)]
    none_small = dc.difference({"first": quarters[0], "second": quarters[1]})
    owned = OwnerAudit(
        number=np.array([0]),
        values=(np.array([1, 2]),),
        chances=(np.array([0.5, 0.5]),),
        fitting=2,
        surviving=2,
        complete=True,
        calls=2,
        keyed=False,
    )
    one_value = replace(owned, values=(np.array([1]),), chances=(np.ones(1),), surviving=1)
    in_place = report_on(safe, "a sheet")
    return {
        "safe": dc.audit(safe),
        "bare": dc.audit(bare),
        "alone": dc.audit(alone),
        "drawn": draws,
        "too few": replace(draws, exact=False, rhat=np.full(len(draws.rhat), np.nan)),
        "can": dc.diagnose(TABLE, dc.Suppress(dc.Threshold(3))),
        "cannot": marked,
        "perhaps": replace(marked, least=False),
        "together": report(),
        "against": report(Finding(level="error", kind="hidden", text="")),
        "unchecked": report(Finding(level="warning", kind="not checked", text="")),
        "same": Replayed(entry, "same"),
        "differs": Replayed(entry, "differs: now refused"),
        "not compared": Replayed(entry, "another policy"),
        "no small population": none_small,
        "a small population": dc.difference({"january": months[0], "february": months[1]}),
        "not looked at": replace(none_small, unjudged=("some",)),
        "two values": owned,
        "one value": one_value,
        "one value of draws": replace(one_value, complete=False),
        "no call": replace(owned, unjudged="the call does not give this release"),
        "as the model": attacked(claimed(right=5)),
        "far above the model": attacked(claimed(right=90)),
        "perhaps chance": attacked(claimed(right=1, claims=1, baseline=0), claimed(right=5)),
        "not attacked": attacked(why="there was no time left"),
        "nothing claimed": attacked(),
        "the policy holds": policy_attack(attacked(claimed(right=5))),
        "it does not": policy_attack(attacked(claimed(right=5)), attacked(claimed(right=90))),
        "left out": replace(policy_attack(attacked(claimed(right=5))), left_out=1),
        "nothing attacked": policy_attack(),
        "protected in place": in_place,
        "protected in vain": replace(in_place, verdict=Verdict.FAIL),
        "not to be audited": replace(in_place, verdict=Verdict.UNKNOWN),
        "certified": dc.audit(safe).certificate(),
        "certified as known": dc.audit(bare).certificate(),
    }


def test_every_verdict_is_one_of_three_and_ok_is_pass_alone() -> None:
    """Whatever has a verdict has a Verdict; its ok, where it has one, is true for a pass and nothing else."""
    found = results()
    for result in found.values():
        assert isinstance(result.verdict, Verdict)
        for name in ("ok", "consistent"):
            assert getattr(result, name, result.verdict.ok) == (result.verdict is Verdict.PASS)
    assert [found[n].verdict.value for n in found] == [
        "pass", "fail", "unknown", "pass", "unknown", "pass", "fail", "unknown", "pass", "fail", "unknown", "pass",
        "fail", "unknown",
        "pass", "fail", "unknown",
        "pass", "fail", "unknown", "unknown",
        "pass", "fail", "unknown", "unknown", "unknown",
        "pass", "fail", "unknown", "unknown",
        "pass", "fail", "unknown",
        "pass", "fail",
    ]  # fmt: skip


def test_no_class_has_an_ok_or_a_verdict_beside_these() -> None:
    """A class with ``ok`` has a verdict, and every class with a verdict is in the test above."""
    judged = {type(result) for result in results().values()}
    judged.add(Measure)  # of the checker, which has nothing but Python: its words are those of a Verdict
    for kind in public_classes().values():
        if getattr(kind, "_is_protocol", False):
            continue  # no class of its own: what it stands for is one of the others
        fields = {*vars(kind), *getattr(kind, "__annotations__", {})}
        if fields & {"ok", "verdict"} and kind is not Verdict:
            assert kind in judged


def test_unknown_is_false_and_joins_as_the_worse() -> None:
    """No verdict but a pass is true; together nothing is better than its worst part; nothing judged is unknown."""
    assert [bool(v) for v in Verdict] == [True, False, False]
    for a in Verdict:
        for b in Verdict:
            both = Verdict.worst([a, b])
            assert both.ok == (a.ok and b.ok)
            assert (both is Verdict.FAIL) == (Verdict.FAIL in (a, b))
    assert Verdict.worst([]) is Verdict.UNKNOWN


def test_unknown_is_never_printed_as_pass() -> None:
    """The words for people carry the verdict."""
    for result in results().values():
        words = result.summary() if isinstance(result, Report) else repr(result)
        if isinstance(result, dc.Audit):
            assert words.startswith(f"Audit({result.verdict.value}; ")
            assert result.to_dict()["verdict"] == result.verdict.value
        if isinstance(result, Report):
            assert (", consistent," in words) == result.verdict.ok
            assert (result.exit_code == 0) == result.verdict.ok
            assert result.to_dict()["verdict"] == result.verdict.value


def test_no_sum_with_a_hidden_cell_is_no_total_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table without totals tells an audit nothing: unknown, with the reason, in Python and on the command line."""
    for rank in (1, 2, 3):
        dimensions = [dc.Dimension.flat(f"d{k}", ["1", "2"], total=None) for k in range(rank)]
        table = dc.Table.of(np.arange(1, 2**rank + 1).reshape([2] * rank), dimensions)
        protected = dc.protect(table, dc.Hide(np.arange(len(table)) == 1))
        for found in (dc.audit(protected), dc.audit(protected.release())):
            assert found.verdict is Verdict.UNKNOWN
            assert not found.ok
            assert "no total found" in repr(found)
            assert "no total found" in found.to_html()
    protected.release().to_csv(tmp_path / "t.csv")
    assert run(["audit", str(tmp_path / "t.csv")]) == 1
    said = capsys.readouterr().err
    assert "no total found" in said
    assert "verdict: unknown" in said


def test_a_solver_that_gives_up_is_neither_safe_nor_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the solver does not settle is Unjudged, in audits and in protection; it is no InputError, no pass."""
    cube = dc.Table.of(np.arange(1, 28).reshape(3, 3, 3) % 7 + 1, ["a", "b", "c"])
    seen = dc.protect(cube, dc.Hide(cube.is_inner))
    monkeypatch.setattr(highs.Solver, "_outcome", lambda self, feasible: highs.Outcome.UNSETTLED)
    with pytest.raises(dc.Unjudged) as raised:
        dc.audit(seen)
    assert not isinstance(raised.value, dc.InputError)
    assert raised.value.exit_code == 1


def test_a_count_that_was_not_settled_in_time_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two whole values by the linear bounds, and no time to see whether a whole table reaches both: never open."""
    cube = dc.Table.of(np.ones((3, 3, 3), int), ["a", "b", "c"])
    seen = dc.protect(cube, dc.Hide(cube.is_inner))
    before = dc.audit(seen)
    assert before.verdict is Verdict.PASS
    monkeypatch.setattr(linear_intervals, "settle", lambda search: search.doubt.fill(True))
    after = dc.audit(seen)
    assert after.verdict is Verdict.UNKNOWN
    assert set(after.finding) == {"unknown"}
    assert not settled_intervals(view(seen).known, np.flatnonzero(seen.hidden))[2].any()
    assert after.findings()["cells"].to_dict() == {"exact": 0, "narrow": 0, "open": 0, "unknown": 27}


def test_an_unsettled_check_of_a_programme_is_not_consistent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that gives up leaves a finding "not checked" about the hidden cells, and the verdict unknown."""
    from discreet.publishing import check
    from discreet.publishing.compare import cross_table
    from discreet.publishing.compare.published_table import Shown

    def gives_up(*_: Any) -> Any:
        raise dc.Unjudged("not settled")

    book = dc.Codebook(dimensions=TABLE.dimensions)
    release = dc.protect(TABLE, dc.Suppress(dc.Threshold(3))).release()
    monkeypatch.setattr(cross_table, "movable", gives_up)
    found = check([Shown.of(release, book, {}, name="t")])
    assert [f.kind for f in found if f.level == "warning"] == ["not checked"]
    assert report(*found).verdict is Verdict.UNKNOWN


def left(release: dc.Release, cell: int, value: float, measure: str = "count") -> dc.Release:
    """The release with a value written back into a cell."""
    values = np.array(release.values[measure])
    values[cell] = value
    return replace(release, values={**release.values, measure: values})


@pytest.mark.parametrize("value", [1.0, 2.0, 0.0, -99.0])
def test_a_value_left_in_a_marked_cell_is_exact(value: float) -> None:
    """The first leak one looks for, in memory: exact with its reason, whether or not the value fits the sums."""
    release = dc.protect(TABLE, dc.Suppress(dc.Threshold(3))).release()
    for cell in np.flatnonzero(release.marked).tolist():
        found = dc.audit(left(release, cell, value))
        row = found.cells.iloc[0]
        assert found.verdict is Verdict.FAIL
        assert row["finding"] == "exact"
        assert row["reason"] == "marked as confidential, and still shows its count"
        assert len(found.number) == release.marked.sum()
    assert set(dc.audit(release).reason) == {""}


def test_a_value_left_in_another_measure_is_exact_too() -> None:
    """Whatever measure is audited, a value of any other in a marked cell is a leak."""
    table = dc.tabulate(dc.datasets.business(n=300), by=["region", "size"], value="turnover", top=3)
    rule = dc.FewContributors(3)
    release = dc.protect(table, dc.Suppress(rule, measures=("turnover", "count"))).release()
    cell = int(np.flatnonzero(release.marked)[0])
    for audited in ("turnover", "count"):
        for other in ("turnover", "count"):
            found = dc.audit(left(release, cell, 7, other), measure=audited)
            assert other in found.cells.iloc[0]["reason"]
            assert not found.ok


def test_a_value_left_in_a_file_is_found_and_never_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same from a CSV on the command line, with true values at hand too; every format refuses to write it."""
    done = dc.protect(TABLE, dc.Suppress(dc.Threshold(3)))
    path = tmp_path / "t.csv"
    done.release().to_csv(path)
    assert run(["audit", str(path)]) == 0
    path.write_bytes(path.read_bytes().replace(b"2,2,,c", b"2,2,2,c"))
    assert run(["audit", str(path), "-o", str(tmp_path / "a.csv")]) == 1
    said = capsys.readouterr()
    assert "exact" in said.err
    assert "marked as confidential, and still shows its count" in (tmp_path / "a.csv").read_text()
    frame = done.cells.drop(columns="published count")
    frame.to_csv(tmp_path / "all.csv", index=False)
    assert run(["audit", str(path), "--confidential", str(tmp_path / "all.csv")]) == 1
    leaky = dc.Release.read_csv(path)
    for name in dc.formats.NAMES:
        with pytest.raises(dc.InputError, match="marked as confidential"):
            dc.formats.to_bytes(leaky, name)
    for way in (leaky.to_csv, leaky.to_dict):
        with pytest.raises(dc.InputError, match="nothing is written"):
            way()


def test_a_mark_that_nobody_knows_is_unknown(tmp_path: Path) -> None:
    """A status other than c may mean that a cell is hidden: the audit does not pass over it."""
    path = tmp_path / "t.csv"
    dc.protect(TABLE, dc.Suppress(dc.Threshold(3))).release().to_csv(path)
    path.write_bytes(path.read_bytes().replace(b"1,1,20,", b"1,1,20,n"))
    found = dc.audit(dc.Release.read_csv(path))
    assert found.verdict is Verdict.UNKNOWN
    assert "status 'n'" in found.unjudged[0]


def test_what_a_release_cannot_tell_is_refused() -> None:
    """Arguments that need the truth are errors for a Release, not ignored."""
    release = dc.protect(TABLE, dc.Suppress(dc.Threshold(3))).release()
    for given in ({"prior": 0.5}, {"protection": 0.1}, {"protection": dc.Threshold(3)}, {"measure": "nobody"}):
        with pytest.raises(dc.InputError):
            dc.audit(release, **given)


def test_a_method_that_says_nothing_of_its_values_cannot_be_judged() -> None:
    """Values that differ from the truth, and no word on what they imply: Unjudged."""
    shown = TABLE.value + 1.0
    odd = dc.Protected(TABLE, {"count": shown}, np.full(len(TABLE), "s"), "a method of one's own")
    with pytest.raises(dc.Unjudged, match="without saying"):
        dc.audit(odd)
