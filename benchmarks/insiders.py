"""What insiders= and order="rank" cost on random small tables: people who learn a primary cell, cells hidden, ranks.

Run: python benchmarks/insiders.py            (about a minute; prints one line a measurement)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import discreet as dc

TABLES = 20
RULES = {
    "Threshold(3)": dc.Threshold(3),
    "Threshold(3, zeros=True)": dc.Threshold(3, zeros=True),
    "DirectDisclosure(1)": dc.DirectDisclosure(1),
}
PAIRS = ("as", "ar", "sr")


def insiders(name: str, rule: Any) -> None:
    """Random 4 x 5 tables: in how many one person learns a primary cell, and how many cells are hidden."""
    rng = np.random.default_rng(1)
    opened, hidden, refused = np.zeros(2, int), np.zeros(2, int), 0
    for _ in range(TABLES):
        table = dc.Table.of(rng.poisson(rng.gamma(1.5, 2.0, (4, 5))), ["a", "b"])
        try:
            both = [dc.protect(table, dc.Suppress(rule, insiders=k)) for k in (0, 1)]
        except dc.Refused:
            refused += 1
            continue
        opened += [int(dc.insiders(done)["primary"].sum() > 0) for done in both]
        hidden += [int(done.hidden.sum()) for done in both]
    print(
        f"{name}: of {TABLES - refused} random 4 x 5 tables ({refused} refused) one person learns a primary cell in "
        f"{opened[0]}, with insiders=1 in {opened[1]}; hidden cells {hidden[0]:,} and {hidden[1]:,}",
        flush=True,
    )


def linked(counts: Any, *, totals: bool) -> dc.Table:
    """AS, AR and SR of three dimensions, with all their totals or with none."""
    shape = dict(zip("asr", counts.shape, strict=True))
    full = dc.Table.of(counts, [dc.Dimension.flat(n, range(1, k + 1)) for n, k in shape.items()])
    if totals:
        return full.with_margins([tuple(pair) for pair in PAIRS])
    return full.with_margins([{n: [str(c) for c in range(1, shape[n] + 1)] for n in pair} for pair in PAIRS])


def ranks(*, totals: bool) -> None:
    """Random linked 4 x 5 x 3 tables: hidden cells, and by how much the rank of what is released falls."""
    from discreet.methods.suppress.gauss.candidate_order import rank_fall

    rng = np.random.default_rng(1)
    falls, hidden, refused = np.zeros(2, int), np.zeros(2, int), 0
    for _ in range(TABLES):
        table = linked(rng.poisson(rng.gamma(1.0, 4.0, (4, 5, 3))), totals=totals)
        try:
            both = [dc.protect(table, dc.Suppress(dc.Threshold(8), order=order)) for order in ("value", "rank")]
        except dc.Refused:
            refused += 1
            continue
        falls += [rank_fall(table, done.hidden)[0] for done in both]
        hidden += [int(done.hidden.sum()) for done in both]
    print(
        f"{TABLES - refused} random linked 4 x 5 x 3 tables {'with' if totals else 'without'} totals ({refused} "
        f"refused), Threshold(8): by value the rank falls by {falls[0]:,} and {hidden[0]:,} cells are hidden, "
        f"by rank {falls[1]:,} and {hidden[1]:,}",
        flush=True,
    )


def main() -> None:
    """All measurements."""
    for name, rule in RULES.items():
        insiders(name, rule)
    for totals in (False, True):
        ranks(totals=totals)


if __name__ == "__main__":
    main()
