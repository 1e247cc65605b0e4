"""Our rules and patterns beside those of GaussSuppression on its recorded calls.

Run: python benchmarks/agreement.py FOLDER        (a folder of cases: call.R, input_*.csv, output.csv, x_triplets.csv)

First every elimination is repeated with R's own matrix, order and singletons; then every call is repeated from its
input with our own rules, order, singletons and repair.
"""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array, hstack

import discreet as dc
from discreet.audits.known import Known, intervals, unmovable
from discreet.methods.suppress import Suppress
from discreet.methods.suppress.gauss.eliminate import eliminate
from discreet.methods.suppress.model.singletons import NONE, OWN, SUMS, Singletons
from discreet.rules import (
    DirectDisclosure,
    Dominance,
    FewContributors,
    KDisclosure,
    PPercent,
    Request,
    Rule,
    Threshold,
)

Array = np.ndarray[Any, Any]
OTHER_TASK = {  # what R does there is something else than hiding cells of one set of tables at once
    "dec_z2": "synthetic decimals", "ssc_d4_auto": "no output",
    "ssc_z3_linked_local": "tables one by one", "ssc_z3_linked_local-bdiag": "tables one by one",
    "ssc_z3_linked_super-consistent": "tables one by one", "ssc_z3_linked_back-tracking": "tables one by one",
    "dom_mag_remove": "a code's contributors removed before counting",
}  # fmt: skip

OTHER_SINGLETONS = ("anySum0", "subSum", "subSpace", "subSumSpace", "numttT", "numttH", "numTTHTT", "numttFTF")


# -- the first half: R's matrix, R's order ------------------------------------------------------------------------


def recorded(folder: Path) -> tuple[bool, int, int, str]:
    """Whether our elimination gives R's secondary cells, their number and ours, and the singleton method."""
    meta = json.loads((folder / "gauss_meta.json").read_text())
    shape = (meta["nrow_x"], meta["ncol_x"])
    matrix = triplets(folder / "x_triplets.csv", shape)
    output = pd.read_csv(folder / "output.csv")
    primary = np.flatnonzero(output["primary"].astype(bool))
    virtual = int(meta["n_extra_primary"])
    if virtual:
        extra = triplets(folder / "xExtraPrimary_triplets.csv", (shape[0], virtual))
        matrix, primary = csc_array(hstack([matrix, extra])), np.r_[primary, shape[1] + np.arange(virtual)]
    forced, hidden = (np.atleast_1d(np.array(meta[k], int)) - 1 for k in ("forced", "hidden"))
    primary = primary[~np.isin(primary, forced)]
    order = pd.read_csv(folder / "candidates.csv").iloc[:, 1].to_numpy() - 1
    order = np.r_[forced, order[~np.isin(order, np.r_[primary, forced, hidden])]]
    found = eliminate(
        matrix, primary, order, forced=len(forced), virtual=virtual, singletons=told(folder, meta, matrix, primary)
    )
    theirs = pd.read_csv(folder / "secondary.csv").iloc[:, 0].to_numpy() - 1
    theirs = theirs[(theirs < shape[1]) & ~np.isin(theirs, primary)]
    method = meta["singletonMethod"]
    return set(found.secondary) == set(theirs), len(theirs), len(found.secondary), str(method)


def triplets(path: Path, shape: tuple[int, int]) -> csc_array:
    found = pd.read_csv(path)
    made = csc_array((found.iloc[:, 2].to_numpy(np.int8), (found.iloc[:, 0] - 1, found.iloc[:, 1] - 1)), shape=shape)
    made.eliminate_zeros()
    return made


