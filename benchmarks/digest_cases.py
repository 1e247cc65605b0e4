"""The cases of ``digest.py``: a name, and what gives a value, or several in a dict by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dc
from digest_tables import counted, drawn, instance, jj, judged, people, printed, protected, turnover
from discreet import population, risk

Case = tuple[str, Callable[[], Any]]
SECRET = "a secret that this digest knows"

COUNTS: dict[str, dict[str, Any]] = {
    "plain": {}, "none": {"singletons": "none"}, "off": {"repair": "off"}, "exact": {"repair": "exact"},
    "count": {"order": "count"}, "rank": {"order": "rank"}, "clean": {"clean_up": True}, "zeros": {"zeros": True},
    "insiders": {"insiders": 1},
}  # fmt: skip
AMOUNTS: dict[str, dict[str, Any]] = {
    "plain": {}, "none": {"singletons": "none"}, "own": {"singletons": "own"}, "exact": {"repair": "exact"},
    "clean": {"clean_up": True}, "bounds": {"bounds": 50}, "count": {"order": "count"},
}  # fmt: skip


UNFIT = ("insiders", "zeros", "clean")  # where most cells are empty: minutes, and a clean-up that ends differently


def suppress() -> Iterator[Case]:
    """Patterns by elimination."""
    for name, table in {**printed(), **drawn()}.items():
        sets, rule = (AMOUNTS, _large(table)) if table.measure != "count" else (COUNTS, dc.Threshold(4))
        for label, options in sets.items():
            if not (name.startswith("sparse") and label in UNFIT):
                yield f"suppress/{name}/{label}", partial(protected, table, dc.Suppress(rule, **options))
    for by in (("region", "size"), ("region", "activity"), ("activity", "size")):
        for rule in (dc.PPercent(10), dc.Dominance(2, 85), dc.FewContributors(3), dc.PQ(10, q=80)):
            for label in ("plain", "own", "clean") if by != ("region", "activity") else ("plain",):
                method = dc.Suppress(rule, **AMOUNTS[label])
                yield f"suppress/firms-{'-'.join(by)}/{rule}/{label}", partial(_of, turnover, by, method)
    for rule in (dc.DirectDisclosure(1), dc.KDisclosure(1), dc.GroupDisclosure(90), dc.Threshold(4, level=50)):
        for name in ("psd14_travel", "psd14_religion", "injuries", "sparse2", "full2h", "sparse3"):
            yield f"suppress/{name}/{rule}", partial(protected, {**printed(), **drawn()}[name], dc.Suppress(rule))
    yield from _linked()


def _of(make: Callable[..., dc.Table], by: tuple[str, ...], method: Any) -> dict[str, Any]:
    return protected(make(*by), method)


def _large(table: dc.Table) -> dc.Rule:
    """A rule for amounts of which no contributors are known: some cells on request, with levels."""
    inner = np.flatnonzero(table.is_inner & (table.value > 0))
    return dc.Request(np.isin(np.arange(len(table)), inner[::7]), level=20)


def _linked() -> Iterator[Case]:
    """Linked tables, earlier and last ones, marks, and cells that are forced or never shown."""
    rule, two = dc.Threshold(4), [("age", "citizenship"), ("education", "citizenship"), ("age", "sex")]
    linked = dc.tabulate(people(), margins=two)
    for label in ("plain", "none", "rank", "exact"):
        yield f"suppress/linked/{label}", partial(protected, linked, dc.Suppress(rule, **COUNTS[label]))
    cube = counted("age", "citizenship", "sex")
    first = dc.protect(cube.with_margins([("age", "citizenship")]), dc.Suppress(rule))
    later = cube.with_margins([("age", "sex")])
    for n in (4, 6, 30):
        yield f"suppress/earlier/{n}", partial(protected, later, dc.Suppress(dc.Threshold(n), earlier=[first]))
    table = printed()["psd14_travel"]
    last = dc.protect(table, dc.Suppress(dc.Threshold(3)))
    marks = dc.Marks(safe=({"area": "1", "travel": "4"},), unsafe=({"area": "2"},), publish=({"travel": "5"},))
    others: dict[str, dict[str, Any]] = {
        "last": {"last": last}, "forced": {"forced": [{"area": "Total"}]}, "hidden": {"hidden": [{"travel": "3"}]},
        "marks": {"marks": marks}, "all forced": {"forced": table.where(area="Total") | table.where(travel="Total")},
    }  # fmt: skip
    for label, options in others.items():
        yield f"suppress/{label}", partial(protected, table, dc.Suppress(rule, **options))
        yield f"suppress/{label}/diagnosis", partial(_diagnosis, table, dc.Suppress(rule, **options))


def _diagnosis(table: dc.Table, method: dc.Suppress) -> dict[str, Any]:
    found = dc.diagnose(table, method)
    return {"lift": found.lift, "hopeless": found.hopeless, "marks": found.marks}


def exact() -> Iterator[Case]:
    """The cheapest pattern where it is the only one, else what it costs; and sub-table by sub-table."""
    ways = {"value": dc.Optimal("value", 600), "modular": dc.Modular(time=600)}  # so few cells that both prove it
    for name in ("amountfull1", "amountfull2", "amountfull2h", "amountfull3", "full1h"):
        table = drawn()[name]
        rule = _large(table) if table.measure != "count" else dc.Threshold(12, level=20)
        for label, method in ways.items():
            yield f"optimal/{name}/{label}", partial(_solved, table, rule, method, True)
    for name in ("injuries", "injuries_figure", "psd14_sex", "willenborg_redesigned"):
        for weights in ("value", "unity"):
            rule = dc.Threshold(4) if name != "willenborg_redesigned" else _large(printed()[name])
            yield f"optimal/{name}/{weights}", partial(_solved, printed()[name], rule, dc.Optimal(weights, 600), False)
    for k, name in enumerate(("amountfull2", "amountfull2h", "amountfull3", "amountfull3h")):
        one = instance(drawn()[name], k)
        for method in ("gauss", "clean-up", "optimal"):
            if method != "optimal" or k < 3:
                yield f"jj/{name}/{method}", partial(jj, one, method, "value")
    yield "jj/text", lambda: instance(drawn()["full3h"], 9).text()


def _solved(table: dc.Table, rule: dc.Rule, method: Any, pattern: bool) -> dict[str, Any]:
    done = dc.protect(table, dc.Suppress(rule, method=method))
    told = {"cost": round(done.details["cost"], 6), "word": done.details["solver status"]}
    return told | ({"status": done.status} if pattern else {})


def audits() -> Iterator[Case]:
    """Intervals and findings of patterns, good and bad ones, and of margins."""
    for name, table in {**printed(), **drawn()}.items():
        rule = dc.Threshold(4) if table.measure == "count" else _large(table)
        yield f"audit/{name}/plain", partial(judged, table, dc.Suppress(rule))
        yield f"audit/{name}/bare", partial(judged, table, dc.Suppress(rule, singletons="none", repair="off"))
        yield f"audit/{name}/hide", partial(judged, table, dc.Hide(table.is_inner & rule(table)))
        if len(table.dimensions) > 2 and table.measure == "count":
            names = [d.name for d in table.dimensions]
            margins = table.with_margins([(a, b) for k, a in enumerate(names) for b in names[:k]])
            yield f"audit/{name}/margins", partial(judged, margins, dc.Publish(), targets="inner")
            yield f"audit/{name}/rank", partial(_ranks, margins)
    table = printed()["psd14_travel"]
    for method in (dc.Round(3), dc.Round(5), dc.RandomRound(3, seed=1), dc.SmallCountRound(3, seed=1)):
        yield f"audit/rounded/{method}", partial(judged, table, method)
    for by in (("region", "size"), ("activity", "size")):
        yield f"audit/firms-{'-'.join(by)}", partial(judged, turnover(*by), dc.Suppress(dc.PPercent(10)))
    for name in ("injuries", "psd14_religion", "full2"):
        yield f"audit/{name}/insiders", partial(_insiders, {**printed(), **drawn()}[name])
    yield "audit/sampled", partial(_draws, printed()["injuries"])


def _ranks(table: dc.Table) -> dict[str, Any]:
    rank, follow, spare = dc.audits.released_rank(table), dc.audits.redundant(table), dc.audits.spare(table)
    return {"rank": rank, "redundant": follow, "spare": spare, "freedom": dc.audits.freedom(table, spare)}


def _insiders(table: dc.Table) -> dict[str, Any]:
    done = dc.protect(table, dc.Suppress(dc.Threshold(4)))
    return {"insiders": dc.insiders(done), "unions": dc.unions(done, dc.Threshold(4))}


def _draws(table: dc.Table) -> Any:
    done = dc.protect(table, dc.Suppress(dc.Threshold(4)))
    return dc.audits.sampled(dc.audits.view(done).known, dc.audit(done).number, draws=200, seed=1).bits()


def perturb() -> Iterator[Case]:
    """Adjustment, rounding, keys and noise."""
    chosen = ("injuries", "psd14_travel", "full2h", "sparse3", "full3h", "full4")
    base = {name: {**printed(), **drawn()}[name] for name in chosen}
    methods = {
        "cta": dc.CTA(dc.Threshold(4), protection=2), "cta-l2": dc.CTA(dc.Threshold(4), protection=2, norm="L2"),
        "controlled": dc.ControlledRound(3), "controlled5": dc.ControlledRound(5), "round": dc.Round(5),
        "random": dc.RandomRound(3, seed=7), "semi": dc.SemiControlledRound(3, seed=7),
        "small": dc.SmallCountRound(3, seed=7), "barnard": dc.Barnard(0.8, seed=7), "key": dc.CellKey(3, 2, seed=7),
        "stochastic": dc.Stochastic(seed=7), "margins": dc.SameMargins(seed=7, sweeps=50),
    }  # fmt: skip
    for name, table in base.items():
        for label, method in methods.items():
            if not label.startswith("cta") or len(table) < 150:
                yield f"perturb/{name}/{label}", partial(protected, table, method)
    amounts = {"key": dc.CellKeyMagnitude(seed=7), "cta": dc.CTA(dc.PPercent(10))}
    for label, method in amounts.items():
        yield f"perturb/firms/{label}", partial(_of, turnover, ("region", "size"), method)
    for label, method in {
        "key": dc.CellKey(5, 3, js=2, secret=SECRET),
        "round": dc.RandomRound(3, secret=SECRET),
    }.items():
        yield f"perturb/people/{label}", partial(_of, counted, ("region", "age", "sex"), method)
    yield "perturb/ptable", lambda: dc.PTable.design(2, 0.9).probabilities


def records() -> Iterator[Case]:
    """Records that are swapped, redrawn, sampled and recoded before counting."""
    ways = {
        "swap": dc.Swap("region", rate=0.1, seed=3),
        "swap-profile": dc.Swap("region", rate=0.1, profile=["sex"], risk=["age", "occupation"], k=2, seed=3),
        "pram": dc.Pram("education", seed=3), "pram-exact": dc.Pram("education", stay=0.8, exact=True, seed=3),
        "sample": dc.Sample(0.3, strata=["region"], seed=3),
        "recode": dc.GlobalRecode("region", groups={"R": ["R1", "R2"]}),
    }  # fmt: skip
    for label, way in ways.items():
        yield f"records/{label}", partial(_changed, way)
    yield "records/moves", partial(_moved, ways["swap"])
    for by in (("region", "size"), ("activity", "size")):
        yield f"tabulate/{'-'.join(by)}", partial(_cells, turnover, by)
    yield "tabulate/people", partial(_cells, counted, ("age", "education", "sex"))


def _changed(way: Any) -> Any:
    return dc.tabulate(way(people()), by=["region", "education", "sex"]).value


def _moved(way: Any) -> Any:
    found = dc.moves(people(), way(people()), by=["region", "sex"])
    return found.was, found.is_


def _cells(make: Callable[..., dc.Table], by: tuple[str, ...]) -> Any:
    return make(*by).cells


def risks() -> Iterator[Case]:
    """Risk and utility figures to the last digit."""
    small = {**printed(), **{n: t for n, t in drawn().items() if t.measure == "count"}}
    for name, table in small.items():
        if table.measure != "count":
            continue
        after = dc.protect(table, dc.RandomRound(3, seed=2))
        counts, shown = table.array(), after.shown_inner().reshape(table.array().shape)
        yield f"risk/{name}/assess", partial(dc.assess, table)
        yield f"risk/{name}/after", partial(dc.assess, table, after, rules=[dc.Threshold(4)])
        for measure in (dc.r1, dc.r1_star, dc.jos15_risk):
            yield f"risk/{name}/{measure.__name__}", partial(measure, counts)
        for pair in (dc.r2, dc.r2_star, dc.compare):
            yield f"risk/{name}/{pair.__name__}", partial(pair, counts, shown)
        yield f"risk/{name}/expected", partial(dc.expected_r2, counts, dc.Transition.rounding(3), seed=1, draws=50)
        yield f"risk/{name}/jos15_after", partial(dc.jos15_after, counts, shown, dc.Transition.rounding(3))
        yield f"risk/{name}/lines", partial(dc.line_risks, counts)
    for by in (("region", "size"), ("activity", "size")):
        for rule in (dc.PPercent(10), dc.TSensitivity(0.8), dc.Dominance(1, 70), dc.EntropyRule(0.5)):
            yield f"rule/{'-'.join(by)}/{rule}", partial(_sensitive, by, rule)
    truth = printed()["psd14_religion"].array()
    drawn_sample = np.random.default_rng(2).multivariate_hypergeometric(truth.ravel(), 245).reshape(truth.shape)
    models = [population.Multinomial(), population.Polya(), population.Dirichlet(), population.NegativeBinomial(),
              population.PoissonGamma(), population.PoissonLogNormal()]  # fmt: skip
    for model in models:
        name = type(model).__name__
        yield f"risk/sample/{name}", partial(_sample, drawn_sample, model)
    methods = dc.grid("random-round", base=[3, 5]) | dc.grid("cell-key", d=[2, 4], v=[1.0, 2.0])
    yield "risk/map", lambda: dc.ru_map(printed()["psd14_travel"], methods, draws=3).frame


def _sensitive(by: tuple[str, ...], rule: dc.Rule) -> dict[str, Any]:
    table = turnover(*by)
    return {"cells": rule(table), "levels": rule.levels(table)}


def _sample(sample: Any, model: Any) -> Any:
    found = risk.assess_sample(sample, 2449, models=[model], seed=1, populations=50)
    return {"summary": found.summary(), "cells": found.cells}


def releases() -> Iterator[Case]:
    """A release in every format, byte by byte."""
    made = {
        "suppressed": dc.protect(counted("region", "age", "sex"), dc.Suppress(dc.Threshold(4))),
        "amounts": dc.protect(turnover("region", "size"), dc.Suppress(dc.PPercent(10))),
        "keyed": dc.protect(printed()["psd14_travel"], dc.CellKey(3, 2, seed=7)),
    }
    for name, done in made.items():
        release = done.release(title="A title", source="A source", notes=["A note"])
        for known in dc.formats.FORMATS:
            yield f"release/{name}/{known.name}", partial(dc.formats.to_bytes, release, known.name)


POLICY = """secret = { env = "DISCREET_DIGEST_SECRET" }
[query]
max_dimensions = 3
max_filters = 2
[table]
min_population = 200
[guard]
action = "off"
"""
WAYS = {"keyed": '[[method]]\nname = "cell-key"\nd = 5\nv = 3\n',
        "rounded": '[[method]]\nname = "random-round"\nbase = 3\n',
        "suppressed": '[[rule]]\nrule = "threshold"\nn = 4\n[[method]]\nname = "suppress"\n'}  # fmt: skip
QUERIES = ("sex,age", "age,activity&where=region=R1", "region,education,sex", "occupation&where=citizenship=STL",
           "sexx", "sex,age,region,education")  # fmt: skip


def policies() -> Iterator[Case]:
    """Answers of policies, and their refusals."""
    os.environ["DISCREET_DIGEST_SECRET"] = SECRET
    for name, way in WAYS.items():
        policy = dc.policy.parse_policy(POLICY + way)
        yield f"policy/{name}/screen", partial(dc.policy.screen, people(), policy)
        for query in QUERIES:
            variables, _, where = query.partition("&where=")
            yield f"policy/{name}/{query}", partial(_answer, variables, where or None, policy)


def _answer(variables: str, where: str | None, policy: dc.Policy) -> bytes:
    return dc.formats.to_bytes(dc.answer(people(), dc.Query.of(variables, where=where), policy), "json-stat")


PROGRAMME = """[programme]
name = "Census"
data = "census.parquet"
codebook = "census.toml"
output = "published"
formats = ["csv", "json-stat", "px"]
[[linked]]
name = "all"
approach = "APPROACH"
rule = "threshold(n=3)"
[[table]]
name = "by"
linked = "all"
combinations = { of = ["sex", "age", "education"], sizes = [1, 2] }
[[table]]
name = "region-{region}"
by = ["sex", "age"]
for_each = { region = "region" }
method = "cell-key"
parameters = { d = 2, v = 1.0 }
"""


def commands() -> Iterator[Case]:
    """Publishing programmes from the command line, and a server's answers."""
    for approach in ("in turn", "together"):
        yield f"run/{approach}", partial(_run, PROGRAMME.replace("APPROACH", approach))
    for name, way in WAYS.items():
        yield f"server/{name}", partial(_serve, POLICY + way)


