"""From 10 million records in Parquet to inner cells, beside what a user would write instead; and all margins of a cube.

    python benchmarks/tabulate.py [rows]

Each way runs in processes of its own, so that its peak memory is its own, turn by turn with the others, so that a
busy machine slows all alike; the least time counts. CPU time is shown too, as it depends less on the neighbours. The
records have 7 categorical columns (245,700 possible cells), a magnitude with 2 decimals and a 64-bit record key; the
answer is count, sum, sum of keys and the two largest contributions of every non-empty cell.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {"region": 2, "sex": 2, "age": 21, "activity": 5, "occupation": 13, "education": 9, "citizenship": 5}
TURNS = 5


def make(path: Path, rows: int) -> None:
    """Skewed categories, a skewed magnitude, random keys; written in pieces to stay small."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    shares = {name: rng.dirichlet(np.full(size, 0.7)) for name, size in SIZES.items()}
    writer = None
    for start in range(0, rows, 1_000_000):
        n = min(1_000_000, rows - start)
        columns: dict[str, Any] = {}
        for name, share in shares.items():
            codes = pa.array([f"{c + 1:02d}" for c in range(len(share))])
            columns[name] = codes.take(pa.array(rng.choice(len(share), n, p=share)))
        columns["turnover"] = np.round(rng.lognormal(5, 2, n), 2)
        columns["rkey"] = rng.integers(0, 2**64, n, dtype=np.uint64)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def discreet_engine(path: str) -> tuple[int, int]:
    from discreet.engines.duckdb.engine import DuckDB
    from discreet.engines.protocol import Grouping, Key

    keys = tuple(Key(name=n, column=n, codes=tuple(f"{c + 1:02d}" for c in range(s))) for n, s in SIZES.items())
    found = DuckDB.of(path).base_cells(Grouping(keys=keys, magnitude="turnover", decimals=2, record_key="rkey", top=2))
    assert found.total is not None
    return len(found), int(found.total.sum())


def discreet_unstated(path: str) -> tuple[int, int]:
    """The same with the decimals left to be found, which takes one more scan."""
    from discreet.engines.duckdb.engine import DuckDB
    from discreet.engines.protocol import Grouping, Key

    keys = tuple(Key(name=n, column=n, codes=tuple(f"{c + 1:02d}" for c in range(s))) for n, s in SIZES.items())
    found = DuckDB.of(path).base_cells(Grouping(keys=keys, magnitude="turnover", record_key="rkey", top=2))
    assert found.total is not None
    return len(found), int(found.total.sum())


def hand_written(path: str) -> tuple[int, int]:
    """What someone who knows DuckDB would type. Nothing is checked, codes stay text."""
    import duckdb
    import pyarrow.compute as pc

    by = ", ".join(SIZES)
    connection = duckdb.connect()
    found = connection.sql(
        f"SELECT {by}, count(*) AS n, sum(turnover::DECIMAL(18, 2)) AS total, sum(rkey) AS key, "
        f"max(turnover, 2) AS top FROM read_parquet('{path}') GROUP BY {by}"
    ).to_arrow_table()
    return len(found), int(pc.sum(found["total"]).as_py() * 100)


def pandas_groupby(path: str) -> tuple[int, int]:
    """What most people would type; ``nlargest(2)`` by group in place of the sort takes minutes."""
    import pandas as pd

    frame = pd.read_parquet(path)
    frame["cents"] = (frame["turnover"] * 100).round().astype("int64")
    by = frame.groupby(list(SIZES), sort=False, observed=True)
    found = by.agg(n=("cents", "size"), total=("cents", "sum"), key=("rkey", "sum"))
    frame.sort_values("turnover", ascending=False).groupby(list(SIZES), sort=False, observed=True).head(2)
    return len(found), int(found["total"].sum())


WAYS: dict[str, tuple[str, Callable[[str], tuple[int, int]], int]] = {
    "discreet": ("discreet", discreet_engine, TURNS),
    "unstated": ("discreet, decimals not stated", discreet_unstated, TURNS),
    "hand": ("hand-written DuckDB", hand_written, TURNS),
    "pandas": ("pandas groupby", pandas_groupby, 1),
}


