"""Every number that steers suppression, as values: no search, audit or repair has one of its own.

None of them decides whether a pattern protects or a bound holds, only how soon good ones are found; tolerances say how
far the solver's answers are believed before they are checked. Those by which a proof or a comparison allows for the
rounding of its own arithmetic stand beside it. They were chosen by `benchmarks/csp.py` on the instances
named with each group (all of them in the tables of docs/optimal.md). Whoever tries others passes
``replace(DEFAULT, exact=replace(DEFAULT.exact, reliable=8))``.
"""

from __future__ import annotations

from dataclasses import dataclass

WHOLE = 1e-6  # how near to a whole number counts as one, in costs and in patterns


@dataclass(frozen=True)
class AttackerTuning:
    """Does a pattern protect, and what is the cheapest move? Chosen on table1, toysarah and jjtabel3; what is for many
    requirements at once on ninenew and nine12."""

    # every program is in units of the level it is about
    tiny: float = 1e-7  # of a level: less is no move
    far: float = 1e4  # levels that other cells may move in the first program; proofs use the true bounds
    furthest: float = 1e7  # levels, where a cell has no bound
    noise: float = 1e-9  # a reduced cost below this is the solver's noise
    # the cheapest move of one cell
    wide: int = 8  # cells in a sum on average from which blocks around the cell pay
    widths: tuple[int, ...] = (4, 8)  # cells taken from each sum around it
    simplex_limit: int = 3_000  # steps of the dual simplex method before another is tried
    urge: float = 1e6  # what reaching the level is worth, in usual prices
    urge_moves: float = 1e5  # the same where the program is posed over moves
    narrow: float = 1e-3  # of a level: cells that move less are priced as if they moved this far
    dense: float = 4  # times as many entries as the sums have: then a program over moves is not worth it,
    many_moves: int = 500  # from so many moves on
    # many requirements
    lane: int = 100  # requirements for each line of work that has a solver of its own
    batch: int = 16  # requirements whose programs run before their moves are tried on the others
    together: int = 12  # programs for many requirements at once
    several: int = 3  # requirements that such a program must serve to be worth it
    beyond: float = 16.0  # levels that a cell may move where one move serves many: scaled down it serves each
    doubts: int = 5  # requirements not met that are asked about once more; more than that is no slip
    few: int = 40  # requirements for which short moves are found as soon as one for all
    rounds: int = 12  # of moves for all
    kept: float = 1e-7  # of the least level: a move for all that is off a sum by more is not believed
    shortfall: float = 1e-6  # of a level: a proof that it is missed by less is none
    strict: float = 1e-5  # of its level must a cell move further: more than a solver's tolerance could make up


