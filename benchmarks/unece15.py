"""The simulation studies of UNECE15 (Table 2), ASE15 (Table 1) and Ant16 section 4.8, with the printed figures beside.

Run: python benchmarks/unece15.py            1000 samples x 1000 populations a line
     python benchmarks/unece15.py --quick    100 x 100, to see that it works

Standard deviations are over samples, of the mean over the populations drawn for each: what the papers print. A line
counts as reproduced when the mean differs from the print by at most 0.003 (known population) or 0.006 (estimated).
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.parallel import workers
from discreet.datasets.printed import RELIGION, SEX
from discreet.population import Estimate, Multinomial, Polya, loglinear, read_sample
from discreet.risk import r2
from discreet.risk.sample_risk import draw_risks

Array = np.ndarray[Any, Any]
N = int(RELIGION.sum())
ZEROS = int((RELIGION == 0).sum())
INDEPENDENT = loglinear(RELIGION).probabilities
SIZES = {0.1: 245, 0.05: 122, 0.01: 24}


@dataclass(frozen=True)
class Known:
    """Multinomial draws with probabilities that are known and not estimated (the generated table of UNECE15)."""

    def fit(self, sample: Array, population: int) -> Estimate:
        return Estimate("Known()", read_sample(sample, population), "multinomial", INDEPENDENT.ravel())


@dataclass(frozen=True)
class Line:
    """One line of a printed table: the study and what was printed, (mean, standard deviation)."""

    name: str
    fraction: float
    model: Any
    original: tuple[float, float | None] | None
    estimate: tuple[float, float | None] | None
    r1: float | None = None
    judged: bool = True


UNECE15 = [
    Line("generated, log-linear", 0.1, Known(), (0.1538, 0.0043), (0.1568, 0.0039)),
    Line("generated, log-linear", 0.05, Known(), (0.1427, 0.0059), (0.1416, 0.0054)),
    Line("generated, Pólya (eq 5)", 0.1, Polya(zeros=ZEROS), (0.1694, 0.0049), (0.1758, 0.0053)),
    Line("generated, Pólya (eq 5)", 0.05, Polya(zeros=ZEROS), (0.1535, 0.0061), (0.1640, 0.0057)),
    Line("real, log-linear", 0.1, Multinomial(), (0.1697, 0.0048), (0.1715, 0.0173)),
    Line("real, log-linear", 0.05, Multinomial(), (0.1535, 0.0061), (0.1731, 0.0254)),
    Line("real, Pólya (eq 6)", 0.1, Polya(), (0.1697, 0.0048), (0.1764, 0.0186)),
    Line("real, Pólya (eq 6)", 0.05, Polya(), (0.1535, 0.0061), (0.1821, 0.0283)),
]
ASE15 = [
    Line("log-linear", 0.1, Multinomial(), (0.1695, None), (0.1720, None), 0.2299),
    Line("log-linear", 0.05, Multinomial(), (0.1533, None), (0.1711, None), 0.2417),
    Line("log-linear", 0.01, Multinomial(), (0.0955, None), (0.1881, None), 0.3106),
]
ANT16 = [
    Line("main effects, multinomial", 0.1, Multinomial(), (0.1542, 0.0039), (0.1499, 0.0153), judged=False),
    Line("main effects, multinomial", 0.05, Multinomial(), (0.1327, 0.0049), (0.1412, 0.0206), judged=False),
    Line("main effects, Pólya", 0.1, Polya(), (0.1542, 0.0039), (0.1491, 0.0153), judged=False),
    Line("main effects, Pólya", 0.05, Polya(), (0.1327, 0.0049), (0.1412, 0.0206), judged=False),
    Line("two-way, multinomial", 0.1, Multinomial("two-way"), (0.1542, 0.0039), (0.2264, 0.0112), judged=False),
    Line("two-way, multinomial", 0.05, Multinomial("two-way"), (0.1327, 0.0057), (0.2169, 0.0166), judged=False),
    Line("two-way, Pólya", 0.1, Polya("two-way"), (0.1542, 0.0039), (0.2260, 0.0104), judged=False),
    Line("two-way, Pólya", 0.05, Polya("two-way"), (0.1327, 0.0057), (0.2451, 0.0162), judged=False),
]


def three_way(seed: int = 1) -> Array:
    """Area x religion x sex with the printed margins area x religion and area x sex: sexes dealt out at random."""
    rng = np.random.default_rng(seed)
    men = np.array([rng.multivariate_hypergeometric(row, sex[0]) for row, sex in zip(RELIGION, SEX, strict=True)])
    return np.stack([men, RELIGION - men], axis=2)


def samples_of(line: Line, table: Array, number: int, rng: np.random.Generator) -> tuple[Array, Array, int]:
    """Populations and simple random samples from them, and how many samples share a population.

    The generated tables of UNECE15 are one random table each, which nobody else can have; here they are many.
    """
    n = SIZES[line.fraction]
    if not isinstance(line.model, Known):
        samples = rng.multivariate_hypergeometric(table.ravel(), n, size=number)
        return np.broadcast_to(table.ravel(), samples.shape), samples, number
    share = max(number // 50, 2)
    made = np.repeat(rng.multinomial(N, INDEPENDENT.ravel(), size=number // share), share, axis=0)
    return made, np.array([rng.multivariate_hypergeometric(row, n) for row in made]), share


def run(line: Line, table: Array, samples: int, populations: int) -> bool:
    """Print one line; whether it agrees with the print."""
    rng = np.random.default_rng(15)
    truth, drawn, share = samples_of(line, table, samples, rng)
    original = r2(truth, drawn, axis=1).value
    begin, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two-way models of thin samples lie on the boundary and do not converge
        estimates = [line.model.fit(sample.reshape(table.shape), N) for sample in drawn]
    draws = draw_risks(estimates, populations, seed=15)
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    means = draws.r2.mean(axis=1)
    spread = original.reshape(-1, share).std(axis=1, ddof=1).mean()
    good = True
    text = f"{line.name:26} {line.fraction:5.2f}"
    for value, sd, printed, allowed in (
        (original.mean(), spread, line.original, 0.003),
        (means.mean(), means.std(ddof=1), line.estimate, 0.006),
    ):
        if printed is not None:
            beside = "" if printed[1] is None else f" ({printed[1]:.4f})"
            text += f" | {value:.4f} ({sd:.4f}), print {printed[0]:.4f}{beside}"
            good = good and abs(value - printed[0]) <= allowed
    if line.r1 is not None:
        text += f" | R1 {draws.r1.mean():.4f}, print {line.r1:.4f}"
        good = good and abs(draws.r1.mean() - line.r1) <= 0.006
    verdict = ("ok" if good else "DIFFERS") if line.judged else ""
    print(f"{text} | {seconds:5.2f} s (processor {used:5.2f} s) {verdict}", flush=True)
    return good or not line.judged


def plain_r2(F: Array, f: Array) -> Array:
    """R2 as one writes it down from (3.6.5) and (3.6.6); rows are tables."""
    n, m, k = F.sum(axis=1, keepdims=True).astype(float), f.sum(axis=1, keepdims=True).astype(float), F.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = F / n
        h = -np.nansum(p * np.log(p), axis=1)
        a, b = m * F, n * f
        low = np.minimum(a, b)
        rest = n * m - low.sum(axis=1, keepdims=True)
        hc = -np.nansum(low / (n * m) * np.log(low / b), axis=1)
        hc -= np.nansum((a - low) / (n * m) * np.log((a - low) / rest), axis=1)
        hc -= np.nansum((b - low) / (n * m) * np.log((b - low) / b), axis=1)
    d, e = F == 0, f == 0
    both = (d & e).sum(axis=1)
    first = np.where(both > 0, d.mean(axis=1) ** ((d | e).sum(axis=1) / np.maximum(both, 1)), 0.0)
    third = (1 + 0.5 * np.log(n[:, 0])) / np.sqrt(n[:, 0])
    out: Array = 0.1 * first + 0.8 * (1 - h / np.log(k)) * (1 - hc / h) + 0.1 * third
    return out


def plain_polya(f: Array, theta: float, populations: int, rng: np.random.Generator) -> Array:
    """The urn ball by ball, all populations of a sample at once."""
    n = int(f.sum())
    balls = np.empty((populations, N), np.int64)
    balls[:, :n] = np.repeat(np.arange(f.size), f)
    empty, rows = np.flatnonzero(f == 0), np.arange(populations)
    opened = np.zeros(populations, np.int64)
    for held in range(n, N):
        more = opened < empty.size
        pick = (rng.random(populations) * (held + theta * more)).astype(np.int64)
        black = pick >= held
        colour = balls[rows, np.minimum(pick, held - 1)]
        balls[:, held] = np.where(black, empty[np.minimum(opened, empty.size - 1)], colour)
        opened += black
    counts: Array = np.apply_along_axis(np.bincount, 1, balls, minlength=f.size)
    return counts


def plain(estimate: Estimate, populations: int, rng: np.random.Generator) -> float:
    """The mean R2 of one sample's populations in plain NumPy, all of them at once."""
    f = estimate.sample.counts
    if estimate.law == "polya":
        F = plain_polya(f, float(estimate.theta[0]), populations, rng)
    else:
        F = f + rng.multinomial(N - f.sum(), estimate.a / estimate.a.sum(), size=populations)
    return float(plain_r2(F, np.broadcast_to(f, F.shape)).mean())


