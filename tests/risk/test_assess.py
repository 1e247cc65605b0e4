"""assess(): the report of a table, its lines and margins, its page and its command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import discreet as dc
from discreet import cli
from tests.strategies import tables


@given(tables(most_count=6))
def test_lines_and_margins_are_what_r1_says(table: dc.Table) -> None:
    """Every line along every axis and every margin, each equal to R1 of that line alone."""
    counts = table.array()
    if not counts.sum():
        with pytest.raises(dc.InputError, match="nobody"):
            dc.assess(table)
        return
    report = dc.assess(table)
    assert len(report.lines) == sum(counts.size // length for length in counts.shape)
    names = [d.name for d in table.dimensions]
    for row in report.lines.to_dict(orient="records"):
        at = [
            slice(None) if n == row["along"] else d.leaf_position[row[n]]
            for n, d in zip(names, table.dimensions, strict=True)
        ]
        line = counts[tuple(at)]
        assert row["n"] == line.sum()
        if line.sum():
            assert row["r1"] == pytest.approx(float(dc.r1(line).value))
    known = report.lines["r1"].dropna().to_numpy()
    assert (np.diff(known) <= 1e-12).all(), "the riskiest come first"
    assert len(report.margins) == 2 ** len(names) - 1
    assert report.margins["r1"][0] == report.before.value
    assert report.lines.groupby("along")["share"].sum().to_numpy() == pytest.approx(1)


def test_after_protection_everything_is_measured_again() -> None:
    """R2 of table, lines and margins, utility, and the starred census measures."""
    table = dc.datasets.psd14_religion()
    shown = 3 * np.rint(table.array() / 3).astype(int)
    report = dc.assess(table, shown)
    assert report.after is not None
    assert report.after.value == dc.r2(table.array(), shown).value <= report.before.value
    assert (report.lines["r2"].dropna() <= report.lines["r1"][report.lines["r2"].notna()] + 1e-12).all()
    assert {"r2", "r2_star", "dr", "gad_star along area", "utility", "hellinger"} <= set(report.summary().index)
    same = dc.assess(table, dc.Table.of(shown, table.dimensions))
    assert same.summary().equals(report.summary())


def test_a_protected_table_is_taken_as_it_is_published() -> None:
    """Unchanged cells leave the risk of the entropy; hidden ones are left to the audit."""
    table = dc.datasets.psd14_sex()
    report = dc.assess(table, dc.protect(table, dc.Publish()))
    assert report.after is not None
    assert report.utility is not None
    assert report.utility.utility == 1
    hidden = dc.assess(table, dc.protect(table, dc.Hide(table.where(area="1", sex="1"))))
    assert hidden.after is None
    assert "1 inner cells are not shown" in hidden.notes[0]


def test_rules_mark_cells() -> None:
    """Any function from Table to truth values."""

    def small(table: dc.Table) -> Any:
        return (table.count > 0) & (table.count < 3)

    report = dc.assess(dc.datasets.psd14_sex().slice(sex="1"), rules=[small])
    assert report.cells["small"].sum() == report.to_dict()["rules"]["small"] == 0
    assert dc.assess(dc.datasets.psd14_travel(), rules=[small]).cells["small"].sum() > 10


def test_a_magnitude_table_is_judged_by_its_counts() -> None:
    """Never by its totals; without counts there is no frequency risk."""
    values = np.array([[5.0, 1.0], [2.0, 9.0]])
    table = dc.Table.of(values, ["a", "b"], value="v", count=np.array([[1, 2], [3, 4]]))
    assert dc.assess(table).before.value == dc.r1([[1, 2], [3, 4]]).value
    with pytest.raises(dc.InputError, match="no statistic 'count'"):
        dc.assess(dc.Table.of(values, ["a", "b"], value="v"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dc.assess([[1, -2]]), "negative"),
        (lambda: dc.assess([[1, np.nan]]), "missing"),
        (lambda: dc.assess([[0, 0]]), "nobody"),
        (lambda: dc.assess([[1, 2]], [[1, 2, 3]]), "shape"),
        (lambda: dc.assess([[1, 2]], weights=(1, 1, 1)), "sum to 1"),
        (lambda: dc.assess([[1, 2]], measures=["r3"]), "no measure 'r3'"),
        (lambda: dc.assess([[1, 2]], rules=[lambda t: np.array([True])]), "one truth value for each"),
        (
            lambda: dc.assess(dc.datasets.psd14_sex(), dc.protect(dc.datasets.psd14_travel(), dc.Publish())),
            "other dimensions",
        ),
    ],
)
def test_wrong_input_is_refused(call: Any, message: str) -> None:
    """Each with its own sentence."""
    with pytest.raises(dc.InputError, match=message):
        call()


def test_the_page_is_self_contained_and_says_it_is_confidential(tmp_path: Path) -> None:
    """Pictures inside, nothing fetched, markup of labels escaped, the same bytes each time."""
    table = dc.Table.of(
        np.array([[3, 0], [1, 2]]), [dc.Dimension.flat("a<b>", ["<i>", "y"]), dc.Dimension.flat("c", ["1", "2"])]
    )
    page = dc.assess(table, np.array([[3, 0], [0, 3]])).to_html(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == page == dc.assess(table, np.array([[3, 0], [0, 3]])).to_html()
    assert "Confidential" in page
    assert "not a release" in page
    assert page.count("<svg") == 2
    assert "<i>" not in page
    assert not re.search(r"(?:src|href)=\"(?!#)", page.replace("xlink:href", ""))


def test_plots_return_axes_that_can_be_given() -> None:
    """Two-way tables as heat maps, others as bars; into given axes too."""
    two = dc.assess(dc.datasets.psd14_religion())
    three = dc.assess(np.arange(24).reshape(2, 3, 4), np.arange(24).reshape(2, 3, 4)[::-1])
    for report in (two, three):
        ax = dc.plot.axes()
        assert report.plot(ax) is ax
        assert len(dc.plot.png(report.plot())) > 5_000
        assert dc.plot.svg(report.plot_terms()).startswith("<svg")
    assert len(dc.plot.r1_terms()) == 3
    ax = dc.plot.risk_utility([0.2, 0.1], [0.9, 0.8], ["swap", "round"], threshold=0.15, groups=["T1", "T1"])
    assert ax.get_xlabel() == "utility (1 = nothing lost)"
    assert "most risk allowed: 0.15" in [text.get_text() for text in ax.texts]
    beaten = dc.plot.risk_utility([0.2, 0.1, 0.3], [0.9, 0.8, 0.85], ["swap", "round", "worse"])
    assert np.asarray(beaten.lines[0].get_xydata()).tolist() == [[0.8, 0.1], [0.9, 0.2]]  # the frontier
    with pytest.raises(dc.InputError, match="same length"):
        dc.plot.risk_utility([0.2], [0.9, 0.8], ["a", "b"])


def test_the_command_draws_writes_and_prints_json(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """discreet risk on a ready table, with and without the protected one."""
    table = dc.datasets.psd14_religion()
    dc.protect(table, dc.Publish()).release().to_csv(tmp_path / "f.csv")
    shown = dc.Table.of(3 * np.rint(table.array() / 3), table.dimensions)
    rounded = dc.protect(shown, dc.Publish()).release().cells
    rounded["count"] += 3 * (rounded.index == 0)  # a perturbed total need not add
    rounded.to_csv(tmp_path / "g.csv", index=False)
    arguments = ["risk", str(tmp_path / "f.csv"), "--ready"]
    assert cli.run([*arguments, "--html", str(tmp_path / "r.html")]) == 0
    out, err = capfdbinary.readouterr()
    assert "0.2315" in out.decode()
    assert "Riskiest lines" in out.decode()
    assert b"Confidential" in err
    assert (tmp_path / "r.html").exists()
    assert cli.run([*arguments, "--after", str(tmp_path / "g.csv"), "--json"]) == 0
    said = json.loads(capfdbinary.readouterr().out)
    assert said["confidential"] is True
    assert said["after"]["value"] < said["before"]["value"] == pytest.approx(0.231461, abs=1e-6)
    assert cli.run([*arguments, "--after", str(tmp_path / "g.csv")]) == 0
    assert "R2" in capfdbinary.readouterr().out.decode()
    for wrong in (["--weights", "a,b"], ["--weights", "1,1,1"], ["--after", str(tmp_path / "none.csv")]):
        assert cli.run([*arguments, *wrong]) == 2
