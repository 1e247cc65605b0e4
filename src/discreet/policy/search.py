"""The risk-utility map: what each method would do to a table, which ones are non-dominated, and the best one allowed.

All numbers here compare with the true table, so a map is confidential; ``answer`` decides without it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import plot
from discreet.base.annotations import Array, Progress
from discreet.base.arguments import checked, positive, whole
from discreet.base.kinds import is_function, told
from discreet.base.parallel import side_by_side
from discreet.base.resume import ResumeFile
from discreet.errors import InputError
from discreet.methods import method
from discreet.methods.contract import SECRETS, Method, contract_of
from discreet.policy.comparing import Comparison, SampleModel, measure_column
from discreet.policy.measures import Measures, read_loss, read_measures, read_thresholds
from discreet.policy.method_digest import by_label, parameter_digest
from discreet.policy.population_models import model_of
from discreet.risk.frequency import WEIGHTS
from discreet.risk.jos15 import JOS15_WEIGHTS
from discreet.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


FIGURES = {"risk", "utility", "exact", "note"}  # that every kept result has


@checked
@dataclass(frozen=True, eq=False, repr=False)
class RUMap:
    """One row a method: risk before and after, utility, whether it is non-dominated, whether the thresholds allow it.

    Risk and utility are expectations of the method, with their standard deviations ("± risk", "± utility"): what a
    single release may be off by. ``exact`` says that all outcomes were listed (or there is one only), "draws" how many;
    else they are means over draws. ``measure`` are the risk measures (columns of all but the first end in their names),
    ``loss`` the measure of loss; utility is 1 − loss. ``population`` is the model, if the table is a sample.

    >>> import discreet as dc
    >>> table = dc.Table.of([[3, 20, 7], [11, 2, 16]], ["area", "sex"])
    >>> found = dc.ru_map(table, {"round 3": dc.Round(3), "as it is": dc.Publish()}, t2=0.9)
    >>> found.best, list(found.summary().index)
    ('as it is', ['round 3', 'as it is'])
    """

    frame: pd.DataFrame
    t2: float | tuple[float, ...] | None = None
    t3: float | None = None
    measure: tuple[str, ...] = ("r",)
    loss: str = "hellinger"
    population: str = ""

    @property
    def cells(self) -> pd.DataFrame:
        """The whole map (confidential)."""
        return self.frame

    def summary(self) -> pd.DataFrame:
        """The non-dominated methods, the least risk first.

        >>> import discreet as dc
        >>> table = dc.Table.of([[3, 20, 7], [11, 2, 16]], ["area", "sex"])
        >>> dc.ru_map(table, {"round 3": dc.Round(3), "as it is": dc.Publish()}).summary().index.tolist()
        ['round 3', 'as it is']
        """
        return self.frame[self.frame["pareto"]].sort_values(["risk", "utility"], ascending=[True, False])

    @property
    def best(self) -> str | None:
        """The method of most utility among those that the thresholds allow."""
        allowed = self.frame[self.frame["allowed"]]
        return None if allowed.empty else str(allowed["utility"].idxmax())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON (confidential).

        >>> import discreet as dc
        >>> table = dc.Table.of([[3, 20, 7], [11, 2, 16]], ["area", "sex"])
        >>> dc.ru_map(table, {"round 3": dc.Round(3), "as it is": dc.Publish()}, t2=0.9).to_dict()["best"]
        'as it is'
        """
        rows = json.loads(self.frame.reset_index().to_json(orient="records"))
        content = {"confidential": True, "measure": list(self.measure), "loss": self.loss, "t2": self.t2, "t3": self.t3}
        content |= {"population": self.population} if self.population else {}
        return {**content, "best": self.best, "methods": rows}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Risk against utility, methods labelled, with the line of the most risk allowed (JOS15 Figure 2).

        >>> import discreet as dc
        >>> table = dc.Table.of([[3, 20, 7], [11, 2, 16]], ["area", "sex"])
        >>> dc.ru_map(table, {"round 3": dc.Round(3), "as it is": dc.Publish()}).plot().get_xlabel()
        'utility (1 = nothing lost)'
        """
        good = self.frame.replace(-np.inf, np.nan).dropna(subset=["risk", "utility"])
        groups = ["non-dominated" if p else "dominated" for p in good["pareto"]]
        labels = [str(name) for name in good.index]
        first = self.t2[0] if isinstance(self.t2, tuple) else self.t2
        return plot.risk_utility(
            good["risk"].tolist(),
            good["utility"].tolist(),
            labels,
            threshold=first,
            groups=groups,
            measure=self.measure[0],
            ax=ax,
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
    labelled = []
    for values in itertools.product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        shown = ", ".join(f"{k}={v!r}" for k, v in chosen.items() if k not in SECRETS)
        labelled.append((f"{name}({shown})" if shown else name, method(name, **chosen)))
    return by_label(labelled)


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
    draws: int | None = None,
    population: str = "",
    population_size: int | None = None,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> RUMap:
    """Risk and utility of a table under each method, R2 against 1 − HD/√N unless other measures are named.

    ``methods`` are methods, or {label: method} as from ``grid``. ``measure`` is one name of ``policy.RISKS`` or some,
    with a number of ``t2`` each; ``loss`` is one of ``policy.LOSSES``. The figures are expectations: exact where a
    method moves each cell by itself and all its outcomes can be listed, else means over 20 draws. With ``draws`` every
    method that draws is drawn so often: as it is given, then with other seeds. ``population`` names the model of the
    population that the table is a sample of, of ``population_size`` people (as many as its weights say): risk is then
    R2(F, f), as a policy's [risk] population has it. Both cores work. ``resume`` names a file that keeps finished
    results (confidential), so that a long search can go on where it stopped: they are taken for the same table,
    measures and method, with all its parameters; those of a plain function, which may have changed, never.

    >>> import discreet as dc
    >>> table = dc.Table.of([[3, 20, 7], [11, 2, 16]], ["area", "sex"])
    >>> found = dc.ru_map(table, {"base 3": dc.Round(3), "base 5": dc.Round(5)})
    >>> found.cells[["risk", "utility"]].round(2).to_dict("index")
    {'base 3': {'risk': 0.14, 'utility': 0.96}, 'base 5': {'risk': 0.13, 'utility': 0.86}}
    """
    named = dict(methods) if isinstance(methods, Mapping) else by_label((repr(m), m) for m in methods)
    if not named:
        raise InputError("give at least one method")
    if wrong := next((one for one in named.values() if not is_function(one)), None):
        raise InputError(f"{told('methods', wrong)}: give methods such as Round(3), made with their parameters")
    for one in named.values():
        contract_of(one)  # what a method does not say cannot be compared
    if draws is not None:
        whole("draws", draws, 1, 1_000_000)
    if t3 is not None:
        positive("t3", t3)
    measures = read_measures(measure, weights, jos15_weights)
    how = Comparison(table, measures, read_loss(loss), draws, _sample(measures, population, population_size))
    limits = read_thresholds("t2", t2, how.measures)
    assert how.before  # made once, before several threads ask for it
    if resume is None:
        rows = _judged(how, named, None, progress)
    else:
        with ResumeFile.open(resume) as file:
            rows = _judged(how, named, file, progress)
    names = how.measures.names
    threshold = limits if limits is None or len(limits) > 1 else limits[0]
    return RUMap(_frame(rows, how, limits, t3), threshold, t3, names, how.loss, population)


def _judged(
    how: Comparison, named: Mapping[str, Method], file: ResumeFile | None, progress: Progress | None
) -> dict[str, dict[str, Any]]:
    """Risk and utility of every method, from the file where they are kept there for this table and these measures."""
    mark = how.fingerprint
    kept = {} if file is None else _kept(file, mark)
    done = 0

    def judge(item: tuple[str, Method]) -> tuple[str, dict[str, Any]]:
        label, one = item
        digest = None if file is None else parameter_digest(one)
        figures = None if digest is None else kept.get(digest)
        if figures is None:
            figures = how.judge(one)
            if file is not None and digest is not None:
                file.append({"table": mark, "method": label, "digest": digest, "result": figures})
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(named))
        return label, figures

    return dict(side_by_side(judge, list(named.items())))


def _kept(file: ResumeFile, mark: str) -> dict[str, dict[str, Any]]:
    """What is kept for this table and these measures, by the digest of the method; any other kind of file is refused.

    Rows of earlier versions say no digest: they stay, and nothing is taken from them.
    """
    kept: dict[str, dict[str, Any]] = {}
    for row in file.rows():
        figures = row.get("result")
        if not (isinstance(row.get("table"), str) and isinstance(row.get("method"), str) and isinstance(figures, dict)):
            raise InputError(f"{str(file.path)!r} does not hold results of a search; name another file or remove it")
        if row["table"] != mark or not isinstance(row.get("digest"), str):
            continue
        if not figures.keys() >= FIGURES:
            raise InputError(f"{str(file.path)!r}: a kept result lacks figures; name another file or remove it")
        kept[row["digest"]] = figures
    return kept


def _sample(measures: Measures, model: str, size: int | None) -> SampleModel | None:
    """The table as a sample, if a model of the population behind it is named."""
    if size is not None:
        whole("population_size", size, 1)
    if not model:
        if size is not None:
            raise InputError("population_size says how many people a sample is of: name a model, too (population=)")
        return None
    model_of(model)
    if "jos15" in measures.names:
        raise InputError("the measure 'jos15' has no form for samples: leave it or population out")
    return SampleModel(model, size)


def _frame(
    rows: Mapping[str, dict[str, Any]], how: Comparison, t2: tuple[float, ...] | None, t3: float | None
) -> pd.DataFrame:
    """The map: what was found of each method, which ones are non-dominated, and which ones the thresholds allow."""
    import pandas as pd

    names = [measure_column("risk", k, name) for k, name in enumerate(how.measures.names)]
    frame = pd.DataFrame.from_dict(dict(rows), orient="index").rename_axis("method")
    for k, (name, before) in reversed(list(enumerate(how.before.items()))):
        frame.insert(0, measure_column("before", k, name), before)
    frame["pareto"] = _pareto(frame[names].to_numpy(float), frame["utility"].to_numpy(float))
    ok = frame["risk"].notna()
    for name, limit in zip(names, t2 or (), strict=False):
        ok &= frame[name].astype(float) <= limit
    if t3 is not None:
        ok &= 1 - frame["utility"].astype(float) <= t3
    frame["allowed"] = ok
    return frame


def _pareto(risk: Array, utility: Array) -> Array:
    """Which points are non-dominated: no other has no more risk and no less utility, and is better in one of them.

    A method whose loss is infinite has no place among them: there is nothing left that could be weighed.
    """
    none_worse = (risk[:, None] <= risk).all(axis=2) & (utility[:, None] >= utility)
    better = none_worse & ((risk[:, None] < risk).any(axis=2) | (utility[:, None] > utility))
    return np.asarray(~better.any(axis=0) & ~np.isnan(risk).any(axis=1) & np.isfinite(utility))
