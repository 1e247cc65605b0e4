"""Is a change slower? Two trees of the package side by side, in turn, in processor time.

    python benchmarks/before_after.py OTHER_TREE [--repeats 3] [--csp FOLDER]

OTHER_TREE is a checkout from before the change; this one is after it. The work is that of ``suppress.py``,
``audit.py`` and ``csp.py`` in small sizes, in a process of its own for each run, after compiling. Ratios of the least
processor times are printed; on a busy machine a tenth more or less is noise. FOLDER holds ``.jj`` files (targus,
table8), which are then solved exactly, too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parents[1]


def table(shape: tuple[int, ...], seed: int) -> Any:
    """Small counts, many of them."""
    import discreet as dc

    counts = np.random.default_rng(seed).negative_binomial(0.9, 0.12, shape)
    return dc.Table.of(counts, [f"d{k}" for k in range(len(shape))])


def works(folder: str) -> dict[str, Callable[[], object]]:
    """What is timed, by name. Only public names, so that both trees know them."""
    import discreet as dc
    from discreet.audits import Known, intervals, unmovable

    flat, solid, cube = table((200, 150), 1), table((10, 10, 8), 2), table((40, 30, 10), 3)
    some = np.random.default_rng(5).random(len(solid)) < 0.4
    hidden, half = solid.is_inner & some, flat.is_inner & (np.arange(len(flat)) % 5 < 2)
    unaudited = dc.Suppress("threshold(n=3)", method="gauss", repair="off")
    every: dict[str, Callable[[], object]] = {
        "suppress, elimination": lambda: dc.protect(cube, unaudited),
        "suppress, audited": lambda: dc.protect(solid, dc.Suppress("threshold(n=3)")),
        "suppress, optimal": lambda: dc.protect(
            table((5, 5, 4), 3), dc.Suppress("threshold(n=3)", method=dc.Optimal(time=60))
        ),
        "audit, flows": lambda: intervals(Known.hiding(flat, half)),
        "audit, programs": lambda: intervals(Known.hiding(solid, hidden), hidden),
        "audit, unmovable": lambda: unmovable(Known.hiding(solid, hidden), hidden),
    }
    for path in sorted(Path(folder).glob("*.jj")) if folder else []:
        if path.stem in ("targus", "table8"):
            from discreet.formats.jj import read_jj

            every[f"csp, {path.stem}"] = lambda path=path: read_jj(path).protect(dc.Optimal(time=60))  # type: ignore[misc]
    return every


def timed(folder: str) -> dict[str, float]:
    """Processor seconds of each work, the second time."""
    seconds = {}
    for name, work in works(folder).items():
        work()
        began = time.process_time()
        work()
        seconds[name] = time.process_time() - began
    return seconds


def run(tree: Path, folder: str) -> dict[str, float]:
    """The times of a tree, from a new process."""
    env = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, __file__, "--inside", "--csp", folder]
    output = subprocess.run(words, env=env, cwd=tree, check=True, capture_output=True, text=True).stdout
    times: dict[str, float] = json.loads(output.splitlines()[-1])
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", type=Path, metavar="OTHER_TREE")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csp", default="", metavar="FOLDER")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        print(json.dumps(timed(asked.csp)))
        return
    if asked.other is None:
        parser.error("OTHER_TREE: a checkout from before the change")
    before, after = [], []
    for _ in range(asked.repeats):
        before.append(run(asked.other.resolve(), asked.csp))
        after.append(run(HERE, asked.csp))
    print("| work | before, s | after, s | ratio |\n|---|--:|--:|--:|")
    for name in after[0]:
        old, new = (min(times[name] for times in runs) for runs in (before, after))
        print(f"| {name} | {old:.3f} | {new:.3f} | {new / old:.2f} |")


if __name__ == "__main__":
    main()
