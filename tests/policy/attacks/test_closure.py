"""Everything that a policy answers, counted once more by asking for each cell in every way there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet import Dimension, Microdata, Query, Refused, answer
from discreet.data.codebook import Codebook
from discreet.policy import Policy, parse_policy
from discreet.policy.attacks.answers import UNKNOWN, Truth, collect

KEYED = '[[method]]\nname = "cell-key"\nd = 2\nv = 1\n'


def people(n: int = 400, seed: int = 3) -> Microdata:
    """Persons with a hierarchy among their variables."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    area = Dimension.from_parents("area", {"n1": "north", "n2": "north", "s1": "south", "s2": "south"})
    dimensions = (area, Dimension.flat("sex", ["f", "m"]), Dimension.flat("job", ["a", "b", "c"]))
    frame = pd.DataFrame({d.name: rng.choice(d.leaves, n, p=_shares(len(d.leaves))) for d in dimensions})
    frame["rkey"] = rng.integers(0, 2**63, n, dtype=np.uint64)
    return Microdata.read(frame, Codebook(dimensions=dimensions, key="rkey"))


def _shares(number: int) -> list[float]:
    weights = 0.5 ** np.arange(number)
    return list(weights / weights.sum())


def every_cell(data: Microdata, policy: Policy) -> dict[tuple[tuple[str, str], ...], int]:
    """All numbers that any query gives: every set of variables, level, filter and code."""
    cells: dict[tuple[tuple[str, str], ...], int] = {}
    names = [d.name for d in data.dimensions]
    levels = {d.name: [name for name in d.levels if name != "total"] for d in data.dimensions}
    codes = {d.name: [code for code in d.codes if code != d.total] for d in data.dimensions}
    totals = {d.name: d.total for d in data.dimensions}
    for size in range(1, len(names) + 1):
        for chosen in itertools.combinations(names, size):
            for detail in itertools.product(*(levels[name] for name in chosen)):
                others = [name for name in names if name not in chosen]
                filters = [{}, *({name: code} for name in others for code in codes[name])]
                for where in filters:
                    try:
                        asked = Query.of(dict(zip(chosen, detail, strict=True)), where=where)
                        release = answer(data, asked, policy)
                    except Refused:
                        continue
                    for row in release.cells.to_dict("records"):
                        if row["status"] == "c":
                            continue
                        found = {name: row[name] for name in chosen if row[name] != totals[name]} | where
                        cells[tuple(sorted(found.items()))] = int(row["count"])
    return cells


@pytest.mark.parametrize(
    "rules",
    [
        "[query]\nmax_dimensions = 1\nmax_filters = 1\n",
        "[query]\nmax_dimensions = 2\nmax_filters = 0\n",
        "[query]\nmax_dimensions = 2\nmax_filters = 1\n[table]\nmin_population = 40\n",
        '[query]\nmax_dimensions = 3\nforbidden = [["sex", "job"]]\n',
    ],
)
def test_the_closure_is_what_all_queries_together_give(rules: str) -> None:
    """No cell is missed and none is made up, whatever the policy limits."""
    data, policy = people(), parse_policy(rules + KEYED)
    answers = collect(data, policy)
    known = {}
    for frame, values in answers.frames.items():
        for at in np.argwhere(np.asarray(values) != UNKNOWN).tolist():
            codes = [(data.dimensions[k].name, data.dimensions[k].codes[c]) for k, c in zip(frame, at, strict=True)]
            known[tuple(sorted(codes))] = int(np.asarray(values)[tuple(at)])
    assert known == every_cell(data, policy)
    assert answers.cells == len(known)
    assert answers.conflicts == 0


def test_shown_as_it_is_every_number_is_the_true_one() -> None:
    """The truth that attacks are scored by is that of a policy without protection, cell by cell."""
    data = people()
    answers = collect(data, parse_policy('publish = "as it is"\n[query]\nmax_dimensions = 3\n'))
    pairs = list(Truth.of(data).pairs(answers))
    assert len(pairs) == 8
    for _, shown, true in pairs:
        assert np.array_equal(shown, true)


def test_what_is_too_much_to_enumerate_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closure that is cut says so, and is smaller; it is never taken for the whole."""
    policy = parse_policy("[query]\nmax_dimensions = 3\n" + KEYED)
    whole = collect(people(), policy)
    monkeypatch.setattr("discreet.policy.attacks.answers.MOST_CELLS", 30)
    cut = collect(people(), policy)
    assert whole.left_out == 0
    assert cut.left_out > 0
    assert cut.cells < whole.cells
