"""Draws the pictures of the pages of methods. Run it from any folder: the files appear beside it.

Noise is drawn from transition matrices where a method has one, and else from synthetic people and firms.
"""

from pathlib import Path
from typing import Any

import numpy as np

import discreet as dc

HERE = Path(__file__).parent

people = dc.datasets.census(40_000)
table = dc.tabulate(people, by=["age", "education", "region"])
small = dc.tabulate(people, by=["age", "education", "citizenship", "region"])
linked = dc.tabulate(people, margins=[("age", "citizenship"), ("age", "education"), ("education", "citizenship")])
firms = dc.tabulate(dc.datasets.business(3000), by=["region", "activity"], value="turnover", top=3)

MATRICES: dict[str, tuple[dc.Transition, tuple[int, ...]]] = {
    "round": (dc.Round(5).transition(), (1, 2, 3, 4)),
    "random-round": (dc.RandomRound(3).transition(), (1, 2, 3, 10)),
    "semi-controlled-round": (dc.SemiControlledRound(5).transition(), (1, 2, 3, 4)),
    "cell-key": (dc.CellKey(d=5, v=3, js=2).transition(), (1, 3, 5, 20)),
    "stochastic": (dc.Stochastic(stay=0.7).transition(small), (1, 2, 3, 4)),
    "barnard": (dc.Barnard(0.8).transition(), (1, 2, 10)),
}
PROTECTED: dict[str, dc.Protected] = {
    "controlled-round": dc.ControlledRound(5)(table.slice(region="Total")),
    "small-count-round": dc.SmallCountRound(5, seed=1)(table),
    "cell-key-magnitude": dc.CellKeyMagnitude(flex=2000, epsilon=(1, 0.5, 0.2), seed=1)(firms),
    "same-margins": dc.SameMargins(seed=1)(table.slice(region="Total")),
    "synthetic": dc.Synthetic(group=0, seed=1)(table),
    "discrete-gaussian": dc.DiscreteGaussian(rho=1, seed=1)(table),
    "cta": dc.CTA("threshold(n=4)")(linked),
}
CHANGED: dict[str, Any] = {
    "swap": dc.Swap("region", seed=1),
    "pram": dc.Pram("education", seed=1),
    "sample": dc.Sample(0.5, seed=1),
}
UNITS = {"count": "people", "weighted turnover": "turnover in thousands"}


def save(name: str, ax: Any) -> None:
    (HERE / f"method-{name}.png").write_bytes(dc.plot.png(ax, dpi=80))


for name, (matrix, counts) in MATRICES.items():
    save(name, dc.plot.noise(matrix, counts))
for name, made in PROTECTED.items():
    save(name, dc.plot.changes(made.table.value, made.published[made.table.measure], unit=UNITS[made.table.measure]))
for name, method in CHANGED.items():
    after = dc.tabulate(method(people), by=["age", "education", "region"]).count
    save(name, dc.plot.changes(table.count, after * 2 if name == "sample" else after, unit="people"))
coarse = dc.tabulate(dc.GlobalRecode("age", groups={"0-9": ["0-4", "5-9"]})(people), by="age")
fine = dc.tabulate(people, by="age")
ax = dc.plot.axes(width=4.8, height=2.8)
for k, (one, label) in enumerate(((fine, "before"), (coarse, "after"))):
    count = one.count[one.is_inner]
    ax.step(
        np.linspace(0, 1, len(count) + 1), [*count, count[-1]], where="post", label=label, linestyle="-" if k else ":"
    )
ax.set(xlabel="age (categories in order, share of their number)", ylabel="count (people)")
ax.legend(frameon=False)
save("global-recode", ax)