def told(folder: Path, meta: dict[str, Any], matrix: csc_array, primary: Array) -> Singletons:
    """R's singletons in our terms."""
    n, method = matrix.shape[0], str(meta["singletonMethod"])
    path = folder / "singleton.csv"
    if method == "none" or not path.exists():
        return Singletons(NONE, np.zeros(n, np.int32))
    given = pd.read_csv(path).iloc[:, -1].to_numpy()
    if "num" in method and "any" not in method:
        group = given.astype(np.int32) if given.max(initial=0) > 1 else np.cumsum(given) * given
        return Singletons(OWN, group.astype(np.int32))
    one = np.flatnonzero(np.diff(matrix.indptr) == 1)
    sensitive, published = np.zeros(n, bool), np.zeros(n, bool)
    published[matrix.indices[matrix.indptr[one]]] = True
    one = np.intersect1d(one, primary)
    sensitive[matrix.indices[matrix.indptr[one]]] = True
    single = given != 0
    lenient = "NOTprimary" in method or bool((single & published & ~sensitive).any())
    return Singletons(SUMS, single.astype(np.int32), lenient)


# -- the second half: from the input -------------------------------------------------------------------------------


def arguments(call: str) -> tuple[str, str, dict[str, str]]:
    """Function, data and named arguments of an R call, as text."""
    name, _, rest = call.strip().partition("(")
    parts, depth, piece = [], 0, ""
    for c in rest[:-1]:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(piece.strip())
            piece = ""
        else:
            piece += c
    parts.append(piece.strip())
    named = dict(p.split(" = ", 1) for p in parts if re.match(r"^[\w.]+ = ", p))
    free = [p for p in parts if not re.match(r"^[\w.]+ = ", p)]
    if name == "SuppressDirectDisclosure":
        named["dimVar"], named["freqVar"] = free[1], free[2]
    return name, free[0], named


def numbers(text: str | None, default: list[float] | None = None) -> list[float]:
    if text is None:
        return default or []
    span = re.fullmatch(r"(\d+):(\d+)", text)
    if span:
        return [float(k) for k in range(int(span[1]), int(span[2]) + 1)]
    return [float(x) for x in re.findall(r"-?\d+\.?\d*", text)]


