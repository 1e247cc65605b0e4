"""Numbers that decide how fast the linear layer is, and never what it answers unless time runs out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LinearTuning:
    """Chosen on the two- to four-way tables of ``benchmarks/audit.py`` and ``suppress.py``; tests pass others."""

    companions: int = 3  # open bounds pushed along with the one that a program is about
    weight: float = 0.01  # of a companion
    small: int = 200_000  # targets times rows of a component up to which one lane does
    lane: int = 5_000_000  # the same for each lane of large components
    # bounds that an interior point for all of them must close for another one: programs of their own take longer
    ends_least: int = 2
    steps: int = 8  # programs of a lane before it learns what the others have found
    near: tuple[int, ...] = (300,)  # variables left free around one whose second whole value is looked for
    whole_seconds: float = 1.5  # per component for second whole values; what is not settled by then is unknown
    large: int = 500  # rows of a program that begins with the interior point method
    warm_steps: int = 1_000  # of the simplex method from the last vertex; beyond, a large program begins anew
    pushes: int = 40  # interior points per component before programs for single variables, at most
    long_pushes: int = 4  # the same, to tell long intervals from short ones: those are said to be in doubt
    push_lanes: int = 2  # points at a time, for any number of processors
    push_share: float = 0.05  # of the variables pushed together that must get there for another push
    push_least: int = 12  # the same in number, where programs for single ones are quick
    push_rows: int = 25_000  # the same times rows, for large ones: as many take a program each in the time of a push
    lean_most: int = 10_000  # rows of which those that follow from others are left out of programs
    walks: tuple[tuple[int, int], ...] = (
        (30, 2),
        (100, 4),
        (300, 4),
        (1_000, 4),
        (3_000, 4),
        (10_000, 4),
        (30_000, 4),
    )  # fmt: skip - steps and tries of the walks of each turn, for targets that the turns before have not moved
    walk_steps: tuple[int, int] = (1_000_000, 400)  # of all walks of a component together, and more for each target
    walk_share: float = 0.1  # of the targets tried together that must move for the turn to go on
    walk_sample: int = 100_000  # steps of the targets tried together, each with one try
    walk_least: int = 16  # of them
    walk_longest: int = 3_000  # of a walk while a pattern is in the making: programs and further cells do the rest
    walk_worth: int = 6_000  # steps for each target that is moved, beyond which a turn ends while it is
    walk_lanes: int = 2  # shares of the targets tried together, for any number of processors,
    walk_apart: int = 1_000  # by walks of so many steps or more; what short ones find helps the next target at once
    pool_walks: tuple[tuple[int, int], ...] = ((100, 4), (300, 4), (1_000, 4))  # the same for moves kept in a pool
    pool_room: int = 64  # variables of a move that is kept, on average
    priced_walks: tuple[tuple[int, int, int], ...] = ((8, 1_000, 50), (32, 1_000, 300), (128, 1_000, 300))
    # how much walks shun dear variables, beside 2 for a unit by which a row is broken; their steps, and their number
    near_from: int = 5_000  # rows of a component, with a known solution, whose last targets are settled by parts of it
    near_rows: tuple[int, ...] = (300, 1_500, 6_000, 24_000)  # rows of such a part, then of larger ones
    near_share: float = 0.25  # of the rows, at most, in such a part: a larger one is no sooner solved than all of it
    proved_most: int = 30_000  # rows of a component of which what its parts do not settle is proved by all of it
    near_rows_each: int = 300  # rows of a component for each such target; for more of them interior points are sooner
    few: int = 64  # targets for which pushing them together does not pay in a small component
    pushed_few: int = 6  # the same in a large one
    flow_chunk: int = 256  # targets of a network between two looks at the clock
    flow_lane: int = 2_000  # targets of a network for each lane, which goes on from the flow it has


LINEAR = LinearTuning()
