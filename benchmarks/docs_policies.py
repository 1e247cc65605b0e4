"""Every policy in the documentation, attacked: does it hold, and if not, what is found?

    python benchmarks/docs_policies.py [PERSONS] [--most NUMBER] [--seconds EACH] [--page PART]

Takes the policies from the blocks and notebooks of docs/, runs the code of pages whose policies are about other data
than the census, and prints the table of docs/security.md: of the attacked populations the worst claims of
full records beside those of a model of the two-way tables, and the counts of 1 to 3 that least squares hit exactly
beside the best single number. A policy holds if neither is more than 5 points above; what may be chance is attacked
again under more secrets. A policy that a page shows because it fails has a title that says so.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from scipy.stats import binom

import discreet as dc
from discreet.errors import DiscreetError
from discreet.policy import Attack, Effort
from discreet.policy.attacks.claims import Claimed
from discreet.policy.pretabular import cube_of
from discreet.tables.table import Table

DOCS = Path(__file__).resolve().parent.parent / "docs"
SECRET = b"a secret that attackers do not know"
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.M | re.S)
STEP = ("[[method]]", "[[before]]")
POINTS = 0.05
LEVEL = 0.05
CHANCE = "unknown: may be chance"
SECRETS = 4  # where one leaves it to chance
FAILS = "FAILS"  # how the title of a policy begins that a page shows because it does not hold
EFFORT = Effort(chains=2, fewest=20_000, most=60_000, samples=100)


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
            yield from (text for text in texts_of(block) if any(step in text for step in STEP))


def texts_of(block: str) -> list[str]:
    """The texts in a block of Python; of one that is not Python, what follows its first line."""
    try:
        tree = ast.parse(re.sub(r"^[%!].*$", "", block, flags=re.M))
    except SyntaxError:
        return [re.sub(r"^%.*\n", "", block)]
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@dataclass(frozen=True)
class StatedPolicy:
    """A policy of a page, and the data that it is attacked on: the census, or where that has other variables those
    of the page, whose code is run up to there (which also registers methods of its own)."""

    page: Path
    text: str

    def measured(self, people: dc.Microdata, most: int, seconds: float) -> list[str]:
        """What is protected how, on which data, the two figures of the attack, and what follows."""
        try:
            policy, data = self._prepared(people)
            keyed = policy if "seed" in self.text else replace(policy, secret=SECRET)
            held = data if _changes_records(keyed) or isinstance(data, Table) else _cube(data)
            stated = policy.title.startswith(FAILS)
            found = figures(_report(held, keyed, most, seconds), stated)
            if found[-1] == CHANCE:
                found = figures(_report(held, keyed, most, SECRETS * seconds, SECRETS), stated)
        except DiscreetError as error:
            return ["-", "-", "-", "-", f"not attacked: {_first_words(error)}"]
        names = " and ".join(f"`{name}`" for name, _ in (*keyed.before, *keyed.methods) if name != "publish")
        return [names, "census" if data is people else "the page's", *found]

    def _prepared(self, people: dc.Microdata) -> tuple[dc.Policy, dc.Microdata | Table]:
        lines = [line for line in self.text.splitlines() if not line.strip().startswith("secret")]
        text = "\n".join(lines)
        try:
            policy = dc.policy.parse_policy(text)
            policy.check(people.dimensions)
            return policy, people
        except DiscreetError as error:
            for data in reversed(self._of_page()):
                policy = dc.policy.parse_policy(text)
                try:
                    policy.check(data.dimensions)
                except DiscreetError:
                    continue
                return policy, data
            raise error

    def _of_page(self) -> list[dc.Microdata | Table]:
        """Data that the page has made when it states the policy, oldest first."""
        known: dict[str, object] = {"__name__": "__main__"}
        with TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            for language, block in blocks(self.page):
                if language == "python":
                    with contextlib.suppress(FileNotFoundError):  # what a command of the page would have written
                        exec(compile(block, str(self.page), "exec"), known)
                if self.text in block or (language == "python" and self.text in texts_of(block)):
                    break
            found = [value for value in known.values() if isinstance(value, dc.Microdata | Table)]
            cubes = [
                cube_of(one) if isinstance(one, dc.Microdata) else one for one in found
            ]  # files go with the folder
            return [one for one in cubes if one.measure == "count"]


@cache
def _cube(people: dc.Microdata) -> Table:
    return cube_of(people)


def _report(held: dc.Microdata | Table, policy: dc.Policy, most: int, seconds: float, secrets: int = 1) -> Attack:
    asked = {"most": most, "secrets": secrets, "time_limit": seconds, "effort": EFFORT}
    return dc.policy.attack(held, policy, editions=False, targets=0, **asked)  # type: ignore[arg-type]


def _changes_records(policy: dc.Policy) -> bool:
    return any(dc.methods.contract(name).acts_on == "records" for name, _ in policy.before)


def _first_words(error: DiscreetError) -> str:
    """The beginning of a message, without signs that a table of the page would take for its own."""
    return str(error).splitlines()[0][:80].replace("`", "'").replace("|", "/")


def figures(report: Attack, stated: bool) -> list[str]:
    """Worst claims, exact counts, and whether the policy holds for what was attacked; ``stated``: its title says no."""
    every = [claim for one in report.populations for claim in one.claimed if claim.claims]
    worst = max(every, key=lambda one: one.precision - one.baseline_precision, default=None)
    shown = [(counts.exact, counts.single) for _, counts in report.counts if counts.small]
    exact, single = max(shown, key=lambda pair: pair[0] - pair[1], default=(0.0, 0.0))
    claims = "none" if worst is None else f"{worst.right} of {worst.claims}: {worst.precision:.0%}"
    claims += "" if worst is None else f" ({worst.baseline_precision:.0%})"
    left = [one.why for one in report.populations if one.why]
    above = [one for one in every if one.precision - one.baseline_precision > POINTS]
    verdict = "yes"
    if exact - single > POINTS or any(not _by_chance(one) for one in above):
        verdict = "no, as its title says" if stated else "**no**"
    elif above:
        verdict = CHANCE
    elif left or not report.counts:
        verdict = f"unknown: {left[0] if left else 'nothing was finished'}"
    return [claims, f"{exact:.0%} ({single:.0%})" if shown else "none", verdict]


def _by_chance(one: Claimed) -> bool:
    """Whether claims would be right so often in one case of twenty or more, if they were no better than is allowed."""
    allowed = min(one.baseline_precision + POINTS, 1.0)
    return bool(binom.sf(one.right - 1, one.claims, allowed) >= LEVEL)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("persons", nargs="?", type=int, default=40_000)
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--page", default="", help="only pages whose path holds this")
    given = parser.parse_args()
    people = dc.datasets.census(n=given.persons)
    print(
        f"{given.persons:,} persons; {given.most} categories under 2,000: the smallest, the largest, two broken down.\n"
    )
    print("| page | method | data | records (model) | counts 1 to 3 exact (single number) | holds |")
    print("|---|---|---|--:|--:|---|")
    known: dict[str, list[str]] = {}
    for page in sorted([*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]):
        for text in policies(page) if given.page in page.as_posix() else ():
            if text not in known:
                known[text] = StatedPolicy(page, text).measured(people, given.most, given.seconds)
            print(f"| {page.relative_to(DOCS).as_posix()} | {' | '.join(known[text])} |", flush=True)


if __name__ == "__main__":
    main()