@dataclass(frozen=True)
class HeuristicTuning:
    """Good patterns fast. Chosen on hie1372d, table1, jjtabel3 and toysarah; what is for large problems on hier16,
    ninenew and nine12."""

    # whole patterns, one requirement after the other
    first: float = 0.3  # of the time for whole patterns, the rest for parts of the best of them
    starts: int = 4  # whole patterns
    in_turn: int = 2_500  # cells from which one requirement after the other takes too long
    used: float = 1e-4  # of the usual weight: what using a hidden cell counts for, so that moves stay short
    shaken: tuple[float, float] = (0.1, 1.0)  # spread of the logarithm of a weight when it is shaken, least and most
    levels_shaken: float = 0.3  # of a level at least, when requirements are put in another order
    guide_least: float = 0.01  # of a weight at least, where the relaxation hides a cell
    # pruning
    dropped_first: int = 4  # cells tried at once to begin with; twice as many when all can go,
    dropped_refused: int = 2  # half when more needs refuse
    alone: int = 6  # needs that look for another move each for itself, those most likely to find none first,
    many_lost: int = 12  # before all that lost theirs do so together, while so many do
    walks: tuple[int, int, int] = (100, 4, 8)  # longest walk, tries, how much it shuns dear cells
    walk_step: float = 8  # work of one step of a walk, beside the solver's (``highs.SolverWork``)
    kept_least: int = 50  # moves that are kept, and two for each need
    walks_from: int = 200  # needs from which on they are worth it
    walk_room: int = 100  # cells of a move that is kept, on average
    # where pattern and relaxation disagree (RINS)
    agree: float = 1e-6  # how near to 0 or 1 the relaxation must be to agree
    disagree_most: float = 0.9  # of the cells with a choice: where more are set free, nothing is gained
    # neighbourhoods made of basic moves
    moves_first: int = 120  # cells set free to begin with
    moves_least: int = 40
    moves_most: int = 1_000
    moves_grow: float = 1.1  # times as many when a part was solved and brought nothing
    moves_shrink: float = 0.7  # when it was not solved in the time
    stray: float = 0.1  # how often a published cell leads to the next move
    jump: float = 0.05  # how often a cell elsewhere does
    moves_seconds: float = 4.0  # for one small problem at most
    near: int = 1_200  # cells that move in a large problem besides those set free
    # neighbourhoods made of sums
    sums_first: int = 60  # cells with a choice to begin with
    sums_least: int = 20
    sums_most: int = 1_000
    sums_grow: float = 1.15
    sums_shrink: float = 0.7
    sums_share: float = 0.1  # of the time left for one neighbourhood at most
    sums_seconds: float = 10.0  # for one at most
    too_many_moves: int = 600  # of a part from which a single round takes too long
    guided: float = 0.3  # of the neighbourhoods are cells that the guide hides, if there is one
    # elimination of a problem in numbers
    repair_locally: int = 4_000  # cells from which missing moves are looked for in neighbourhoods
    # large problems
    large: int = 6_000  # cells from which on searches go without what takes the whole problem at a time
    local_moves: int = 150  # basic moves of the first neighbourhood; four times as many if that does not do
    local_least: int = 40  # basic moves of a neighbourhood in a large problem when time is up
    local_together: int = 2  # requirements at a time, for any number of processors: the next take these as given
    hub: int = 60  # a cell of so many basic moves does not lead to further ones
    mostly_met: float = 0.5  # of the requirements: then the pattern of elimination is repaired, and no other is tried


