"""R1, R2 and their relatives: printed values of the papers, laws, and what is refused."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import risk
from discreet.errors import InputError
from discreet.information import hellinger
from discreet.risk import _summary
from discreet.risk.frequency import Form
from tests.papers.printed import PSD14

SEX = PSD14["sex"].counts
BASE3 = risk.Transition.rounding(3)

counts = st.lists(st.integers(0, 60), min_size=1, max_size=9).filter(any)
weights = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9)).map(lambda w: tuple(x / sum(w) for x in w))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A table and what it might become."""
    f = draw(counts)
    return f, draw(st.lists(st.integers(0, 60), min_size=len(f), max_size=len(f)))


@pytest.mark.parametrize("name", PSD14)
def test_psd14_r1(name: str) -> None:
    """PSD14 Tables 3-5: R1 of every row, column and the table to 4 decimals."""
    table, (of_rows, of_columns, of_table) = PSD14[name].counts, PSD14[name].r1
    assert risk.r1(table, axis=1).value.round(4).tolist() == of_rows.tolist()
    assert risk.r1(table, axis=0).value.round(4).tolist() == of_columns.tolist()
    assert round(risk.r1(table).value, 4) == of_table
    columns, rows = risk.line_risks(table)
    assert rows.round(4).tolist() == of_rows.tolist()
    assert columns.round(4).tolist() == of_columns.tolist()


@pytest.mark.parametrize("name", PSD14)
def test_psd14_hellinger(name: str) -> None:
    """PSD14 Tables 3-5: HD under random rounding to base 3, both means of 1,000 draws."""
    table, rng = PSD14[name].counts, np.random.default_rng(14)
    after = BASE3.sample(np.broadcast_to(table, (1000, *table.shape)), rng)
    before = np.broadcast_to(table, after.shape)
    axes: tuple[int | tuple[int, ...], ...] = (2, 1, (1, 2))
    for axis, printed in zip(axes, PSD14[name].hd_rounding, strict=True):
        drawn = hellinger(before, after, counts=True, axis=axis)
        allowed = 4.5 * drawn.std(axis=0) * math.sqrt(2 / 1000) + 6e-5
        assert (np.abs(drawn.mean(axis=0) - printed) <= allowed).all()


def test_psd14_r2() -> None:
    """PSD14 Table 4: R2 in its own form under random rounding; our mean is exact, the print is one of 1,000 draws."""
    after = BASE3.sample(np.broadcast_to(SEX, (500, *SEX.shape)), np.random.default_rng(4))
    for axis, printed in zip((1, 0, None), PSD14["sex"].r2_rounding, strict=True):
        mean = risk.expected_r2(SEX, BASE3, form="psd14", axis=axis)
        assert mean.exact
        drawn = risk.r2(
            np.broadcast_to(SEX, after.shape), after, form="psd14", axis=(1, 2) if axis is None else axis + 1
        ).value
        allowed = 4.5 * drawn.std(axis=0) / math.sqrt(1000) + 6e-5
        assert (np.abs(mean.value - np.array(printed)) <= allowed).all()


def test_worked_example() -> None:
    """PSD14 section 2.1: the three terms of (0, 2, 4), and of its (0, 3, 3)."""
    before = risk.r1([0, 2, 4])
    assert {k: round(v, 4) for k, v in before.terms.items()} == {"zeros": 0.3333, "entropy": 0.4206, "size": 0.7740}
    after = risk.r2([0, 2, 4], [0, 3, 3])
    half = 1 - 0.3183 / 0.6365
    assert after.terms["entropy"] == pytest.approx(0.4206 * half, abs=1e-4)
    assert risk.r2([0, 2, 4], [0, 3, 3], form="psd14").terms["entropy"] == pytest.approx(0.4206 * (1 - half), abs=1e-4)