def measure(way: str, path: str) -> None:
    """In a process of its own: print seconds, peak megabytes and the answer as JSON. The first run warms up."""
    _, run, turns = WAYS[way]
    found = []
    for _ in range(2 if turns > 1 else 1):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = run(path)
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps({"wall": min(w for w, _ in found), "cpu": min(c for _, c in found), "peak": peak, "answer": answer})
    )


def engine(rows: int) -> None:
    """Print the table and the ratios."""
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        make(path, rows)
        for turn in range(TURNS):
            for way in (way for way in WAYS if turn < WAYS[way][2]):
                command = [sys.executable, __file__, "--way", way, "--path", str(path)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                found[way].append(json.loads(done.stdout))
    answers = {tuple(run["answer"]) for runs in found.values() for run in runs}
    assert len(answers) == 1, "the answers differ"
    wall, cpu = ({way: min(r[clock] for r in runs) for way, runs in found.items()} for clock in ("wall", "cpu"))
    peak = {way: max(r["peak"] for r in runs) for way, runs in found.items()}
    print(f"{rows:,} records to {answers.pop()[0]:,} inner cells")
    for way, (title, _, _) in WAYS.items():
        print(f"  {title:32} {wall[way]:7.2f} s {cpu[way]:7.2f} CPU s {peak[way]:7.0f} MB")
    ratios = [wall["discreet"] / wall["hand"], cpu["discreet"] / cpu["hand"]]
    print(f"  ours by hand-written DuckDB {ratios[0]:.2f} (CPU {ratios[1]:.2f}; at most 1.3)")
    ratios = [wall["pandas"] / wall["discreet"], cpu["pandas"] / cpu["discreet"]]
    print(f"  pandas by ours              {ratios[0]:.1f} (CPU {ratios[1]:.1f}; at least 3)")
    print(f"  peak memory                 {peak['discreet']:.0f} MB (under 1000)")


def margins_in_process() -> None:
    """All margins of the cube, beside one pass over the non-zeros of its matrix; prints JSON."""
    from discreet import Dimension
    from discreet.tables.layout import Layout

    layout = Layout.of([Dimension.flat(name, range(size)) for name, size in SIZES.items()])
    rng = np.random.default_rng(2)
    count = rng.poisson(0.5, layout.n_inner)
    key = rng.integers(0, 2**64, layout.n_inner, dtype=np.uint64)
    ours, sums = min((_timed(lambda: (layout.aggregate(count), layout.aggregate(key))) for _ in range(5)), key=_first)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    matrix = layout.matrix
    each = np.repeat(count, np.diff(matrix.indptr))
    one_pass, plain = min(
        (_timed(lambda: np.bincount(matrix.indices, each, matrix.shape[1])) for _ in range(3)), key=_first
    )
    assert np.array_equal(plain, sums[0])
    with_matrix = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {"ours": ours, "pass": one_pass, "cells": len(layout), "nnz": matrix.nnz, "peak": peak, "all": with_matrix}
        )
    )


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


def _first(pair: tuple[float, Any]) -> float:
    return pair[0]


def margins() -> None:
    """Print what all margins of the 245,700-cell cube cost."""
    command = [sys.executable, __file__, "--way", "margins"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"all margins of the cube: {found['cells']:,} cells, count and key")
    print(f"  sums along the axes              {found['ours'] * 1000:7.1f} ms {found['peak']:7.0f} MB")
    print(
        f"  one pass, {found['nnz']:,} entries  {found['pass'] * 1000:7.1f} ms {found['all']:7.0f} MB with the matrix"
    )
    print(f"  ours by one pass            {found['ours'] / found['pass']:.2f} (under 3)")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("rows", nargs="?", type=int, default=10_000_000)
    parser.add_argument("--way", choices=[*WAYS, "margins"], help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way == "margins":
        margins_in_process()
    elif arguments.way:
        measure(arguments.way, arguments.path)
    else:
        margins()
        engine(arguments.rows)


if __name__ == "__main__":
    main()
