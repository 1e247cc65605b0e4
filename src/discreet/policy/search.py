"""The risk-utility map: what each method would do to a table, which ones nobody beats, and the best one allowed.

All numbers here compare with the true table, so a map is confidential; ``answer`` decides without it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet import plot
from discreet.base.arguments import checked, positive, whole
from discreet.base.files import append_private
from discreet.base.kinds import is_function, told
from discreet.errors import DiscreetError, InputError
from discreet.methods import method
from discreet.policy.measures import LOSSES, Measures, read_loss, read_measures, read_thresholds
from discreet.release import Method, Protected
from discreet.risk.frequency import WEIGHTS
from discreet.risk.jos15 import JOS15_WEIGHTS
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[Any]
Progress = Callable[[int, int], None]
DRAWS = 20  # of a method that draws
SWEEPS = 200  # of the fit that fills hidden cells


@checked
@dataclass(frozen=True, eq=False, repr=False)
class RUMap:
    """One row a method: risk before and after, utility, whether nobody beats it, whether the thresholds allow it.

    Risk and utility are means over draws of the method, with their standard deviations ("± risk", "± utility"): what a
    single release may be off by. ``measure`` are the risk measures (columns of all but the first end in their names),
    ``loss`` the measure of loss; utility is 1 − loss.
    """

    frame: pd.DataFrame
    t2: float | tuple[float, ...] | None = None
    t3: float | None = None
    measure: tuple[str, ...] = ("r",)
    loss: str = "hellinger"

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
        told = {"confidential": True, "measure": list(self.measure), "loss": self.loss, "t2": self.t2, "t3": self.t3}
        return {**told, "best": self.best, "methods": rows}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Risk against utility, methods labelled, with the line of the most risk allowed (JOS15 Figure 2)."""
        good = self.frame.replace(-np.inf, np.nan).dropna(subset=["risk", "utility"])
        groups = ["nobody beats it" if p else "beaten" for p in good["pareto"]]
        labels = [str(name) for name in good.index]
        first = self.t2[0] if isinstance(self.t2, tuple) else self.t2
        return plot.risk_utility(
            good["risk"].tolist(), good["utility"].tolist(), labels, threshold=first, groups=groups, ax=ax
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
    measure: str | Sequence[str] = "r",
    loss: str = "hellinger",
    weights: Sequence[float] = WEIGHTS,
    jos15_weights: Sequence[float] = JOS15_WEIGHTS,
    t2: float | Sequence[float] | None = None,
    t3: float | None = None,
    draws: int = DRAWS,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> RUMap:
    """Risk and utility of a table under each method, R2 against 1 − HD/√N unless other measures are named.

    ``methods`` are methods, or {label: method} as from ``grid``. ``measure`` is one name of ``policy.RISKS`` or some,
    with a number of ``t2`` each; ``loss`` is one of ``policy.LOSSES``. A method that draws is drawn ``draws`` times: as
    it is given, then with other seeds; the figures are means. Both cores work. ``resume`` names a file that keeps
    finished results (confidential), so that a long search can go on where it stopped.
    """
    named = dict(methods) if isinstance(methods, Mapping) else {repr(m): m for m in methods}
    if not named:
        raise InputError("give at least one method")
    if wrong := next((one for one in named.values() if not is_function(one)), None):
        raise InputError(f"{told('methods', wrong)}: give methods such as Round(3), made with their parameters")
    whole("draws", draws, 1, 1_000_000)
    if t3 is not None:
        positive("t3", t3)
    how = _How(table, read_measures(measure, weights, jos15_weights), read_loss(loss), draws)
    limits = read_thresholds("t2", t2, how.measures)
    kept = _Kept(resume, how.fingerprint)
    done = 0

    def judge(item: tuple[str, Method]) -> tuple[str, dict[str, Any]]:
        label, one = item
        found = kept.get(label)
        if found is None:
            found = how.judge(one)
            kept.put(label, found)
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(named))
        return label, found

    with ThreadPoolExecutor() as pool:
        rows = dict(pool.map(judge, named.items()))
    names = how.measures.names
    given = limits if limits is None or len(limits) > 1 else limits[0]
    return RUMap(_frame(rows, how, limits, t3), given, t3, names, how.loss)