# Thesis Appendix A.1, tables A.1.1 and A.1.2 side by side: h1, h2, h3 at epsilon 0.1, 0.3, 0.5, 0.8 and 1. Five groups
# of eight tables (A = 1, 2, 5, 10, 20, 50, 75, 100): (A, A), (0, A), ten times A, nine zeros and A, and five zeros with
# (A, A, A, 2A, 3A). The print drops cells of the long tables, labels the last group of A.1.2 one line late, and gives
# h3((5, ...), 0.3) as 0.9812 where the formula, and its own line (5, 5), give 0.9150.
APPENDIX = """
0.9330 0.9977 1.0000 0.8123 0.9812 1.0000 0.7071 0.9522 1.0000 0.5743 0.8928 1.0000 0.5000 0.8466 1.0000
0.8706 0.9912 0.9977 0.6598 0.9341 0.9812 0.5000 0.8466 0.9522 0.3299 0.6957 0.8928 0.2500 0.5966 0.8466
0.7943 0.9772 0.9884 0.5012 0.8474 0.9150 0.3162 0.6803 0.8071 0.1585 0.4504 0.6312 0.1000 0.3303 0.5219
0.7411 0.9632 0.9772 0.4071 0.7730 0.8474 0.2236 0.5585 0.6803 0.0910 0.3092 0.4504 0.0500 0.1998 0.3303
0.6915 0.9466 0.9632 0.3307 0.6966 0.7730 0.1581 0.4497 0.5585 0.0523 0.2066 0.3092 0.0250 0.1172 0.1998
0.6310 0.9215 0.9408 0.2512 0.5982 0.6722 0.1000 0.3303 0.4180 0.0251 0.1177 0.1806 0.0100 0.0561 0.0982
0.6059 0.9095 0.9297 0.2224 0.5568 0.6285 0.0816 0.2862 0.3647 0.0182 0.0910 0.1408 0.0067 0.0401 0.0709
0.5887 0.9006 0.9215 0.2040 0.5283 0.5982 0.0707 0.2580 0.3303 0.0144 0.0756 0.1177 0.0050 0.0315 0.0561
1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
0.9330 0.9977 0.9977 0.8123 0.9812 0.9812 0.7071 0.9522 0.9522 0.5743 0.8928 0.8928 0.5000 0.8466 0.8466
0.8513 0.9884 0.9884 0.6170 0.9150 0.9150 0.4472 0.8071 0.8071 0.2759 0.6312 0.6312 0.2000 0.5219 0.5219
0.7943 0.9772 0.9772 0.5012 0.8474 0.8474 0.3162 0.6803 0.6803 0.1585 0.4504 0.4504 0.1000 0.3303 0.3303
0.7411 0.9632 0.9632 0.4071 0.7730 0.7730 0.2236 0.5585 0.5585 0.0910 0.3092 0.3092 0.0500 0.1998 0.1998
0.6762 0.9408 0.9408 0.3092 0.6722 0.6722 0.1414 0.4180 0.4180 0.0437 0.1806 0.1806 0.0200 0.0982 0.0982
0.6494 0.9297 0.9297 0.2738 0.6285 0.6285 0.1155 0.3647 0.3647 0.0316 0.1408 0.1408 0.0133 0.0709 0.0709
0.6310 0.9215 0.9215 0.2512 0.5982 0.5982 0.1000 0.3303 0.3303 0.0251 0.1177 0.1177 0.0100 0.0561 0.0561
0.7943 0.9772 1.0000 0.5012 0.8474 1.0000 0.3162 0.6803 1.0000 0.1585 0.4504 1.0000 0.1000 0.3303 1.0000
0.7411 0.9632 0.9977 0.4071 0.7730 0.9812 0.2236 0.5585 0.9522 0.0910 0.3092 0.8928 0.0500 0.1998 0.8466
0.6762 0.9408 0.9884 0.3092 0.6722 0.9812 0.1414 0.4180 0.8071 0.0437 0.1806 0.6312 0.0200 0.0982 0.5219
0.6310 0.9215 0.9772 0.2512 0.5982 0.8474 0.1000 0.3303 0.6803 0.0251 0.1177 0.4504 0.0100 0.0561 0.3303
0.5887 0.9006 0.9632 0.2040 0.5283 0.7730 0.0707 0.2580 0.5585 0.0144 0.0756 0.3092 0.0050 0.0315 0.1998
0.5372 0.8710 0.9408 0.1550 0.4440 0.6722 0.0447 0.1837 0.4180 0.0069 0.0414 0.1806 0.0020 0.0144 0.0982
0.5158 0.8573 0.9297 0.1372 0.4098 0.6285 0.0365 0.1574 0.3647 0.0050 0.0316 0.1408 0.0013 0.0102 0.0709
0.5012 0.8474 0.9215 0.1259 0.3868 0.5982 0.0316 0.1408 0.3303 0.0040 0.0260 0.1177 0.0010 0.0079 0.0561
1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
0.9330 0.9977 0.9977 0.8123 0.9812 0.9812 0.7071 0.9522 0.9522 0.5743 0.8928 0.8928 0.5000 0.8466 0.8466
0.8513 0.9884 0.9884 0.6170 0.9150 0.9150 0.4472 0.8071 0.8071 0.2759 0.6312 0.6312 0.2000 0.5219 0.5219
0.7943 0.9772 0.9772 0.5012 0.8474 0.8474 0.3162 0.6803 0.6803 0.1585 0.4504 0.4504 0.1000 0.3303 0.3303
0.7411 0.9632 0.9632 0.4071 0.7730 0.7730 0.2236 0.5585 0.5585 0.0910 0.3092 0.3092 0.0500 0.1998 0.1998
0.6762 0.9408 0.9408 0.3092 0.6722 0.6722 0.1414 0.4180 0.4180 0.0437 0.1806 0.1806 0.0200 0.0982 0.0982
0.6494 0.9297 0.9297 0.2738 0.6285 0.6285 0.1155 0.3647 0.3647 0.0316 0.1408 0.1408 0.0133 0.0709 0.0709
0.6310 0.9215 0.9215 0.2512 0.5982 0.5982 0.1000 0.3303 0.3303 0.0251 0.1177 0.1177 0.0100 0.0561 0.0561
0.8123 0.9812 0.9984 0.5359 0.8702 0.9875 0.3536 0.7212 0.9693 0.1895 0.5046 0.9346 0.1250 0.3849 0.9092
0.7579 0.9680 0.9940 0.4353 0.7973 0.9552 0.2500 0.5966 0.8954 0.1088 0.3502 0.7909 0.0625 0.2358 0.7203
0.6915 0.9466 0.9823 0.3307 0.6966 0.8793 0.1581 0.4497 0.7419 0.0523 0.2066 0.5414 0.0250 0.1172 0.4286
0.6452 0.9279 0.9697 0.2686 0.6217 0.8087 0.1118 0.3568 0.6185 0.0300 0.1353 0.3811 0.0125 0.0673 0.2675
0.6020 0.9075 0.9544 0.2182 0.5503 0.7336 0.0791 0.2797 0.5038 0.0172 0.0873 0.2591 0.0062 0.0380 0.1603
0.5493 0.8784 0.9307 0.1657 0.4636 0.6343 0.0500 0.1998 0.3741 0.0083 0.0480 0.1501 0.0025 0.0175 0.0782
0.5275 0.8649 0.9191 0.1467 0.4284 0.5918 0.0408 0.1714 0.3255 0.0060 0.0366 0.1167 0.0017 0.0123 0.0563
0.5125 0.8551 0.9106 0.1346 0.4046 0.5626 0.0354 0.1535 0.2942 0.0048 0.0302 0.0973 0.0012 0.0096 0.0444
"""
SCALES = (1, 2, 5, 10, 20, 50, 75, 100)
GROUPS = ([1, 1], [0, 1], [1] * 10, [0] * 9 + [1], [0] * 5 + [1, 1, 1, 2, 3])


