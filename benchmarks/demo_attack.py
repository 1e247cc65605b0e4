"""The attack on small populations of the demo: full records claimed, and those of a model of the two-way tables.

    python benchmarks/demo_attack.py [PERSONS] [--most NUMBER]

Prints a table of docs/security.md: claims above a probability of 0.8, for categories under 2,000 people.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from importlib import resources

import discreet as dc
from discreet.policy.pretabular import cube_of

SECRET = b"a secret that attackers do not know"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=1_500_000)
    parser.add_argument("--most", type=int, default=5)
    given = parser.parse_args()
    demo = resources.files("discreet.server").joinpath("demo.toml").read_text(encoding="utf-8")
    text = "\n".join(line for line in demo.splitlines() if not line.startswith("secret"))
    policy = replace(dc.policy.parse_policy(text), secret=SECRET)
    cube = cube_of(dc.datasets.census(n=given.persons))
    report = dc.policy.attack(cube, policy, most=given.most, editions=False, targets=0)
    print(f"{given.persons:,} persons; {report.requests:,} requests, {report.refused:,} of them refused, ", end="")
    print(f"{report.cells:,} different cells; verdict {report.verdict_words}.\n")
    against = [f"{name} ({verdict.value})" for name, verdict in report.judged if not verdict.ok]
    print(f"Not a pass: {'; '.join(against) or 'nothing'}.\n")
    print("| population | people | claimed | right | two-way model |\n|---|--:|--:|--:|--:|")
    for one in report.populations:
        claimed = next((claim for claim in one.claimed if claim.probability == 0.8), None)
        if claimed is None or not claimed.claims:
            print(f"| {one.name} | {one.people:,} | {'not attacked' if claimed is None else 0} | - | - |")
        else:
            figures = f"{claimed.claims:,} | {claimed.precision:.0%} | {claimed.baseline_precision:.0%}"
            print(f"| {one.name} | {one.people:,} | {figures} |")
    for size, counts in report.counts:
        print(f"\nCounts of 1 to 3, {size} variables: {counts.exact:.0%} exact after least squares ", end="")
        print(f"(as shown {counts.exact_shown:.0%}, best single number {counts.single:.0%}).")


if __name__ == "__main__":
    main()
