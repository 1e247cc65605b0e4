"""Writing a release of 245,700 cells, a tenth of them hidden, in every format, beside what a user would write instead.

    python benchmarks/formats.py [turns]

The least time of several turns counts. Excel and HTML are refused at this size; they are timed on 25,200 cells.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Callable

import numpy as np

from discreet import Dimension, Hide, Release, Table
from discreet.formats import FORMATS, to_bytes

SIZES = {"region": 2, "sex": 2, "age": 21, "activity": 5, "occupation": 13, "education": 9, "citizenship": 5}
LARGE = {"xlsx", "html"}


def release(sizes: dict[str, int]) -> Release:
    """Counts and a mask, both at random, without margins."""
    rng = np.random.default_rng(1)
    dims = [Dimension.flat(n, [f"{k + 1:02d}" for k in range(size)], total=None) for n, size in sizes.items()]
    table = Table.of(rng.poisson(20, tuple(sizes.values())), dims, title="Persons", source="A register")
    return Hide(rng.random(len(table)) < 0.1)(table).release(notes=["A note."])


def least(work: Callable[[], bytes], turns: int) -> tuple[float, int]:
    """Seconds and bytes of the quickest turn."""
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        size = len(work())
        times.append(time.perf_counter() - start)
    return min(times), size


def pandas_csv(made: Release) -> bytes:
    return made.cells.to_csv(index=False).encode()


def pandas_parquet(made: Release) -> bytes:
    sink = io.BytesIO()
    made.cells.to_parquet(sink)
    return sink.getvalue()


def pandas_json(made: Release) -> bytes:
    return json.dumps(made.to_dict()).encode()


INSTEAD = {"csv": pandas_csv, "parquet": pandas_parquet, "json-stat": pandas_json}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("turns", type=int, nargs="?", default=3)
    turns = parser.parse_args().turns
    whole = release(SIZES)
    part = release({"sex": 2, "region": 2, "age": 21, "activity": 5, "kind": 60})
    print(f"{'format':<12}{'cells':>10}{'seconds':>10}{'MB':>8}   instead")
    for known in FORMATS:
        made = part if known.name in LARGE else whole
        seconds, size = least(lambda made=made, name=known.name: to_bytes(made, name), turns)  # type: ignore[misc]
        other = ""
        if known.name in INSTEAD:
            slow, _ = least(lambda name=known.name: INSTEAD[name](whole), turns)  # type: ignore[misc]
            other = f"{INSTEAD[known.name].__name__} {slow:.2f} s, ratio {slow / seconds:.1f}"
        print(f"{known.name:<12}{len(made):>10,}{seconds:>10.3f}{size / 1e6:>8.1f}   {other}")


if __name__ == "__main__":
    main()