def _command(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "discreet", *words], cwd=folder, check=True, capture_output=True)


def _run(text: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _command(folder, "datasets", "census", "-n", "3000", "-o", "census.parquet")
        (folder / "programme.toml").write_text(text)
        _command(folder, "run", "programme.toml", "--jobs", "1")
        found = {p.name: p.read_bytes() for p in sorted((folder / "published").iterdir()) if p.suffix != ".html"}
        return found | {"report.json": json.loads(found["report.json"])}


def _serve(policy: str) -> dict[str, Any]:
    from fastapi.testclient import TestClient

    from discreet.server import Settings, create_app

    os.environ["DISCREET_DIGEST_SECRET"] = SECRET
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _command(folder, "datasets", "census", "-n", "3000", "-o", "people.parquet")
        _command(folder, "cube", "people.parquet", "--codebook", "people.toml", "-o", "people.cube")
        (folder / "policy.toml").write_text(policy)
        store = f"sqlite:///{folder}/store.db"
        app = create_app(Settings(policy=str(folder / "policy.toml"), cube=str(folder / "people.cube"), store=store))
        found: dict[str, Any] = {}
        with TestClient(app) as client:
            paths = [f"/api/table{suffix}?variables={q}" for q in QUERIES for suffix in (".csv", ".json", ".px")]
            for path in ["/api/metadata", "/api/check?variables=sex,age", *paths]:
                answer = client.get(path)
                found[path] = (answer.status_code, answer.headers["content-type"], answer.content)
        return found


GROUPS = (suppress, exact, audits, perturb, records, risks, releases, policies, commands)
