"""No sum of hidden cells that follows from the release is sensitive: against brute force, with a planted firm."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import discreet as dc
from discreet.audits import known_sums
from discreet.audits.known_sums import sums_that_follow
from discreet.base.compiled import always_compiled
from discreet.methods.suppress.sensitive_unions import union_rule
from discreet.tables.relations import of_layout

RULE = dc.Dominance(1, 60)


def firms(seed: int, shape: tuple[int, ...], *, chain: bool = True) -> tuple[pd.DataFrame, dc.Table]:
    """Random firms in every cell; one holding has a firm in each cell of the first line, and leads in none by rule."""
    random = np.random.default_rng(seed)
    names = list("abcde")[: len(shape)]
    rows = [(*map(str, cell), i) for cell in np.ndindex(*shape) for i in range(int(random.integers(3, 7)))]
    frame = pd.DataFrame(rows, columns=[*names, "firm"])
    frame["turnover"] = np.rint(random.lognormal(3, 0.9, len(frame))).astype(int) + 1
    frame["firm"] = np.arange(len(frame))
    frame["holding"] = frame["firm"]
    if chain:
        first = (frame[names[0]] == "0") & ~frame.duplicated(names)
        frame.loc[first, "holding"] = 10_000
        frame.loc[first, "turnover"] = 120
    dimensions = tuple(dc.Dimension.flat(name, range(size)) for name, size in zip(names, shape, strict=True))
    micro = dc.Microdata.of(frame, dimensions=dimensions, unit="firm", holding="holding", magnitudes=["turnover"])
    return frame, dc.tabulate(micro, names, value="turnover", top=3)


def dominated(frame: pd.DataFrame, names: list[str], cells: list[tuple[str, ...]]) -> bool:
    """Whether one holding has more than 60 % of the records of some inner cells together: by hand."""
    wanted = set(cells)
    inside = [key in wanted for key in map(tuple, frame[names].to_numpy().tolist())]
    by_holding: Counter[int] = Counter()
    for holding, turnover in zip(frame["holding"][inside], frame["turnover"][inside], strict=True):
        by_holding[holding] += turnover
    return max(by_holding.values()) > 0.6 * sum(by_holding.values())


def lines_of(table: dc.Table, frame: pd.DataFrame, hidden: np.ndarray) -> list[list[tuple[str, ...]]]:
    """Hidden inner cells of every line whose total is shown."""
    names = [d.name for d in table.dimensions]
    place = {tuple(codes): k for k, codes in enumerate(table.cells[names].astype(str).to_numpy().tolist())}
    found = []
    for axis, name in enumerate(names):
        others = [[d.leaves, ("Total",)][0] if k != axis else ("Total",) for k, d in enumerate(table.dimensions)]
        for total in itertools.product(*others):
            if hidden[place[tuple(total)]]:
                continue
            line = [(*total[:axis], code, *total[axis + 1 :]) for code in table.dimensions[axis].leaves]
            found.append([cell for cell in line if hidden[place[cell]]])
        assert name == table.dimensions[axis].name
    return [line for line in found if len(line) > 1]


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 3, 3), (3, 2, 2, 2)])
def test_no_line_of_hidden_cells_is_dominated(shape: tuple[int, ...]) -> None:
    """With the planted holding: unions=False leaves sensitive sums in some tables, the default in none."""
    before = after = 0
    for seed in range(6):
        frame, table = firms(seed, shape)
        names = [d.name for d in table.dimensions]
        bare, done = (dc.protect(table, dc.Suppress(RULE, unions=wanted)) for wanted in (False, None))
        before += sum(dominated(frame, names, line) for line in lines_of(table, frame, bare.hidden))
        after += sum(dominated(frame, names, line) for line in lines_of(table, frame, done.hidden))
        assert not len(dc.unions(done, RULE))
        assert (done.hidden | ~bare.hidden).all()
        assert dc.audit(done).ok
    assert after == 0
    if len(shape) < 4:
        assert before > 0


@pytest.mark.parametrize("method", ["optimal", "modular"])
def test_solvers_and_keys_keep_unions_too(method: str) -> None:
    """Whatever finds the pattern, and with a key, no union is left; the same key gives the same cells."""
    for seed in range(3):
        _, table = firms(seed, (4, 4))
        call = dc.Suppress(RULE, method=method, key=b"a secret of sixteen bytes", owner=False)
        done = dc.protect(table, call)
        assert not len(dc.unions(done, RULE))
        assert dc.audit(done).ok
        assert np.array_equal(done.status, dc.protect(table, call).status)


def test_cost_and_gap_are_those_of_the_pattern_that_is_returned() -> None:
    """What unions and the repair against the holder of the program hide is counted; the bound is not moved by it."""
    more = 0
    for seed in range(4):
        _, table = firms(seed, (4, 4))
        bare = dc.protect(table, dc.Suppress(RULE, method=dc.Optimal(time=20), unions=False))
        done = dc.protect(table, dc.Suppress(RULE, method=dc.Optimal(time=20)))
        details, added = done.details, done.status == "x"
        assert details["cost"] == pytest.approx(table.value[added].sum())
        assert details["gap"] == pytest.approx(1 - details["bound"] / details["cost"] if details["cost"] else 0)
        assert details["bound"] <= details["cost"]
        if (done.hidden & ~bare.hidden).any():
            assert details["solver status"] == "repaired"
            more += 1
    assert more > 0


def test_hierarchies_and_linked_tables() -> None:
    """Sub-totals are sums like others, and linked margins of one table are looked at together."""
    from discreet import datasets

    micro = datasets.business(2_000, seed=2)
    rule = dc.Dominance(1, 70) | dc.Threshold(3)
    table = dc.tabulate(micro, ["region", "size"], value="turnover", top=3)
    linked = table.with_margins([("region",), ("size",)])
    for one in (table, linked):
        done = dc.protect(one, dc.Suppress(rule))
        assert not len(dc.unions(done, dc.Dominance(1, 70)))
        assert dc.audit(done).ok


def test_which_sums_follow() -> None:
    """Of a hidden total against its parts nothing follows alone; with an equation that has it beside others it does."""
    table = dc.Table.of(np.arange(1, 10).reshape(3, 3), ["a", "b"])
    rows = of_layout(table.layout)
    gone = (table.where(a="1") | table.where(a="2")) & ~table.where(b="3")  # totals of two lines, two cells of each
    sums = sums_that_follow(rows, gone)
    total_1, total_2 = (int(np.flatnonzero(table.where(a=a, b="Total"))[0]) for a in "12")
    in_line = np.flatnonzero(table.where(a="1") & table.where(b="1") | table.where(a="1", b="2"))
    parts: tuple[int, ...] = tuple(in_line.tolist())
    assert tuple(sorted((total_1, total_2))) in sums
    assert tuple(sorted((*parts, total_2))) in sums
    assert parts not in sums


def least_sums(rows: csr_array, hidden: np.ndarray) -> set[tuple[int, ...]]:
    """Sets of hidden cells whose sum follows and that hold no smaller such set: every subset, by its null space."""
    cells = np.flatnonzero(hidden)
    part = rows.toarray()[:, cells]
    _, sizes, directions = np.linalg.svd(part)
    moves = directions[int((sizes > 1e-9).sum()) :]  # what keeps every equation
    least: list[tuple[int, ...]] = []
    for size in range(2, len(cells) + 1):
        for chosen in itertools.combinations(range(len(cells)), size):
            follows = np.abs(moves[:, list(chosen)].sum(axis=1)).max(initial=0) < 1e-9
            if follows and not any(set(one) <= set(chosen) for one in least):
                least.append(chosen)
    return {tuple(int(cells[k]) for k in chosen) for chosen in least}


@pytest.mark.parametrize("shape", [(4, 3), (4, 4), (2, 2, 2)])
def test_every_least_sum_of_a_small_table_is_seen(shape: tuple[int, ...]) -> None:
    """Against all subsets of the hidden cells, sums that three and four equations give included."""
    compared = 0
    for seed in range(4):
        _, table = firms(seed, shape)
        hidden = dc.protect(table, dc.Suppress(RULE | dc.PPercent(20), unions=False)).hidden
        if not 3 <= hidden.sum() <= 13:
            continue
        rows = of_layout(table.layout)
        assert least_sums(rows, hidden) <= set(sums_that_follow(rows, hidden))
        compared += 1
    assert compared


@pytest.mark.parametrize("shape", [(5, 4, 3), (3, 3, 2, 2)])
def test_sums_as_machine_code_and_as_python(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sums either way, each of them one that follows; where steps end early, some of them."""
    table = dc.Table.of(np.random.default_rng(1).poisson(4, shape), list("abcd")[: len(shape)])
    rows = of_layout(table.layout)
    hidden = np.random.default_rng(2).random(len(table)) < 0.3
    plain = sums_that_follow(rows, hidden)
    with always_compiled():
        assert list(sums_that_follow(rows, hidden).items()) == list(plain.items())
    dense = rows.toarray()
    shown = np.eye(len(table))[~hidden]
    spanned = np.linalg.matrix_rank(both := np.vstack([dense, shown]))
    for cells in list(plain)[:: max(len(plain) // 20, 1)]:
        one = np.zeros(len(table))
        one[list(cells)] = 1
        assert np.linalg.matrix_rank(np.vstack([both, one])) == spanned
    monkeypatch.setattr(known_sums, "STEPS", 50)
    assert set(sums_that_follow(rows, hidden)) < set(plain)


def test_sums_of_three_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some sums of a cube take more than two equations; without the search for these they are missed."""
    _, table = firms(1, (2, 2, 2))
    rows, hidden = of_layout(table.layout), table.is_inner
    hidden |= table.where(a="0", b="Total", c="Total") | table.where(a="1", b="Total", c="Total")
    sums = set(sums_that_follow(rows, hidden))
    monkeypatch.setattr(known_sums, "STEPS", 0)
    assert set(sums_that_follow(rows, hidden)) < sums
    assert least_sums(rows, hidden) <= sums


def test_default_is_for_dominance_and_p_percent_only() -> None:
    """Rules on counts ask for nothing; a rule among others does."""
    assert union_rule(dc.Threshold(3), None) is None
    assert union_rule(dc.Dominance(1, 60) | dc.Threshold(3), None) == dc.Dominance(1, 60)
    assert union_rule(dc.PPercent(10), None) == dc.PPercent(10)
    assert union_rule(dc.PPercent(10), False) is None
    _, table = firms(1, (3, 3))
    assert "unions" not in dc.protect(table, dc.Suppress(dc.Threshold(5))).details
    assert "unions" in dc.protect(table, dc.Suppress(RULE)).details


def test_forced_cells_that_give_a_union_away_are_refused() -> None:
    """Where no further cell may be hidden, the table is refused and not published."""
    for seed in range(6):
        _, table = firms(seed, (4, 4))
        bare = dc.protect(table, dc.Suppress(RULE, unions=False))
        if not len(dc.unions(bare, RULE)):
            continue
        with pytest.raises(dc.Refused):
            dc.protect(table, dc.Suppress(RULE, forced=~bare.hidden))
        return
    pytest.fail("no table with a sensitive union")