@dataclass(frozen=True)
class ExactTuning:
    """Branch and cut. Shares of time chosen on hie1372d, table1 and jjtabel3; the tree on targus, table7 and table8."""

    # valid inequalities and their separation
    least_coefficient: float = 1e-6  # a coefficient below this is paid for on the right-hand side
    violated: float = 1e-4  # of the right-hand side 1, to be worth putting in
    bridged: float = 0.05  # of a cell; bridges violated by less are left alone
    cover_left: float = 1e-3  # at least this much must be left to bring, after the cells taken to be hidden
    cover_hidden: float = 0.05  # a cell less hidden than this is not taken as hidden
    cover_gained: float = 1e-4  # more cells must be worth that much
    lane: int = 400  # aims for each line of work that has a solver of its own
    lanes_from: int = 4  # aims to be looked at from which several lines of work pay
    # the pool of inequalities that all nodes share
    pool_most: int = 30  # taken from it at a time,
    pool_root: int = 200  # and for the root after a dive
    pool_violated: float = 1e-3  # of the right-hand side 1, to be worth taking
    pool_enough: int = 5  # taken: then a node does without separation in this round
    pool_grown: float = 1.2  # times as many as when it was last put in order,
    pool_new: int = 20  # and so many more: then it is again
    # the master problem
    inward: float = 0.1  # how far from the relaxation's pattern towards one that protects is looked first (in-out)
    few: int = 5  # inequalities found there before the pattern itself is looked at
    bridges: int = 400  # of the simple bridges added in a round
    lonely: float = 1e-3  # of a cell; simple bridges violated by less are left alone
    bridges_tried: int = 30  # cells whose bridges are looked for by a program in a round
    bridge_hidden: float = 0.1  # a cell less hidden than this is not among them
    idle: int = 8  # rounds with next to no gain after which it stops
    gain: float = 2e-4  # of the bound, over that many rounds
    slack_rounds: int = 10  # an inequality that was slack that long is dropped,
    dropped_least: int = 50  # with so many others at least,
    dropped: float = 0.25  # and this share of all
    kept_idle: int = 3  # one that was slack for fewer rounds is kept for the next search of the same problem
    # reduced-cost fixing
    fixed: float = 0.1  # of the cells with a choice must be fixed to begin with a smaller problem
    least_left: float = 1e-3  # of an inequality to be worth keeping in it
    # the branching rule
    blamed: int = 4  # choices before a node that are thought to have closed it
    growing: float = 1.05  # how much more each closed node counts than the one before
    huge: float = 1e100  # a count to begin again from one
    tried: int = 8  # cells whose decision is tried out at a node
    look: int = 4  # after so many that are no better than the best, no more are tried
    reliable: int = 4  # trials of a cell from which their mean is believed
    iterations: int = 25  # of a trial
    closing: float = 0.5  # how much nearer to a half a cell counts that closed most nodes
    step: float = 1.0  # how far beyond the target a trial counts
    flat: float = 0.01  # where whole costs miss less than this, a trial tells nothing: another pattern costs as much
    # one node
    node_rounds: int = 12  # of cutting
    worth: float = 0.02  # of what is missing to close a node must be gained by a round for another one
    most: int = 4  # aims found out of reach after which a round of a node is over
    misses: int = 8  # or within reach
    # diving
    dives: float = 0.2  # of a worker's time, at most
    dive_step: tuple[float, float] = (0.05, 0.2)  # of the cells hidden in part that are hidden in a step: least, most
    dive_shaken: float = 0.9  # how much less a cell may count by chance when those hidden most are chosen
    dive_rounds: int = 3  # of cutting after each step
    dive_widely: int = 5  # times as many aims are looked at there as at a node
    dive_cleaned: float = 2.0  # times as long as a dive took, what it found may be cleaned
    # the tree
    shared: int = 200  # cells with a choice from which several cores pay; a tree of one takes the same way each time
    slice: float = 0.1  # of the time for the first stretch of the tree,
    slice_least: float = 1.0  # seconds of it at least
    longer: float = 1.5  # times as long is the next one
    pause: float = 0.25  # times as long as a stretch, better patterns are looked for after it
    pause_wide: float = 1.5  # the same where the gap is wide,
    wide: float = 0.1  # as a share of the cost
    least_seconds: float = 1.0  # for better patterns
    # numbers of turns, added to the seed: so that no search for patterns repeats another's draws
    tree_turn: int = 100  # of the first one during a tree
    step_turn: int = 200  # of the first one while the bound is taken step by step
    # shares of the time of one connected problem
    first: float = 0.15  # at most, for the first pattern
    each: float = 0.004  # seconds of that for each cell with a choice
    root: float = 0.6  # after which the tree begins, whatever the relaxation still gains
    turn: float = 0.25  # of the time left, at most, for a turn of the relaxation
    guided: float = 0.2  # of the time left, at most, for better patterns after it
    dived: float = 0.4  # of that for patterns straight from the relaxation
    near: tuple[float, float] = (0.4, 0.85)  # of that: until when RINS, and neighbourhoods of moves, are solved
    relaxed: float = 0.5  # of a small problem's time for its relaxation
    steps: int = 8  # between pattern and bound, at most, to take them one by one where costs are whole
    # of the time of a large problem
    large_first: float = 0.35  # for its first pattern,
    large_bound: float = 0.1  # for the bound,
    large_last: float = 0.95  # and when the search for better patterns ends
    # SCIP
    scip_deep: int = 60  # fractional patterns are cut off down to this depth of the tree, whole ones everywhere
    scip_rounds: int = 20  # of cutting at one node
    scip_checked: int = 2  # inequalities that suffice to reject a pattern


@dataclass(frozen=True)
class HitasTuning:
    """Sub-tables from above. Chosen on table7, hie1372d, hier13 and hier16."""

    hurry: float = 0.3  # of the time for the way from above, after which it hurries,
    longest: float = 0.6  # and after which it stops
    bound: float = 0.1  # of the time for the bound
    renewed: float = 0.5  # of the time then left for the search over the whole
    share: float = 0.05  # of the time, at most, for one sub-table
    each: float = 0.02  # seconds for each cell with a choice in it
    narrow: int = 50  # cells chosen anew at once to begin with
    wider: float = 1.5  # times as many, when sub-tables of one size can be improved no more
    together: int = 2  # areas chosen anew side by side, for any number of processors: what fits together is kept
    largest: int = 1_200  # cells of one sub-table; a larger one is taken by its faces of fewer dimensions
    most_faces: int = 2_000  # of one grand total
    less: float = 1e-9  # of a cost: less of a gain is none
    broken: float = 1e-5  # of the largest part of a move: a sum out of balance by more