class Case:
    """One recorded call: its data, its cells, and what R did with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.function, self.data, self.given = arguments((folder / "call.R").read_text())
        self.output = pd.read_csv(folder / "output.csv", dtype=str)
        self.frame = pd.read_csv(folder / f"input_{self.data}.csv", dtype=str)
        measures = {self.given.get(k, "").strip('"') for k in ("freqVar", "numVar")} | {"freq", "value", "num"}
        columns = list(self.output.columns)
        self.dims = columns[: next(k for k, c in enumerate(columns) if c in measures)]
        self.output = self.output[self.output[self.dims].notna().all(axis=1)]
        self.primary = (self.output["primary"] == "TRUE").to_numpy()
        self.secondary = (self.output["suppressed"] == "TRUE").to_numpy() & ~self.primary
        freq = self.given.get("freqVar", "").strip('"')
        self.freq = freq if freq in self.frame.columns else None
        self.value = self.given.get("numVar", "").strip('"') or None
        self.holding = self.given.get("contributorVar", "").strip('"') or None
        self.weight = self.given.get("sWeightVar", "").strip('"') or None

    def dimension(self, name: str) -> tuple[dc.Dimension, Array]:
        """A dimension of the output, and the finest code of each input row in it."""
        codes = set(self.output[name])
        total = "Total_Norway" if "Total_Norway" in codes else "Total"
        named = re.search(rf"\b{name} = (\w+)", self.given.get("hierarchies", ""))
        path = self.folder / f"hier_{named[1]}.csv" if named else None
        if path is not None and path.exists():
            return self._from_file(name, path, total)
        skip = {self.freq, self.value, self.holding, self.weight}
        columns = [c for c in self.frame.columns if c not in skip and set(self.frame[c].dropna()) <= codes]
        columns.sort(key=lambda c: -self.frame[c].nunique())
        leaf = self.frame[columns[0]]
        groups: dict[str, list[str]] = {}
        for column in columns[1:]:
            for code, part in self.frame.groupby(column):
                groups.setdefault(str(code), list(dict.fromkeys(leaf[part.index])))
        made = dc.Dimension.flat(name, sorted(set(leaf)), total=total if total in codes else None)
        for code, leaves in groups.items():
            if code not in made.position:
                made = made.with_group(code, leaves)
        return made, leaf.to_numpy()

    def _from_file(self, name: str, path: Path, total: str) -> tuple[dc.Dimension, Array]:
        found = pd.read_csv(path, dtype=str)
        if "levels" in found:
            stack: list[str] = []
            links: list[tuple[str, str, int]] = []
            for depth, code in zip(found["levels"].str.len(), found["codes"], strict=True):
                stack = [*stack[: depth - 1], code]
                if depth > 1:
                    links.append((code, stack[-2], 1))
        else:
            links = [(r["mapsFrom"], r["mapsTo"], int(r["sign"])) for _, r in found.iterrows()]
        parents = list(dict.fromkeys(parent for _, parent, _ in links))
        leaves = [c for c in dict.fromkeys(child for child, _, _ in links) if c not in parents]
        made = dc.Dimension.flat(name, leaves, total=total if total in parents else None)
        for group in parents:  # one after another: a code may have several
            signs = {sign: [c for c, p, s in links if p == group and s == sign] for sign in (1, -1)}
            if group != total:
                made = made.with_group(group, signs[1], signs[-1])
        return made, self.frame[name].to_numpy()

    def table(self) -> tuple[dc.Table, Array]:
        """The table, and for each row of R's output the number of its cell."""
        found = {name: self.dimension(name) for name in self.dims}
        frame = pd.DataFrame({name: leaf for name, (_, leaf) in found.items()})
        dims = [d for d, _ in found.values()]
        margins = self._margins()
        if self.value is None:
            count = np.ones(len(frame), int) if self.freq is None else self.frame[self.freq].astype(int)
            summed = frame.assign(count=count).groupby(self.dims, as_index=False)["count"].sum()
            structural = absent(frame, dims) if "structuralEmpty" in self.given else None
            table = dc.Table.of(summed, dims, count="count", margins=margins, structural=structural)
        else:  # R leaves combinations without records out of its matrix
            structural = absent(frame, dims)
            frame[self.value] = self.frame[self.value].astype(float)
            extra: dict[str, Any] = {}
            for key, column in (("holding", self.holding), ("weight", self.weight)):
                if column:
                    values = self.frame[column]
                    frame[column], extra[key] = values.astype(float) if key == "weight" else values, column
            data = dc.Microdata.of(frame, dimensions=dims, magnitudes=[self.value], **extra)
            table = dc.tabulate(data, by=self.dims, value=self.value, margins=margins, top=5, structural=structural)
        codes = np.stack([[d.index(c) for c in self.output[d.name]] for d in dims], axis=1)
        at = {tuple(row): n for n, row in enumerate(table.layout.codes.tolist())}
        return table, np.array([at[tuple(row)] for row in codes.tolist()])

    def _margins(self) -> list[dict[str, list[str]]] | None:
        cells = self.output[self.dims]
        if len(cells) == np.prod([cells[c].nunique() for c in self.dims]):
            return [{c: list(dict.fromkeys(cells[c])) for c in self.dims}]
        first, last = self.dims[:-1], self.dims[-1]
        grouped = cells.groupby(first if len(first) > 1 else first[0], sort=False)[last].agg(list)
        keys = [k if isinstance(k, tuple) else (k,) for k in grouped.index]
        return [
            {**{c: [v] for c, v in zip(first, key, strict=True)}, last: codes}
            for key, codes in zip(keys, grouped, strict=True)
        ]

    def rule(self, table: dc.Table) -> Rule:
        g = self.given
        if self.function in ("SuppressSmallCounts", "tables_by_formulas"):
            n = int(numbers(g.get("maxN"), [3])[0]) + 1
            return Threshold(n, zeros=g.get("protectZeros", "TRUE") == "TRUE")
        if self.function == "SuppressFewContributors":
            return FewContributors(int(numbers(g["maxN"])[0]) + 1)
        if self.function == "SuppressKDisclosure":
            most = numbers(g.get("upper_bound"))
            unions = {"inj": [["serious", "light"]]} if "mc_hierarchies" in g else None
            coalition = int(numbers(g["coalition"])[0])
            return KDisclosure(coalition, unions=unions, most=int(most[0]) if most else None)
        if self.function == "SuppressDirectDisclosure":
            return self._direct()
        p, k = numbers(g.get("pPercent")), numbers(g.get("k"))
        rule: Rule | None = PPercent(p[0]) if p else None
        for many, share in zip(numbers(g.get("n"), list(range(1, len(k) + 1))), k, strict=False):
            one = Dominance(int(many), share, weights="total")
            rule = one if rule is None else rule | one
        if "min_n_contr" in g and rule is not None:
            rule = rule | FewContributors(int(numbers(g["min_n_contr"])[0]))
        if g.get("protectZeros") == "TRUE" and rule is not None:
            rule = rule | Request(table.value == 0)
        assert rule is not None
        return rule

    def _direct(self) -> Rule:
        g = self.given
        named = re.findall(r'NA|"[^"]*"', g.get("unknowns", ""))
        sensitive = re.findall(r'"([^"]*)"', g.get("primaryDims", "")) or None
        over = sensitive or self.dims
        unknown = {d: [u.strip('"')] for d, u in zip(over, named, strict=False) if u != "NA"}
        threshold = numbers(g.get("unknown.threshold"), [0])[0]
        k = int(numbers(g["coalition"])[0])
        return DirectDisclosure(
            k, sensitive=sensitive, unknown=unknown, unknown_share=threshold if unknown else None, every=False
        )

    def method(self, table: dc.Table, at: Array) -> Suppress:
        g = self.given
        options: dict[str, Any] = {}
        if g.get("secondaryZeros") == "TRUE":
            options["zeros"] = True
        if g.get("singletonMethod") == '"none"':
            options["singletons"] = "none"
        if "forced" in g:
            options["forced"] = table.where(region="Total") | table.where(hovedint="Total")
        if "hidden" in g:
            options["hidden"] = table.where(region=["1", "4", "5"])
        if "protectionIntervals" in g:
            options["repair"] = "levels"
        if "weightVar" in g:
            weight = pd.read_csv(self.folder / "output.csv")[g["weightVar"].strip('"')].to_numpy(float)
            wanted = np.zeros(len(table))
            wanted[at] = weight * (table.count[at] + 1)
            options["order"] = wanted
        return Suppress(self.rule(table), **options)


