"""Everything compiled ahead of its first use: small examples of all work that has compiled loops.

What is compiled is kept on disk (``base/cache_folder``), so that the next process loads it. For servers, images and
whoever does not want to wait in the middle of the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.base.annotations import Array, Progress
from discreet.base.compiled import Loop, always_compiled, loops_of
from discreet.tables.relations import of_layout
from discreet.tables.table import Table

PACKAGE = "discreet"


@dataclass(frozen=True)
class WarmUp:
    """The loops that have machine code now, and the folders in which it is kept for other processes."""

    loops: int
    folders: tuple[str, ...]


def warm_up(progress: Progress | None = None) -> WarmUp:
    """Compile every loop, or load what lies on disk already."""
    with always_compiled():
        for done, example in enumerate(EXAMPLES):
            if progress is not None:
                progress(done, len(EXAMPLES))
            example()
    if progress is not None:
        progress(len(EXAMPLES), len(EXAMPLES))
    loops: list[Loop] = loops_of(PACKAGE)
    folders = {loop.kept_in for loop in loops} - {None}
    return WarmUp(len(loops), tuple(sorted(str(folder) for folder in folders)))


def _counts(*shape: int, seed: int = 1) -> Table:
    """A table of counts, small ones among them."""
    return Table.of(np.random.default_rng(seed).poisson(4, shape), [f"d{number}" for number in range(len(shape))])


def _one_each(*shape: int) -> Array:
    """Somebody of each inner cell who knows it."""
    return np.arange(np.prod(shape)) + 1


def _suppression() -> None:
    from discreet.audits import audit
    from discreet.methods.contract import protect
    from discreet.methods.suppress import Suppress
    from discreet.rules import Threshold

    for shape in ((4, 4, 4), (20, 20)):
        audit(protect(_counts(*shape), Suppress(Threshold(3))).release())
    protect(_counts(3, 3), Suppress(Threshold(3), singletons=_one_each(3, 3)))


def _suppression_with_a_key() -> None:
    from discreet.audits import owner_audit
    from discreet.methods.contract import protect
    from discreet.methods.suppress import Suppress
    from discreet.rules import Threshold

    for knows in ("auto", _one_each(3, 3)):
        method = Suppress(Threshold(3), key=bytes(range(32)), singletons=knows)
        owner_audit(protect(_counts(3, 3), method), method, seed=1)


def _optimal() -> None:
    from discreet.methods.contract import protect
    from discreet.methods.suppress import Suppress
    from discreet.methods.suppress.exact.optimal import Optimal
    from discreet.rules import Threshold

    protect(_counts(5, 5), Suppress(Threshold(3), method=Optimal(time=60)))


def _amounts() -> None:
    """The loops for many cells of amounts at once and for their sums, which small tables do without."""
    from discreet.audits.known_sums import sums_that_follow
    from discreet.linear._level_moves import MoveList, Rooms, blocking_owners, level_moves
    from discreet.linear._whole_moves import Entries

    one, none, two = np.ones(1, np.int64), np.zeros(2, np.int64), np.arange(2)
    entries = Entries(np.array([0, 2]), two, np.ones(2, np.int64), np.arange(3), none, np.ones(2, np.int64))
    rooms = Rooms(none + 1, none + 1, none.copy(), none.copy(), np.zeros(2), none.copy())
    kept = MoveList(np.empty(4, np.int64), np.empty(4, np.int64), np.empty(1, np.int64), none.copy())
    level_moves(entries, rooms, one, one, 10, 1, 1, True, 1, none[:0], none[:0], kept)
    ends, found = np.array([2]), np.empty(2, np.int64)
    by_variable = np.arange(3)
    blocking_owners(one, one, by_variable, none, ends, two, by_variable, two, 1, found, one.copy())
    table = _counts(3, 3)
    sums_that_follow(of_layout(table.layout), table.is_inner)


def _linear_algebra() -> None:
    from scipy.sparse import csr_array

    from discreet.linear._short_moves import shorten
    from discreet.linear.modular import rank, reduced_rows
    from discreet.linear.system import System
    from discreet.linear.whole_moves import MovePool, PricedMoves

    alike = System(csr_array(np.ones((1, 3))), np.array([3.0]), np.zeros(3), np.full(3, 3.0), True, np.ones(3))
    MovePool(alike, np.arange(3))
    PricedMoves(csr_array(np.ones((1, 2))), np.ones(2), np.ones(2)).cheapest(0, 1, np.ones(2))
    table = _counts(3, 3)
    rank(table.matrix)
    rows = csr_array(table.matrix.T.astype(float))
    reduced_rows(rows, np.zeros(rows.shape[1], bool))
    moves = np.array([[1, 1], [1, 1], [1, 1], [0, 1]], np.int8)
    shorten(moves, moves.T.copy(), np.zeros(1, np.int64))


def _risk() -> None:
    from discreet.population import Multinomial
    from discreet.risk import assess_sample
    from discreet.risk._kernels import summaries

    counts = np.arange(8).reshape(2, 4)
    summaries(counts, None, 8)
    summaries(counts, counts[::-1], 8)
    assess_sample([[3, 1], [2, 1]], 60, seed=1)
    Multinomial().fit([[3, 1], [1, 1]], 60).draw(2, seed=1)


def _synthetic() -> None:
    from discreet.methods.synthetic.synthetic import Synthetic

    Synthetic(seed=1)(_counts(3, 3))


def _attack() -> None:
    import pandas as pd

    from discreet.data.codebook import Codebook
    from discreet.data.dimension import Dimension
    from discreet.data.microdata import Microdata
    from discreet.policy import Effort, attack, parse_policy

    random = np.random.default_rng(1)
    dimensions = tuple(Dimension.flat(name, ["1", "2", "3"]) for name in ("d1", "d2", "d3"))
    frame = pd.DataFrame({d.name: random.choice(d.leaves, 60, p=[0.1, 0.3, 0.6]) for d in dimensions})
    frame["key"] = random.integers(0, 2**63, 60, dtype=np.uint64)
    policy = parse_policy('[query]\nmax_dimensions = 3\n[[method]]\nname = "cell-key"\nd = 3\nv = 1\n')
    records = Microdata.read(frame, Codebook(dimensions=dimensions, key="key"))
    effort = Effort(chains=1, fewest=2000, most=2000, samples=10)
    attack(records, policy, limit=20, effort=effort, editions=False, targets=0)


EXAMPLES: tuple[Callable[[], None], ...] = (
    _suppression,
    _suppression_with_a_key,
    _optimal,
    _amounts,
    _linear_algebra,
    _risk,
    _synthetic,
    _attack,
)