def test_appendix_a1() -> None:
    """Thesis Appendix A.1: the size terms h1, h2, h3 of forty tables, one misprint apart."""
    printed = np.array([line.split() for line in APPENDIX.split("\n") if line], dtype=float)
    printed[18, 5] = 0.9150
    found = []
    for group in GROUPS:
        for scale in SCALES:
            table = [scale * x for x in group]
            ours = [risk.size_term(table, h, epsilon=e) for e in (0.1, 0.3, 0.5, 0.8, 1.0) for h in ("h1", "h2", "h3")]
            assert risk.r1(table, size="h3", epsilon=0.3).terms["size"] == ours[5]
            assert risk.r1(table).terms["size"] == ours[7]
            found.append(ours)
    assert np.abs(np.array(found) - printed).max() < 5.1e-5


@given(pairs(), weights)
def test_perturbation_never_raises_the_risk(pair: tuple[list[int], list[int]], w: tuple[float, ...]) -> None:
    """R2 <= R1 term by term in the thesis form, R2* <= R1*, all within 0 and 1 (property 4)."""
    f, g = pair
    before, after = risk.r1(f, w), risk.r2(f, g, w)
    assert after.value <= before.value + 1e-12
    assert all(after.terms[k] <= before.terms[k] + 1e-12 for k in before.terms)
    assert risk.r2_star(f, g).value <= risk.r1_star(f).value + 1e-12
    for r in (before, after, risk.r2(f, g, w, form="psd14"), risk.r1_star(f), risk.r2_star(f, g)):
        assert 0 <= r.value <= 1
        assert all(0 <= t <= 1 for t in r.terms.values())


