"""The risk-utility map: what each method would do to a table, which ones nobody beats, and the best one allowed.

All numbers here compare with the true table, so a map is confidential; ``answer`` decides without it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet import plot
from discreet.arguments import checked
from discreet.errors import InputError
from discreet.files import append_private
from discreet.methods import method
from discreet.release import Method, Protected
from discreet.risk.frequency import WEIGHTS, r1, r2, read_weights
from discreet.table import Table
from discreet.utility import hellinger_utility

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[Any]
Progress = Callable[[int, int], None]
SWEEPS = 200  # of the fit that fills hidden cells


@checked
@dataclass(frozen=True, eq=False, repr=False)
class RUMap:
    """One row a method: risk before and after, utility, whether nobody beats it, whether the thresholds allow it."""

    frame: pd.DataFrame
    t2: float | None = None
    t3: float | None = None

    @property
    def cells(self) -> pd.DataFrame:
        """The whole map (confidential)."""
        return self.frame

    def summary(self) -> pd.DataFrame:
        """The methods that no other beats in both risk and utility, the least risk first."""
        return self.frame[self.frame["pareto"]].sort_values(["risk", "utility"], ascending=[True, False])

    @property
    def best(self) -> str | None:
        """The method of most utility among those that the thresholds allow."""
        allowed = self.frame[self.frame["allowed"]]
        return None if allowed.empty else str(allowed["utility"].idxmax())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON (confidential)."""
        rows = json.loads(self.frame.reset_index().to_json(orient="records"))
        return {"confidential": True, "t2": self.t2, "t3": self.t3, "best": self.best, "methods": rows}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Risk against utility, methods labelled, with the line of the most risk allowed (JOS15 Figure 2)."""
        good = self.frame.dropna(subset=["risk", "utility"])
        groups = ["nobody beats it" if p else "beaten" for p in good["pareto"]]
        labels = [str(name) for name in good.index]
        return plot.risk_utility(
            good["risk"].tolist(), good["utility"].tolist(), labels, threshold=self.t2, groups=groups, ax=ax
        )

    def __repr__(self) -> str:
        return f"<RUMap of {len(self.frame)} methods, best {self.best or 'none allowed'}>"


@checked
def grid(name: str, **parameters: Any) -> dict[str, Method]:
    """Every combination of parameter values of one method, by a readable label.

    >>> [*grid("publish", measures=[None, ("count",)])][1]
    "publish(measures=('count',))"
    """
    lists = {k: v if isinstance(v, (list, range)) else [v] for k, v in parameters.items()}
    made = {}
    for values in itertools.product(*lists.values()):
        given = dict(zip(lists, values, strict=True))
        shown = ", ".join(f"{k}={v!r}" for k, v in given.items() if k != "secret")
        made[f"{name}({shown})" if shown else name] = method(name, **given)
    return made


@checked
def ru_map(
    table: Table,
    methods: Mapping[str, Method] | Iterable[Method],
    *,
    weights: Sequence[float] = WEIGHTS,
    t2: float | None = None,
    t3: float | None = None,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> RUMap:
    """Risk and utility of a table under each method, R2 against 1 − HD/√N.

    ``methods`` are methods, or {label: method} as from ``grid``. Both cores work. ``resume`` names a file that keeps
    finished results (confidential), so that a long search can go on where it stopped.
    """
    import pandas as pd

    named = dict(methods) if isinstance(methods, Mapping) else {repr(m): m for m in methods}
    if not named:
        raise InputError("give at least one method")
    w = read_weights(weights)
    counts = table.array()
    before = float(r1(counts, w).value)
    kept = _Kept(resume, _fingerprint(table, w))
    done = 0

    def judge(item: tuple[str, Method]) -> tuple[str, dict[str, Any]]:
        label, one = item
        found = kept.get(label)
        if found is None:
            found = _judge(table, counts, one, w)
            kept.put(label, found)
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(named))
        return label, found

    with ThreadPoolExecutor() as pool:
        rows = dict(pool.map(judge, named.items()))
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
    frame.insert(0, "before", before)
    frame["pareto"] = _pareto(frame["risk"].to_numpy(float), frame["utility"].to_numpy(float))
    ok = frame["risk"].notna()
    if t2 is not None:
        ok &= frame["risk"] <= t2
    if t3 is not None:
        ok &= 1 - frame["utility"] <= t3
    frame["allowed"] = ok
    return RUMap(frame, t2, t3)


def _judge(table: Table, counts: Array, one: Method, w: tuple[float, ...]) -> dict[str, Any]:
    try:
        protected = one(table)
    except InputError as error:  # a method that does not fit this table is a row of the map, not its end
        return {"risk": None, "utility": None, "hidden": None, "changed": None, "note": str(error)}
    shown = expected_counts(protected)
    return {
        "risk": float(r2(counts, shown, w).value),
        "utility": float(hellinger_utility(counts, shown)),
        "hidden": float(protected.hidden.mean()),
        "changed": float((counts != shown).mean()),
        "note": "",
    }


def expected_counts(protected: Protected) -> Array:
    """Inner counts as a reader would take them: those shown, and for hidden ones what the totals leave, spread evenly.

    Hidden cells are fitted to every published total (multiplicative updates from equal starting values), which makes
    suppression comparable with perturbation.
    """
    table = protected.table
    if "count" not in protected.published:
        raise InputError("risk and utility are functions of counts, and the protected table publishes none")
    inner = protected.shown_inner()
    gone = np.isnan(inner)
    if gone.any():
        inner[gone] = _fit(table, np.asarray(protected.published["count"], float), inner, gone)
    return table.layout.dense(np.rint(np.maximum(inner, 0)).astype(np.int64))


def _fit(table: Table, published: Array, inner: Array, gone: Array) -> Array:
    known = np.flatnonzero(~np.isnan(published) & ~table.layout.signed)
    matrix = table.matrix[:, known].tocsr()
    unknown = matrix[np.flatnonzero(gone)]
    rest = published[known] - matrix.T @ np.nan_to_num(inner)
    used = np.flatnonzero(np.diff(unknown.tocsc().indptr))
    unknown, rest = unknown[:, used], np.maximum(rest[used], 0)
    x = np.ones(unknown.shape[0])
    share = np.maximum(np.diff(unknown.indptr), 1)
    for _ in range(SWEEPS):
        sums = unknown.T @ x
        with np.errstate(divide="ignore"):
            pull = np.where(rest > 0, np.log(np.maximum(rest, 1e-12)) - np.log(np.maximum(sums, 1e-12)), -30.0)
        step = (unknown @ pull) / share
        x *= np.exp(np.clip(step, -3, 3))
        if np.abs(step[x > 1e-9]).max(initial=0.0) < 1e-6:
            break
    return x


def _pareto(risk: Array, utility: Array) -> Array:
    """Which points no other beats: less risk and at least the utility, or the other way round."""
    better = (
        (risk[:, None] <= risk)
        & (utility[:, None] >= utility)
        & ((risk[:, None] < risk) | (utility[:, None] > utility))
    )
    return ~better.any(axis=0) & ~np.isnan(risk)


def _fingerprint(table: Table, w: tuple[float, ...]) -> str:
    """Which table and weights kept results belong to."""
    state = hashlib.sha256(np.ascontiguousarray(table.array()).tobytes())
    state.update(repr((w, [d.name for d in table.dimensions], table.layout.code_shape)).encode())
    return state.hexdigest()[:16]


class _Kept:
    """Finished results in a JSON-lines file; without a file, none."""

    def __init__(self, path: str | Path | None, fingerprint: str) -> None:
        self.path, self.fingerprint = None if path is None else Path(path), fingerprint
        self.found: dict[str, dict[str, Any]] = {}
        if self.path is not None and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if row["table"] == fingerprint:
                    self.found[row["method"]] = row["result"]

    def get(self, label: str) -> dict[str, Any] | None:
        return self.found.get(label)

    def put(self, label: str, result: dict[str, Any]) -> None:
        if self.path is None:
            return
        line = json.dumps({"table": self.fingerprint, "method": label, "result": result}) + "\n"
        append_private(self.path, line.encode())
