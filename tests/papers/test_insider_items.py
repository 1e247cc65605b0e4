"""[LL21] section 2.2 and [ODF03] section 4.5.4: people who know their own cells, in tables of counts.

Every table here is attacked by brute force: all whole tables near the true one that agree with what is published, and
every coalition of up to k people, wherever they stand. Nothing of the package is used but its public names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import discreet as dc

AWAY = 2  # how far every hidden cell is let move from its true value


def with_margins(x: Any) -> Any:
    """Inner cells (last two axes) with their row, column and grand totals, totals first."""
    x = np.concatenate([x.sum(axis=-1, keepdims=True), x], axis=-1)
    return np.concatenate([x.sum(axis=-2, keepdims=True), x], axis=-2)


def compatible(x: Any, hidden: Any, least: int) -> Any:
    """All tables with margins that agree with the published cells; hidden inner cells are at least ``least``."""
    rows, columns = x.shape
    inner = hidden[1:, 1:]
    ranges = [
        range(max(least, int(v) - AWAY), int(v) + AWAY + 1) if gone else [int(v)]
        for v, gone in zip(x.ravel(), inner.ravel(), strict=True)
    ]
    tables = np.array(list(_grown(ranges)), np.int16).reshape(-1, rows, columns)
    full = with_margins(tables)
    shown = ~hidden
    return full[(full == with_margins(x))[:, shown].all(axis=1)]


def _grown(ranges: list[Any]) -> Iterator[tuple[int, ...]]:
    yield from itertools.product(*ranges)


def coalitions(x: Any, k: int) -> Iterator[Any]:
    """Own members per inner cell, of all groups of one to k people."""
    people = [at for at in np.ndindex(x.shape) for _ in range(min(int(x[at]), k))]
    seen = set()
    for size in range(1, k + 1):
        for group in itertools.combinations(people, size):
            if group not in seen:
                seen.add(group)
                own = np.zeros(x.shape, int)
                for at in group:
                    own[at] += 1
                yield own


def learned_cells(x: Any, done: dc.Protected, k: int, least: int = 1) -> int:
    """Coalitions that know a sensitive cell that is not all theirs; who is alone in a cell knows that he is.

    ``least``: 1 where empty cells are always shown, and everybody knows that. An empty cell is nobody's: it counts.
    """
    hidden, primary = (np.asarray(m).reshape(x.shape[0] + 1, -1) for m in (done.hidden, done.status == "u"))
    tables = compatible(x, hidden, least)
    truth, found = with_margins(x), 0
    for own in coalitions(x, k):
        whole = with_margins(own)
        fits = (tables[:, 1:, 1:] >= own).all(axis=(1, 2))
        sure = (own == x) & (own > 0)
        fits &= (tables[:, 1:, 1:][:, sure] == x[sure]).all(axis=1)
        left = tables[fits]
        one = (left == left[:1]).all(axis=0)
        found += bool((one & primary & ((whole < truth) | (truth == 0))).any())
    return found


def learned_lines(x: Any, done: dc.Protected, k: int) -> int:
    """Coalitions that know of everybody else in a line that he stands in one of its cells."""
    hidden = np.asarray(done.hidden).reshape(x.shape[0] + 1, -1)
    tables = compatible(x, hidden, 0)
    truth, found = with_margins(x), 0
    for own in coalitions(x, k):
        whole = with_margins(own)
        left = tables[(tables[:, 1:, 1:] >= own).all(axis=(1, 2))]
        for axis in (0, 1):
            total, parts = np.take(left, [0], axis + 1), np.delete(left, 0, axis + 1)
            mine, in_part = np.take(whole, [0], axis), np.delete(whole, 0, axis)
            others = (total - parts) - (mine - in_part)  # people in the line, not in the part, not of the coalition
            somebody = np.delete(truth, 0, axis) > in_part
            found += bool(((others == 0).all(axis=0) & somebody).any())
    return found


def small(count: int, shape: tuple[int, int], seed: int) -> list[Any]:
    """Random small tables."""
    rng = np.random.default_rng(seed)
    return [rng.poisson(rng.gamma(1.5, 2.0, shape)) for _ in range(count)]


METHODS = {"elimination": "gauss", "optimal": dc.Optimal(time=20), "modular": dc.Modular(time=20)}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", METHODS)
def test_no_coalition_learns_a_small_cell(name: str, k: int) -> None:
    """Without ``insiders`` many do; with it none does, at the price of more hidden cells, by every method."""
    before = after = refused = 0
    price = np.zeros(2, int)
    for x in small(10 if name == "elimination" else 4, (3, 3), 10 + k):
        table = dc.Table.of(x, ["a", "b"])
        plain = dc.protect(table, dc.Suppress(dc.Threshold(3), method=METHODS[name]))
        try:
            safe = dc.protect(table, dc.Suppress(dc.Threshold(3), method=METHODS[name], insiders=k))
        except dc.Refused:
            refused += 1
            continue
        before += learned_cells(x, plain, k) > 0
        after += learned_cells(x, safe, k) > 0
        price += [plain.hidden.sum(), safe.hidden.sum()]
    assert after == 0
    assert before > 0
    assert refused <= 1
    assert price[1] > price[0]
    assert plain.summary()["insiders"].eq(0).all()
    assert safe.summary()["insiders"].eq(k).all()
    assert f"no sensitive cell follows for any {k} of the people" in safe.release().method


def protected(table: dc.Table, rule: Any, k: int) -> dc.Protected | None:
    """The table safe from k insiders; None if that is refused."""
    try:
        return dc.protect(table, dc.Suppress(rule, insiders=k))
    except dc.Refused:
        return None


RULES = {
    "line": dc.DirectDisclosure,
    "line or small": lambda k: dc.Threshold(3) | dc.DirectDisclosure(k),
    "group": lambda k: dc.Threshold(3) | dc.GroupDisclosure(),
    "zeros": lambda k: dc.Threshold(3, zeros=True),
}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", RULES)
def test_sensitive_cells_hold_whatever_rule_made_them(name: str, k: int) -> None:
    """Rules on lines and sensitive zeros: who is alone in a cell uses it there too, and learns none of them."""
    make: Any = RULES[name]
    before = after = tried = 0
    for x in small(8 if k == 1 else 4, (3, 3), 30 + k):
        table = dc.Table.of(x, ["a", "b"])
        safe = protected(table, make(k), k)
        if safe is None:
            continue
        tried += 1
        before += learned_cells(x, dc.protect(table, dc.Suppress(make(k))), k, least=0) > 0
        after += learned_cells(x, safe, k, least=0) > 0
        if k == 1:
            assert dc.insiders(safe)["primary"].sum() == 0
    assert tried > 2
    assert before > 0
    assert after == 0


def test_people_alone_in_their_cells_learn_nothing_of_a_line_or_of_an_empty_cell() -> None:
    """Two tables: one under a rule on lines, one with sensitive zeros; single people learnt primary cells of both."""
    codes = [dc.Dimension.flat("g", "123"), dc.Dimension.flat("v", "abc")]
    for x, rule, words in (
        ([[2, 1, 0], [1, 1, 2], [1, 1, 0]], dc.DirectDisclosure(1, sensitive=["v"]), "all others of a line"),
        ([[1, 1, 0], [0, 0, 1], [2, 2, 3]], dc.Threshold(3, zeros=True), "no sensitive cell follows for any 1"),
    ):
        table = dc.Table.of(x, codes)
        plain, safe = (dc.protect(table, dc.Suppress(rule, insiders=k)) for k in (0, 1))
        assert learned_cells(np.array(x), plain, 1, least=0) > 0
        assert learned_cells(np.array(x), safe, 1, least=0) == 0
        assert dc.insiders(safe)["primary"].sum() == 0
        assert words in safe.release().method


def test_coalitions_are_named_by_their_cells_as_often_as_they_have_members() -> None:
    """Two of one cell know more than one of it; more than there are cannot be asked."""
    table = dc.Table.of([[2, 3, 9], [4, 8, 7], [5, 6, 2]], ["a", "b"])
    done = dc.protect(table, dc.Hide(np.isin(np.arange(len(table)), [5, 6, 9, 10])))
    one, two = (dc.insiders(done, coalitions=[[0] * many]) for many in (1, 2))
    assert len(one) == 0
    assert two["learned"].tolist() == [3]
    with pytest.raises(dc.InputError, match="more often"):
        dc.insiders(done, coalitions=[[0, 0, 0]])


def test_amounts_have_their_own_insiders() -> None:
    """People are counted; firms are for singletons and the rule."""
    table = dc.Table.of([[2.5, 3.0], [4.0, 8.0]], ["a", "b"], value="turnover")
    with pytest.raises(dc.InputError, match="singletons"):
        dc.protect(table, dc.Suppress(lambda t: t.value < 3, insiders=1))
    with pytest.raises(dc.InputError, match="0 or more"):
        dc.Suppress(dc.Threshold(3), insiders=-1)


@pytest.mark.parametrize("k", [1, 2])
def test_no_coalition_from_anywhere_learns_who_is_left_in_a_line(k: int) -> None:
    """LL21's rule with respect to k holds for k people of the line; with ``insiders`` also for k from anywhere."""
    before = after = tried = 0
    for x in small(30 if k == 1 else 14, (3, 3), 20 + k):
        table = dc.Table.of(x, ["a", "b"])
        try:
            plain = dc.protect(table, dc.Suppress(dc.DirectDisclosure(k)))
            safe = dc.protect(table, dc.Suppress(dc.DirectDisclosure(k), insiders=k))
        except dc.Refused:
            continue
        tried += 1
        before += learned_lines(x, plain, k) > 0
        after += learned_lines(x, safe, k) > 0
    assert tried > 8
    assert after == 0
    assert before > 0