@given(counts)
def test_an_unchanged_table_keeps_its_risk(f: list[int]) -> None:
    """R2(F, F) = R1(F), and of a multiple of F too: only shares are hidden."""
    assert risk.r2(f, f).value == pytest.approx(risk.r1(f).value)
    assert risk.r2(f, [3 * x for x in f]).value == pytest.approx(risk.r1(f).value)


@given(st.integers(1, 500), st.integers(2, 40))
def test_properties_1a_and_3(n: int, cells: int) -> None:
    """One populated cell: high risk, and higher in a longer table."""
    one = risk.r1([n] + [0] * (cells - 1))
    assert one.terms["entropy"] == 1
    assert one.value >= 0.8
    assert risk.r1([n] + [0] * cells).value > one.value
    assert risk.r2([n] + [0] * (cells - 1), [n + 1] + [0] * (cells - 1)).value == pytest.approx(one.value)


@given(st.integers(1, 500), st.integers(2, 40))
def test_property_1b(n: int, cells: int) -> None:
    """Equal frequencies leave the size term alone."""
    r = risk.r1([n] * cells)
    assert r.terms["zeros"] == 0
    assert r.terms["entropy"] == pytest.approx(0, abs=1e-12)
    assert r.value == pytest.approx(0.1 * r.terms["size"])


@given(counts, st.integers(2, 9))
def test_property_2(f: list[int], times: int) -> None:
    """The same shape with larger counts has a lower risk."""
    assert risk.r1([times * x for x in f]).value < risk.r1(f).value


@given(pairs())
def test_order_of_cells_does_not_matter(pair: tuple[list[int], list[int]]) -> None:
    """R1 and R2 see a bag of cells."""
    f, g = pair
    assert risk.r2(f[::-1], g[::-1]).value == pytest.approx(risk.r2(f, g).value)


def test_conventions() -> None:
    """K = 1; no zero stays zero; H(X) = 0 in both forms; nothing is published."""
    assert risk.r1([7]).terms["entropy"] == 0
    assert risk.r2([0, 2, 4], [1, 2, 4]).terms["zeros"] == 0
    assert risk.r2([0, 6], [3, 3]).terms["entropy"] == 1
    assert risk.r2([0, 6], [3, 3], form="psd14").terms["entropy"] == 0
    silent = risk.r2([0, 2, 4], [0, 0, 0])
    assert silent.terms["entropy"] == 0
    assert silent.terms["zeros"] == pytest.approx((1 / 3) ** 3)