@dataclass(frozen=True)
class ProblemTuning:
    """A table's problem in numbers. Chosen on the amounts of the business data and on tables of money up to 1e15."""

    largest: float = 1e9  # amounts beyond this are divided by a common grain: solvers tell 16 digits apart
    second: float = 1e-7  # a second value lies at least so far from the first, relative to it, and one unit
    hidden_before: float = 1e-3  # of its weight: what a cell costs that was hidden last time
    blame_seconds: float = 3.0  # for the reason that a refusal gives
    insider_rounds: int = 20  # of elimination for those who know their own cells
    by_lines: int = 300_000  # cells that are looked at line by line; of more, machine code is sooner done


@dataclass(frozen=True)
class RepairTuning:
    """Audit and repair. Sizes chosen on the scaling inputs of benchmarks/suppress.py (10,000 to 100,000 cells) and on
    sparse linked tables of the census data, coalitions on benchmarks/insiders.py."""

    rounds: int = 5  # audits of one pattern; what is hidden in one round may shorten what another cell needs
    slack: float = 1e-6  # of a unit: less is the solver's noise, not a move
    proofs: int = 200  # cells that seem to have one value only; of more, no proof of each while cells can be added
    # the cheapest escape of one cell
    one_model: int = 20_000  # variables that one model takes at once; beyond, a model around each cell
    around: int = 1_500  # variables of the first model around a cell
    wider: int = 4  # times as many if that does not do
    large: int = 500  # equations of a program of amounts that begins with the interior point method each time
    whole_steps: int = 1_000  # of such a program of counts, after which walks are tried before it goes on
    enlarged: int = 12  # a fractional move may become whole when made up to so many times as large
    far: float = 1e7  # steps that no cheapest move takes
    whole_seconds: float = 5.0  # of one model for moves in whole numbers, where neither program nor walk gives one
    whole_gap: float = 0.05  # of its cost: near enough to the cheapest in whole numbers
    # short moves for many cells of amounts at once: longest walk, tries, how much it shuns dear cells
    level_walks: tuple[tuple[int, int, int], ...] = ((200, 32, 8), (2_000, 32, 8))
    level_tries: int = 200_000  # of all cells together in the first turn, where that is more for each
    level_most: int = 1_000  # tries for one cell
    owner_walks: tuple[tuple[int, int, int], ...] = ((100, 8, 8), (1_000, 32, 8))  # the same, past what somebody knows
    owners_walked: int = 12  # contributors from which on such moves of hidden cells are looked for before programs
    walk_chunk: int = 500  # cells one after the other, each of which finds free what moves before it changed,
    walk_lanes: int = 4  # and so many times as many side by side, for any number of processors
    walk_room: int = 100  # cells of a move that is kept, on average
    walked: int = 300  # cells of amounts that lack room, or contributors who know their own, from which on short moves
    # are looked for; of so many cells without a move so far no exact interval is worked out
    # many counts at once, over cells up to a price that grows
    ceiling_from: int = 12  # counts that cannot move, from which on walks are tried before programs
    ceiling_walks: tuple[tuple[int, int, int], ...] = (
        (300, 8, 8),
        (1_000, 32, 8),
    )  # as for amounts; then of what is left
    ceiling_growth: float = 1.5  # of the price, from turn to turn
    ceiling_worth: float = 0.02  # of what the hidden cells cost may be paid for what walks ask for: beyond, programs
    ceiling_joint: int = 100_000  # cells of a table up to which that program is asked; of more it takes minutes
    walked_alone: int = 10_000  # sensitive cells of amounts from which on nothing is tried before short moves
    # escapes for several cells at once
    reach_worth: float = 0.25  # of the levels not reached yet must be reached by two moves of all cells for two more;
    # the escapes find further moves of hidden cells, if there are any
    joint_programs: int = 12  # groups that cells with a level are divided into; those served by then are left out
    joint_group: int = 100  # cells of a group at least
    joint_least: int = 2  # cells left for which groups go on; fewer take programs of their own
    joint_repricing: int = 2  # times that each program is run again with other prices, over what it moved
    joint_little: float = 0.01  # of a usual step: a cell that moves less is priced as if it moved so far
    joint_reward: float = 10.0  # for a unit on the way to a step, where a unit of the dearest cell costs 1
    joint_rewards: tuple[float, ...] = (0.01, 0.03, 0.1, 1.0, 10.0)  # for counts that cannot move, one after another,
    joint_ceiling: float = 0.1  # of which a unit of a cell may cost: dearer cells stay
    # contributors alone in a cell
    points: int = 6  # programs over all open cells together before single ones
    solid: float = 1e-5  # of the largest amount: a move that is no rounding of the solver
    # coalitions
    near: tuple[int, ...] = (300, 2_000)  # variables around a cell that its moves are looked for among first
    hidings: int = 200  # times that more is hidden for one sensitive cell
    programs: int = 20_000  # for one sensitive cell: beyond that it counts as learned
    used: float = 1e-3  # what a change of a hidden cell costs, beside 1 of a usual published one
    wary: float = 0.1  # what a change costs besides that others of the coalition could rule out


