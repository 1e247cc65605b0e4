"""Every policy in the documentation, attacked: does it hold, and if not, what is found?

    python benchmarks/docs_policies.py [PERSONS] [--most NUMBER] [--seconds EACH]

Takes the policies from the blocks and notebooks of docs/, and prints the table of docs/security.md: of the attacked
populations the worst claims of full records beside those of a model of the two-way tables, and the counts of 1 to 3
that least squares hit exactly beside the best single number. A policy holds if neither is more than 5 points above.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import discreet as dc
from discreet.errors import DiscreetError
from discreet.policy import Attack, Effort
from discreet.policy.pretabular import cube_of
from discreet.tables.table import Table

DOCS = Path(__file__).resolve().parent.parent / "docs"
SECRET = b"a secret that attackers do not know"
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.M | re.S)
STEP = ("[[method]]", "[[before]]")
POINTS = 0.05
QUICK = Effort(chains=2, fewest=20_000, most=60_000, samples=100)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The blocks of code of a page or notebook, each with its language."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            yield "python", "".join(cell["source"])
    else:
        yield from BLOCK.findall(text)


def policies(page: Path) -> Iterator[str]:
    """The policies that a page states: as TOML, and as texts in Python."""
    for language, block in blocks(page):
        if language in ("toml", "text") and any(step in block for step in STEP):
            yield block
        if language == "python" and any(step in block for step in STEP):
            try:
                tree = ast.parse(re.sub(r"^[%!].*$", "", block, flags=re.M))
            except SyntaxError:
                yield re.sub(r"^%.*\n", "", block)
                continue
            texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
            yield from (text for text in texts if isinstance(text, str) and any(step in text for step in STEP))


def measured(cube: Table, text: str, most: int, seconds: float) -> list[str]:
    """What is protected how, the two figures of the attack, and what follows."""
    lines = [line for line in text.splitlines() if not line.strip().startswith("secret")]
    try:
        policy = dc.policy.parse_policy("\n".join(lines))
        keyed = policy if "seed" in text else replace(policy, secret=SECRET)
        report = dc.policy.attack(cube, keyed, most=most, editions=False, targets=0, effort=QUICK, time_limit=seconds)
    except DiscreetError as error:
        return ["-", "-", "-", f"not attacked: {_first_words(error)}"]
    names = " and ".join(f"`{name}`" for name, _ in (*keyed.before, *keyed.methods) if name != "publish")
    return [names, *figures(report)]


def _first_words(error: DiscreetError) -> str:
    """The beginning of a message, without signs that a table of the page would take for its own."""
    return str(error).splitlines()[0][:80].replace("`", "'").replace("|", "/")


def figures(report: Attack) -> list[str]:
    """Worst claims, exact counts, and whether the policy holds for what was attacked."""
    every = [claim for one in report.populations for claim in one.claimed if claim.claims]
    worst = max(every, key=lambda one: one.precision - one.baseline_precision, default=None)
    shown = [(counts.exact, counts.single) for _, counts in report.counts]
    exact, single = max(shown, key=lambda pair: pair[0] - pair[1], default=(0.0, 0.0))
    beyond = 0.0 if worst is None else worst.precision - worst.baseline_precision
    claims = "none" if worst is None else f"{worst.right} of {worst.claims}: {worst.precision:.0%}"
    claims += "" if worst is None else f" ({worst.baseline_precision:.0%})"
    holds = beyond <= POINTS and exact - single <= POINTS
    return [claims, f"{exact:.0%} ({single:.0%})", "yes" if holds else "**no**"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    cube = cube_of(dc.datasets.census(n=given.persons))
    print(f"{given.persons:,} persons, the {given.most} smallest categories.\n")
    print("| page | method | records (model) | counts 1 to 3 exact (single number) | holds |\n|---|---|--:|--:|---|")
    known: dict[str, list[str]] = {}
    for page in sorted([*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]):
        for text in policies(page):
            if text not in known:
                known[text] = measured(cube, text, given.most, given.seconds)
            print(f"| {page.relative_to(DOCS).as_posix()} | {' | '.join(known[text])} |", flush=True)


if __name__ == "__main__":
    main()