def clock() -> Array:
    """Seconds on the wall, and of processors."""
    return np.array([time.perf_counter(), time.process_time()])


def speed(samples: int, populations: int) -> None:
    """Lines of the study against a plain NumPy loop over samples, in turns so that both meet the same machine."""
    rng = np.random.default_rng(16)
    drawn = rng.multivariate_hypergeometric(RELIGION.ravel(), 245, size=samples).reshape(-1, *RELIGION.shape)
    print(f"{samples:,} samples x {populations:,} populations, median of five turns, {workers()} threads")
    for model in (Multinomial(), Polya()):
        ours, slow, single = [], [], []
        few = 1 if isinstance(model, Polya) else 200
        for turn in range(5):
            begin = clock()
            estimates = [model.fit(f, N) for f in drawn]
            mean = draw_risks(estimates, populations).r2[turn].mean()
            ours.append(clock() - begin)
            begin = clock()
            beside = plain(estimates[turn], populations, rng)
            slow.append((clock() - begin) * samples)
            begin = clock()
            for _ in range(few):
                plain(estimates[turn], 1, rng)
            single.append((clock() - begin) * samples * populations / few)
            assert abs(mean - beside) < 0.01, "the two ways must give one answer"
        (a, a_used), (b, b_used), (c, _) = (np.median(x, axis=0) for x in (ours, slow, single))
        print(f"{type(model).__name__:12} {a:9,.2f} s, processor {a_used:.2f} s")
        print(
            f"  plain NumPy loop over samples {b:9,.1f} s, processor {b_used:.1f} s: ratio {b / a:.0f}; if no others "
            f"used the processors {b_used / a_used * workers():.0f}"
        )
        print(f"  plain NumPy, a table at a time {c:8,.0f} s: ratio {c / a:,.0f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GB")


def main() -> None:
    """All lines, then the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="100 samples x 100 populations")
    quick = parser.parse_args().quick
    size = (100, 100) if quick else (1000, 1000)
    print(f"R2 with weights (0.1, 0.8, 0.1), {size[0]} samples x {size[1]} populations: mean (sd)")
    draw_risks([Polya().fit(RELIGION // 2, N)], 10)  # loads or compiles
    good = []
    for title, lines, table in (
        ("UNECE15 Table 2: original | estimate", UNECE15, RELIGION),
        ("ASE15 Table 1: true population | estimated | R1 estimated", ASE15, RELIGION),
        ("Ant16 Table 4.8.1, on a synthetic third dimension: original | estimate", ANT16, three_way()),
    ):
        print(f"\n{title}")
        good += [run(line, table, *size) for line in lines]
    print(f"\n{'all judged lines agree with the print' if all(good) else 'SOME LINES DIFFER FROM THE PRINT'}\n")
    speed(*size)


if __name__ == "__main__":
    main()