def _frame(
    rows: Mapping[str, dict[str, Any]], how: _How, t2: tuple[float, ...] | None, t3: float | None
) -> pd.DataFrame:
    """The map: what was found of each method, which ones nobody beats, and which ones the thresholds allow."""
    import pandas as pd

    names = [_column("risk", k, name) for k, name in enumerate(how.measures.names)]
    frame = pd.DataFrame.from_dict(dict(rows), orient="index").rename_axis("method")
    for k, (name, before) in reversed(list(enumerate(how.before.items()))):
        frame.insert(0, _column("before", k, name), before)
    frame["pareto"] = _pareto(frame[names].to_numpy(float), frame["utility"].to_numpy(float))
    ok = frame["risk"].notna()
    for name, limit in zip(names, t2 or (), strict=False):
        ok &= frame[name].astype(float) <= limit
    if t3 is not None:
        ok &= 1 - frame["utility"].astype(float) <= t3
    frame["allowed"] = ok
    return frame


def _column(what: str, number: int, measure: str) -> str:
    return what if number == 0 else f"{what} {measure}"


@dataclass(frozen=True)
class _How:
    """What methods are compared by: the true table, the measures, and how often a method is drawn."""

    table: Table
    measures: Measures
    loss: str
    draws: int

    @cached_property
    def counts(self) -> Array:
        """The true inner counts."""
        return self.table.array()

    @cached_property
    def before(self) -> dict[str, float]:
        """The risk of the table itself, by measure."""
        found = self.measures.before(self.counts[None], tuple(range(1, self.counts.ndim + 1)))
        return {name: float(np.mean(value)) for name, value in found.items()}

    @property
    def fingerprint(self) -> str:
        """Which table and measures kept results belong to."""
        state = hashlib.sha256(np.ascontiguousarray(self.counts).tobytes())
        names = [d.name for d in self.table.dimensions]
        state.update(repr((self.measures, self.loss, self.draws, names, self.table.layout.code_shape)).encode())
        return state.hexdigest()[:16]

    def judge(self, one: Method) -> dict[str, Any]:
        """Means and standard deviations over draws; a method that does not fit this table is a row with a note."""
        try:
            drawn = [self._figures(one, method(self.table)) for method in variants(one, self.draws)]
        except DiscreetError as error:
            return {**dict.fromkeys(("risk", "± risk", "utility", "± utility", "hidden", "changed", "draws")),
                    "note": str(error)}  # fmt: skip
        found: dict[str, Any] = {}
        for name in drawn[0]:
            values = np.array([figures[name] for figures in drawn])
            found[name] = float(values.mean())
            if name not in ("hidden", "changed"):
                found[f"± {name}"] = _spread(values)
        return {**found, "draws": len(drawn), "note": ""}

    def _figures(self, one: Method, protected: Protected) -> dict[str, float]:
        """Risk in every measure, utility, and shares of cells, of one protected table."""
        now, was = expected_counts(protected)[None], self.counts[None]
        axes, made = tuple(range(1, now.ndim)), getattr(one, "transition", None)
        same = np.asarray((now == was).mean(axis=axes))
        risks = self.measures.after(was, now, axes, None if made is None else made(self.table), same)
        found = {_column("risk", k, name): float(np.mean(risks[name])) for k, name in enumerate(self.measures.names)}
        found["utility"] = float(np.mean(1.0 - LOSSES[self.loss](was, now, axes)))
        return {**found, "hidden": float(protected.hidden.mean()), "changed": 1.0 - float(np.mean(same))}


def variants(one: Method, draws: int) -> list[Method]:
    """A method as it is given, and with other seeds; once only if it has none.

    >>> from discreet import RandomRound
    >>> [m.seed for m in variants(RandomRound(3, seed=7), 3)]
    [7, 8, 9]
    """
    known = {f.name for f in dataclasses.fields(one)} if dataclasses.is_dataclass(one) else set()
    if "seed" not in known:
        return [one]
    first = getattr(one, "seed", None)
    bare = {"secret": None} if "secret" in known else {}
    start = 0 if first is None else first
    more = [dataclasses.replace(one, seed=start + k, **bare) for k in range(1, draws)]  # type: ignore[type-var]
    return [one, *more]


def _spread(values: Array) -> float:
    """Standard deviation; of one value 0, of infinite ones none."""
    if not np.isfinite(values).all():
        return float("nan")
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


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
    """Which points no other beats: no more risk in any measure and no less utility, and better in one of them.

    A method whose loss is infinite has no place among them: there is nothing left that could be weighed.
    """
    none_worse = (risk[:, None] <= risk).all(axis=2) & (utility[:, None] >= utility)
    better = none_worse & ((risk[:, None] < risk).any(axis=2) | (utility[:, None] > utility))
    return np.asarray(~better.any(axis=0) & ~np.isnan(risk).any(axis=1) & np.isfinite(utility))


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
