"""Draws the pictures of suppression, redesign, audit, cell risk, insiders and the risk-utility map.

Run it from any folder: the files appear beside it. The tables are printed ones or made up.
"""

from pathlib import Path
from typing import Any

import numpy as np

import discreet as dc
from discreet.risk import cell_risk
from discreet.risk.intruder import LargestKnown, NotRank, RankKnown, ValueOnly, intruder_risk

HERE = Path(__file__).parent
FILLS = {"u": "#eeaa7f", "x": "#9fcbe3"}  # lighter shades of two colours of all figures, for numbers on them
SHOWN = "#e6e6e6"


def save(name: str, ax: Any) -> None:
    (HERE / f"{name}.png").write_bytes(dc.plot.png(ax, dpi=80))


def pattern(protected: dc.Protected, title: str, ax: Any) -> None:
    """A two-way table with its primary and secondary cells coloured."""
    table = protected.table
    rows, columns = (list(d.codes) for d in table.dimensions)
    cells = table.cells
    for value, status, row, column in zip(
        table.value, protected.status, cells.iloc[:, 0], cells.iloc[:, 1], strict=True
    ):
        x, y = columns.index(column), rows.index(row)
        colour = FILLS.get(str(status), SHOWN)
        ax.fill([x, x + 0.96, x + 0.96, x], [y, y, y + 0.92, y + 0.92], color=colour)
        ax.text(x + 0.48, y + 0.46, f"{value:g}", ha="center", va="center")
    ax.set_xticks(np.arange(len(columns)) + 0.48, columns)
    ax.set_yticks(np.arange(len(rows)) + 0.46, rows)
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    ax.invert_yaxis()
    ax.set(title=title, xlabel=f"{table.dimensions[1].name} (code)", ylabel=f"{table.dimensions[0].name} (code)")
    ax.xaxis.set_label_position("top")
    dc.plot.finish(ax)
    for edge in ax.spines.values():
        edge.set_visible(False)


def suppression() -> None:
    table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    done = dc.protect(table, dc.Suppress(dc.Threshold(3)))
    left, right = dc.plot.panels(2)
    pattern(done, "primary (orange) and secondary (blue) suppression", left)
    dc.audit(done).plot(right)
    right.set_title("what is left possible, the truth marked")
    save("method-suppress", left)


def redesign() -> None:
    table = dc.Table.of([[3, 9], [1, 9], [8, 8]], ["area", "sex"])
    left, right = dc.plot.panels(2, height=2.6)
    pattern(dc.protect(table, dc.Publish()), "before", left)
    merged = dc.protect(table, dc.Redesign({"area": {"1+2": ["1", "2"]}}))
    dc.audit(merged).plot(right)
    right.set_title("areas 1 and 2 combined: what is left possible")
    save("method-redesign", left)


def risks() -> None:
    ax = dc.plot.axes(width=4.8, height=2.8)
    m = np.unique(np.rint(np.logspace(np.log10(2), 4, 60)))
    ax.plot(m, cell_risk(m))
    ax.plot(407, cell_risk(407), "o", color=dc.plot.COLOURS[0])
    ax.annotate("ODF03 Table 1: 407 values", (407, float(cell_risk(407))), xytext=(-40, 18), textcoords="offset points")
    ax.set(xscale="log", xlabel="possible values m (number)", ylabel="DR (0 to 1)")
    save("cell-risk", ax)
    ax = dc.plot.axes(width=4.8, height=2.8)
    others = np.arange(3, 41)
    known = {
        "order known": RankKnown(),
        "not one rank": NotRank(),
        "two largest known": LargestKnown(2),
        "value only": ValueOnly(),
    }
    for label, scenario in known.items():
        ax.plot(others, [intruder_risk(9000, int(n), scenario) for n in others], label=label)
    ax.set(xlabel="other contributors (number)", ylabel="DR (0 to 1)")
    ax.legend(frameon=False)
    save("intruder", ax)


def proof() -> None:
    save("audit", dc.audit(dc.datasets.willenborg_suppressed()).plot())
    table = dc.datasets.psd14_religion()
    tried = {
        **dc.grid("random-round", base=[3, 5, 10], seed=1),
        **dc.grid("cell-key", d=[2, 5], v=[1], seed=1),
        "suppression": dc.Suppress(dc.Threshold(3)),
        "as it is": dc.Publish(),
    }
    save("ru-map", dc.ru_map(table, tried, t2=0.21).plot())


suppression()
redesign()
risks()
proof()