@pytest.mark.parametrize("form", ["thesis", "psd14"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_compiled_and_numpy_paths_agree(monkeypatch: pytest.MonkeyPatch, form: Form, dtype: Any) -> None:
    """The same numbers from both paths, degenerate tables included, and from a loop over tables."""
    rng = np.random.default_rng(5)
    f = rng.poisson(rng.gamma(0.5, 4, (300, 12))).clip(0, 100).astype(dtype)
    g = (3 * ((f + rng.integers(0, 3, f.shape)) // 3)).astype(dtype)
    f[0], g[1], g[2], g[3] = 0, 0, f[2], np.roll(f[3], 1)
    f[4], f[4, 2] = 0, 9
    if dtype is np.int64:
        f[5, 0], g[5, 1], g[6, 0] = 4_000_000, 3_999_999, 70_000
    close = 1e-9 if dtype is np.int64 else 1e-12  # nearly all in one cell: H(X|Y)/H(X) loses digits
    plain = risk.r2(f, g, form=form, axis=1, empty="nan")
    first = risk.r1(f, axis=1, empty="nan")
    monkeypatch.setattr(_summary, "JIT_CELLS", 1)
    compiled = risk.r2(f, g, form=form, axis=1, empty="nan")
    assert np.allclose(plain.value, compiled.value, rtol=0, atol=close, equal_nan=True)
    assert np.allclose(first.value, risk.r1(f, axis=1, empty="nan").value, rtol=0, atol=1e-12, equal_nan=True)
    wide = risk.r2(f, g.astype(np.int64) + (g > 0) * 1000, form=form, axis=1, empty="nan").value  # other dtype
    monkeypatch.undo()
    assert math.isnan(plain.value[0])
    assert [risk.r2(a, b, form=form).value for a, b in zip(f[1:9], g[1:9], strict=True)] == pytest.approx(
        plain.value[1:9]
    )
    again = risk.r2(f, g.astype(np.int64) + (g > 0) * 1000, form=form, axis=1, empty="nan").value
    assert np.allclose(wide, again, rtol=0, atol=close, equal_nan=True)


def test_batches_and_lines() -> None:
    """Any axes form a table; every line along every axis agrees with R1 of that line, NaN where nobody is."""
    rng = np.random.default_rng(6)
    cube = rng.poisson(0.7, (3, 4, 5))
    cube[0, :, 0] = 0
    lines = risk.line_risks(cube)
    for axis, found in enumerate(lines):
        whole = risk.r1(cube, axis=axis, empty="nan").value
        assert np.allclose(found, whole, equal_nan=True, atol=1e-12)
    assert math.isnan(lines[1][0, 0])
    faces = risk.r1(cube, axis=(0, 2))
    assert faces.value.shape == (4,)
    assert faces.value[1] == pytest.approx(risk.r1(cube[:, 1]).value)
    assert risk.line_risks([3, 0])[0].shape == ()


def test_line_risks_of_one_category() -> None:
    """A variable of one category adds no entropy term."""
    assert risk.line_risks([[4], [5]])[1].round(6).tolist() == risk.r1([[4], [5]], axis=1).value.round(6).tolist()


def test_simple_measures() -> None:
    """Ones and twos are small; N/K."""
    assert risk.small_cell_share([[0, 1], [2, 3]], axis=1).tolist() == [0.5, 0.5]
    assert risk.mean_cell_size(SEX) == SEX.sum() / SEX.size


def test_result() -> None:
    """A result is frozen, prints readably, pickles and goes to JSON."""
    one, many = risk.r1([0, 2, 4]), risk.r1([[0, 2, 4], [0, 0, 0]], axis=1, empty="nan")
    assert repr(many) == "<R1 of 2 tables: 0.4472 to 0.4472, mean 0.4472>"
    assert "size" in repr(risk.r1_star([1, 2]))
    assert pickle.loads(pickle.dumps(one)).to_dict() == one.to_dict()
    with pytest.raises(AttributeError):
        one.value = 0.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        one.terms["zeros"] = 0.0  # type: ignore[index]


@pytest.mark.parametrize(
    "w", [(0.5, 0.5), (0.5, 0.6, 0.1), (1.2, -0.1, -0.1), (math.nan, 0.5, 0.5), ("a", 0, 1), None, (0.2, 0.2, 0.2, 0.4)]
)
def test_bad_weights(w: Any) -> None:
    """As many as terms, none negative, sum 1."""
    with pytest.raises(InputError, match="weights"):
        risk.r1([1, 2], w)
    with pytest.raises(InputError, match="weights"):
        risk.r2([1, 2], [1, 2], w)


def test_bad_tables() -> None:
    """Negative, NaN, fractions, shapes, nobody; no message shows a count."""
    bad = [[98765, -1], [98765, math.nan], [98765.5, 1], [0, 0]]
    calls: list[Callable[[Any], Any]] = [
        risk.r1,
        risk.r1_star,
        lambda x: risk.r2(x, [1, 1]),
        risk.size_term,
        risk.jos15_risk,
    ]
    for table in bad:
        for call in calls:
            with pytest.raises(InputError) as caught:
                call(table)
            assert "98765" not in str(caught.value)
    with pytest.raises(InputError, match="nobody"):
        risk.r1([[0, 0], [1, 2]], axis=1)
    with pytest.raises(InputError, match="shape"):
        risk.r2([1, 2], [1, 2, 3])
    wrong: list[dict[str, Any]] = [{"form": "psd15"}, {"size": "h4"}, {"epsilon": 2}, {"empty": "zero"}]
    for options in wrong:
        with pytest.raises(InputError):
            risk.r2([1, 2], [1, 2], **options)


# JOS15 Table 2: cells of 0, 1, ..., 5 units, all cells, all units; and its printed R (Table 5, "Original")


def test_numba_is_not_imported_for_small_tables() -> None:
    """One table never waits for the compiler."""
    code = "import sys, discreet.risk as r; r.r2([1, 2], [0, 3]); assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