def absent(frame: pd.DataFrame, dims: list[dc.Dimension]) -> Array:
    """Combinations of finest codes that no record has."""
    empty = np.ones([len(d.leaves) for d in dims], bool)
    for codes in set(map(tuple, frame[[d.name for d in dims]].to_numpy())):
        empty[tuple(d.leaf_position[c] for d, c in zip(dims, codes, strict=True))] = False
    return empty


def still_open(table: dc.Table, rule: Rule, gone: Array) -> int:
    """How many sensitive cells, and sums that a rule keeps unknown, a pattern leaves exactly known."""
    known, targets = Known.hiding(table, gone), np.flatnonzero(rule(table) & gone)
    found = int(unmovable(known, targets).sum()) if len(targets) else 0
    sums = rule.virtual(table)
    if sums is None:
        return found
    n, extra = len(table), np.full(sums.matrix.shape[1], np.inf)
    wider = replace(
        known, matrix=csr_array(hstack([known.matrix, sums.matrix])), relations=None, point=None,
        lower=np.r_[known.lower, -extra], upper=np.r_[known.upper, extra],
    )  # fmt: skip
    high = intervals(wider, n + np.arange(len(extra)))[1]
    truth = sums.matrix.T @ table.statistic("count").inner
    return found + int((high < truth + sums.above).sum())


