"""Draws the picture of optimal suppression: what four ways lose of a table, and how cost and bound meet.

Run it from any folder: the file appears beside it. The firms are synthetic.
"""

import time
from pathlib import Path
from typing import Any

import discreet as dc

HERE = Path(__file__).parent
RULE = dc.PPercent(10) | dc.FewContributors(3)
WAYS: dict[str, dict[str, Any]] = {
    "gauss": {"repair": "levels"},
    "gauss + clean-up": {"repair": "levels", "clean_up": True},
    "modular": {"method": dc.Modular(time=20)},
    "optimal": {"method": dc.Optimal(time=20)},
}


class Watch:
    """Cost and bound, and when they were told."""

    def __init__(self) -> None:
        self.began, self.said = time.monotonic(), list[tuple[float, float, float]]()

    def __call__(self, done: int, total: int) -> None:
        """The bar is not drawn."""

    def tell(self, cost: float, bound: float) -> None:
        self.said.append((time.monotonic() - self.began, cost, bound))


def lost(ax: Any) -> None:
    """Value of secondary suppressions in turnover by region and size."""
    table = dc.tabulate(dc.datasets.business(n=1_500), by=["region", "size"], value="turnover", top=3)
    names, values = list(WAYS), []
    for options in WAYS.values():
        done = dc.protect(table, dc.Suppress(RULE, **options))
        values.append(float(table.value[done.status == "x"].sum()) / 1e6)
    ax.barh(names[::-1], values[::-1], color=dc.plot.COLOURS[-2])
    for place, value in enumerate(values[::-1]):
        ax.text(value, place, f"{value:.2f} ", ha="right", va="center")
    ax.set(xlabel="turnover of secondary suppressions (millions)", ylabel="method (name)")


def closing_in(ax: Any) -> None:
    """The best pattern and the certified bound while a larger table is solved."""
    table = dc.tabulate(dc.datasets.business(n=2_000), by=["activity", "size"], value="turnover", top=3)
    watch = Watch()
    dc.protect(table, dc.Suppress(RULE, method=dc.Optimal(time=30), singletons="none", progress=watch))
    seconds, costs, bounds = zip(*watch.said, strict=True)
    ax.step(seconds, [c / 1e6 for c in costs], where="post", label="best pattern")
    ax.step(seconds, [b / 1e6 for b in bounds], where="post", label="certified bound")
    ax.set(xlabel="time (seconds)", ylabel="turnover (millions)", ylim=(0, None))
    ax.legend(frameon=False, loc="lower right")


def main() -> None:
    left, right = dc.plot.panels(2)
    lost(left)
    closing_in(right)
    (HERE / "method-optimal.png").write_bytes(dc.plot.png(left, dpi=80))


main()