@dataclass(frozen=True)
class LimitTuning:
    """How a suppression shares its time. Chosen by benchmarks/deadlines.py, on linked tables of counts and amounts."""

    grace: tuple[float, float] = (1.1, 1.5)  # times the time and seconds more, for a first pattern and its proof
    spare: float = 0.5  # of the time, at most, for the pattern to fall back on
    audits: float = 2.0  # times what its audit took are kept for the audit at the end
    # work of a table's clean-up (``highs.SolverWork``) without a limit of time: at least, for each cell, or for each
    # that is sensitive; chosen on benchmarks/whole_call.py
    cleaned_work: tuple[float, float, float] = (1.2e8, 1e4, 1e5)
    cleaned_search: float = 0.5  # of the time left for clean-up, the rest for the audit of what it comes to
    cleaned_first: float = 0.7  # of that for the first time, before insiders have asked for more
    cleaned: float = 0.15  # of the time kept for clean-up where that is asked for
    unknown: float = 0.25  # of the time kept for the audit where none was finished
    least: float = 1.0  # seconds that a round of the solver gets at least
    quick_from: int = 300  # cells with a choice from which the exact method has the quick ones beside it:
    subtables_from: int = 3_000  # and sub-tables from above to the end; in proportion for fewer
    by_elimination: float = 0.6  # of the time of one worker, at most, for elimination with its repair and clean-up,
    by_subtables: float = 0.5  # and for sub-tables from above
    rounds: int = 50  # of adding what insiders can work out
    refusal_seconds: float = 3.0  # that a refusal waits for its cure
    refusal_cells: int = 20_000  # of a table that is diagnosed whenever it is refused; larger ones when somebody asks

    def hard(self, seconds: float) -> float:
        """Seconds after which whatever is not proved is given up, where so many were asked for."""
        times, more = self.grace
        return times * seconds + more


@dataclass(frozen=True)
class KeyTuning:
    """What a key draws. Chosen on tables of 3 x 3 and 4 x 3 counts (benchmarks/owner.py) and on the scaling inputs of
    benchmarks/suppress.py: as few cells more as leave the holder of the program more than one value."""

    inner: float = 0.3  # spread of the logarithm of a weight, of inner cells
    margins: float = 0.15  # and of margins: to hide those costs many cells
    decoys: float = 0.25  # cells on average that are protected as if they were sensitive, in any table,
    decoy_share: float = 0.01  # and for each that is
    chance: float = 0.5  # of one cell, at most
    # repair against the holder of the program
    free: int = 100  # hidden cells at most of a table on which his attack is tried
    fitting: int = 300  # tables that fit, all of which are tried,
    draws: int = 60  # or so many of more
    calls: int = 400  # in all attacks on one table
    cells: int = 24  # further cells tried one after the other
    # the chance of a pattern, by draws as a key makes them, and by two kinds that hide the cells in question sooner
    tilts: tuple[float, ...] = (0.0, 1.0, 2.5)  # how far their weights are drawn down, in scales of the logarithm
    as_decoys: tuple[float, ...] = (0.0, 0.1, 0.3)  # the least chance of each to be a decoy


@dataclass(frozen=True)
class Tuning:
    """What all rooms of suppression are steered by."""

    attacker: AttackerTuning = AttackerTuning()
    heuristics: HeuristicTuning = HeuristicTuning()
    exact: ExactTuning = ExactTuning()
    hitas: HitasTuning = HitasTuning()
    problem: ProblemTuning = ProblemTuning()
    repair: RepairTuning = RepairTuning()
    limits: LimitTuning = LimitTuning()
    key: KeyTuning = KeyTuning()


DEFAULT = Tuning()