def repeated(folder: Path) -> dict[str, Any]:
    """One call done by us."""
    case = Case(folder)
    table, at = case.table()
    measured = [c for c in (case.value, case.freq, "freq", "ant") if c and c in case.output]
    if not np.allclose(table.value[at] if not case.weight else table.statistic(measured[0]).values[at],
                       case.output[measured[0]].astype(float)):  # fmt: skip
        return {"note": "could not rebuild the cells"}
    method = case.method(table, at)
    primary = method.rule(table)
    began = time.perf_counter()
    try:
        done = dc.protect(table, method)
    except dc.Refused as error:
        return {"note": f"refused: {error}"[:100], "same": bool((primary[at] == case.primary).all())}
    theirs = np.zeros(len(table), bool)
    theirs[at[case.primary | case.secondary]] = True
    method_r = case.given.get("singletonMethod", "").strip('"')
    kind = "interval widths" if "rangeMin" in case.given else "singletons" if method_r in OTHER_SINGLETONS else ""
    return {
        "same": bool((primary[at] == case.primary).all()),
        "primary": int(case.primary.sum()), "R": int(case.secondary.sum()), "ours": int((done.status == "x").sum()),
        "elimination": done.details["elimination"],
        "repair": done.details["repair"], "differ": int((done.hidden != (theirs | (done.status == "w"))).sum()),
        "open": still_open(table, method.rule, done.hidden),
        "R open": still_open(table, method.rule, theirs | (done.status == "w")),
        "other": kind, "seconds": round(time.perf_counter() - began, 2), "note": "",
    }  # fmt: skip


def main(folder: Path) -> None:
    cases = sorted(p for p in folder.iterdir() if (p / "call.R").exists())
    print("elimination with R's matrix, order and singletons")
    equal, rows = 0, [(c.name, *recorded(c)) for c in cases if (c / "x_triplets.csv").exists()]
    for name, same, theirs, ours, method in rows:
        equal += same
        if not same:
            print(f"  {name:32} {method:34} R {theirs:4} ours {ours:4}")
    off = [r for r in rows if r[4] == "none"]
    print(f"  cell for cell as R: {equal} of {len(rows)}; with singletons off: {sum(r[1] for r in off)} of {len(off)}")
    print("calls repeated from their input")
    results = []
    for c in cases:
        if c.name in OTHER_TASK:
            continue
        try:
            found = repeated(c)
        except Exception as error:  # noqa: BLE001 - one broken case must not hide the others
            found = {"note": f"failed: {type(error).__name__}: {error}"[:110]}
        results.append({"case": c.name, **found})
    report(pd.DataFrame(results))


def report(frame: pd.DataFrame) -> None:
    """Cases that differ, and sums over all and over the comparable ones."""
    done = frame[frame["note"] == ""]
    with pd.option_context("display.width", 200, "display.max_rows", 300, "display.max_columns", 20):
        print(frame[(frame["note"] != "") | (frame["differ"] > 0) | (frame["same"] != True)].to_string())  # noqa: E712
    print(f"  calls {len(done)}; primary cells identical in {int(done['same'].sum())}")
    alike = done[(done["other"] == "") & (done["R open"] == 0)]
    same = done[done["other"] == ""]
    for name, part in (("all", done), ("same options", same), ("same options, R's pattern passes the audit", alike)):
        theirs, ours = int(part["R"].sum()), int(part["ours"].sum())
        print(
            f"  {name}: {len(part)} calls, secondary cells R {theirs:,}, ours {ours:,}, ratio {ours / theirs:.4f};",
            end="",
        )
        print(f" exactly known: R {int(part['R open'].sum())}, ours {int(part['open'].sum())}")
    print(f"  not repeated: {OTHER_TASK}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        print(__doc__)
