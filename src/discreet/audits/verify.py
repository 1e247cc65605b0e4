"""Check a certificate against the tables it is about: ``python verify.py certificate.json table.csv ...``

This file stands alone: exact fractions, nothing of the program that made the certificate. It adds every witness table
up and compares it with what is published, and works out every combination of published cells that is said to give a
hidden one away. Exit code 0: all is proved and the verdict is pass; 1: it is not; 2: a file cannot be read.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import sys
from fractions import Fraction
from math import ceil, floor
from operator import index
from pathlib import Path
from typing import Any

FINDINGS = ("exact", "stated", "narrow", "open", "unknown")  # stated: exact, and no proof of it is here


class NotProvedError(Exception):
    """The certificate does not prove what it says; the message says where."""


def require(holds: object, problem: str) -> None:
    if not holds:
        raise NotProvedError(problem)


def sha256(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_cells(text: str, entry: Any, decimals: int) -> tuple[dict[Any, Any], str]:
    """{codes: (units of the last decimal or None, mark)} of one CSV, and the digest of what it publishes."""
    columns = [*entry["dimensions"], entry["value"], entry["status"]]
    readers = [csv.DictReader(io.StringIO(text, newline=""), delimiter=sign) for sign in ",;\t"]
    cells: dict[Any, Any] = {}
    for row in next((r for r in readers if set(columns) <= set(r.fieldnames or ())), ()):
        *codes, shown, mark = (row[name] or "" for name in columns)
        value = Fraction(shown) * 10**decimals if shown.strip() else None
        require(tuple(codes) not in cells, "a cell stands on two lines of a table")
        require(value is None or value.denominator == 1, "a value has more decimals than the certificate states")
        cells[tuple(codes)] = (None if value is None else int(value), mark)
    return cells, sha256([columns, decimals, sorted([*codes, *map(str, held)] for codes, held in cells.items())])


class Measure:
    """One measure, in units of its last decimal. A cell is (table, codes); (-1, number) is an inner cell."""

    def __init__(self, claim: Any, texts: list[str]) -> None:
        self.claim, hidden = claim, set()
        require(claim["least"] in (0, None), "inner cells are at least zero, or without a bound")
        known = {(t, tuple(cell) if t >= 0 else cell): ends for t, cell, *ends in claim["beforehand"]}
        for t, entry in enumerate(claim["tables"]):
            read = (read_cells(text, entry, claim["decimals"]) for text in texts)
            cells = next((cells for cells, digest in read if digest == entry["sha256"]), {})
            require(cells, f"table {t + 1} is not among the files, or differs from the one that was certified")
            hidden |= {(t, codes) for codes, (value, mark) in cells.items() if value is None or mark == "c"}
            shown = {(t, codes): value for codes, (value, _) in cells.items() if value is not None}
            known |= {cell: claim["implied"][str(v)] if claim["implied"] else (v, v) for cell, v in shown.items()}
            hidden |= {cell for cell in shown if known[cell][0] != known[cell][1]}
        plain = (int, type(None))
        self.bounds = {c: [e if isinstance(e, plain) else Fraction(e) for e in ends] for c, ends in known.items()}
        self.claims = {(one["table"], tuple(one["cell"])): one for one in claim["cells"]}
        require(hidden <= set(self.claims), "nothing is claimed of a hidden cell")
        require(len(self.claims) == len(claim["cells"]), "two claims are of one cell")
        self.holds: dict[int, list[Any]] = {}  # inner cell: the cells it is part of
        for cell in self.bounds | self.claims:
            for number, sign in self.inner_of(cell).items() if cell[0] >= 0 else ():
                self.holds.setdefault(number, []).append((cell, sign))

    def bounds_of(self, cell: Any) -> list[Any]:
        """The least and greatest value that everybody knows of a cell; None where there is no bound."""
        return self.bounds.get(cell, [self.claim["least"] if cell[0] < 0 else None, None])

    def inner_of(self, cell: Any) -> dict[int, int]:
        """The inner cells of a cell, by their number in the product of all finest codes, each with its sign."""
        require(cell[0] >= 0, "a table has no number")
        codes, total = dict(zip(self.claim["tables"][cell[0]]["dimensions"], cell[1], strict=True)), {0: 1}
        for d in self.claim["dimensions"]:
            leaves, code = {leaf: n for n, leaf in enumerate(d["leaves"])}, codes.pop(d["name"], None)
            parts = dict.fromkeys(leaves, 1) if code is None else d["sums"].get(code) or {code: 1}
            total = {n * len(leaves) + leaves[leaf]: a * s for n, a in total.items() for leaf, s in parts.items()}
        require(not codes, "a dimension of a table is not explained")
        return total

    def witness(self, base: dict[Any, Any], divisor: int, numbers: list[int], amounts: list[int]) -> dict[Any, Any]:
        """A witness table where it differs from ``base``: inner cells and the cells they add up to, all checked."""
        require(divisor == 1 or not self.claim["whole"], "a witness of counts is not in whole numbers")
        totals: dict[Any, Any] = {}
        for number, amount in zip(numbers, amounts, strict=True):
            change = index(amount) if divisor == 1 else Fraction(amount, divisor)
            for cell, sign in ((-1, number), 1), *self.holds.get(number, ()):
                totals[cell] = totals.get(cell, base.get(cell, 0)) + sign * change
        for cell in totals if base else self.bounds | totals:
            (low, high), value = self.bounds_of(cell), totals.get(cell, 0)
            fits = (low is None or low <= value) and (high is None or value <= high)
            require(fits, "a witness table is not what is published")
        return totals

    def reached(self) -> dict[Any, Any]:
        """The least and greatest value of every cell that a witness table fills."""
        base = self.witness({}, *self.claim["base"])
        ends = {cell: (value, value) for cell, value in base.items()}
        for move in self.claim["moves"]:
            for cell, value in self.witness(base, *move).items():
                low, high = ends.get(cell, (0, 0))
                ends[cell] = min(low, value), max(high, value)
        return ends

    def bound(self, cell: Any, side: int, stated: Any, divisor: int, terms: Any) -> Fraction:
        """The least (side 0) or greatest (1) value of a cell, by a combination of cells and the bounds of the rest."""
        factors: dict[Any, Any] = {(t, tuple(codes)): Fraction(amount, divisor) for amount, t, codes in terms}
        total = Fraction(0)
        for other, times in [(cell, -1), *factors.items()]:
            for n, sign in self.inner_of(other).items():
                factors[-1, n] = factors.get((-1, n), 0) - times * sign
        for other, factor in factors.items():
            end = self.bounds_of(other)[side if factor > 0 else 1 - side] if factor else 0
            require(end is not None, "a combination of cells says nothing of the cell")
            total += factor * end
        require(total == Fraction(stated), "a combination of cells gives another bound")
        return total

    def verdict(self) -> str:
        """Every claim worked out again; NotProvedError if one does not follow."""
        reached, counts = self.reached(), dict.fromkeys(FINDINGS, 0)
        for cell, one in self.claims.items():
            (low, high), asked = reached.get(cell, (0, 0)), [Fraction(end) for end in one.get("need", ())]
            require([str(low), str(high)] == one["reached"], "a claim is not what the witness tables reach")
            two = floor(high) > ceil(low)
            far = two and (not asked or (low <= asked[0] and high >= asked[1] and high - low >= asked[2]))
            ends = [self.bound(cell, side, *proof) for side, proof in enumerate(one.get("proof", ()))]
            single = len(ends) == 2 and floor(ends[1]) <= ceil(ends[0])
            right = {"exact": single, "stated": not two, "narrow": asked and not far, "open": far, "unknown": not far}
            require(right[one["finding"]], "a finding does not follow from witnesses or combination")
            counts[one["finding"]] += 1
        require(counts == self.claim["summary"], "the summary counts other cells")
        fails = counts["exact"] + counts["stated"] + counts["narrow"]
        return "fail" if fails else "unknown" if counts["unknown"] or self.claim["unjudged"] else "pass"


def verify(certificate: Any, texts: list[str]) -> str:
    """The verdict of a certificate on tables given as CSV texts; NotProvedError unless it follows."""
    require(certificate["seal"] == sha256({k: v for k, v in certificate.items() if k != "seal"}), "it was changed")
    words = [Measure(claim, texts).verdict() for claim in certificate["measures"]]
    words += [one["verdict"] for one in certificate["intruders"] if one["verdict"] in ("fail", "unknown")]
    verdict = next((word for word in ("fail", "unknown") if word in words), "pass" if words else "unknown")
    require(verdict == certificate["verdict"], "the verdict does not follow from the claims")
    return verdict


def _main(arguments: list[str]) -> int:
    try:
        data = [Path(name).read_bytes() for name in arguments]
        texts = [(gzip.decompress(d) if d[:2] == b"\x1f\x8b" else d).decode("utf-8-sig") for d in data]
        certificate = json.loads(texts[0])
    except (OSError, EOFError, ValueError, IndexError) as error:
        sys.stderr.write(f"{type(error).__name__}: give a certificate (JSON) and the tables (CSV) it is about\n")
        return 2
    try:
        verdict = verify(certificate, texts[1:])
    except (NotProvedError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = error if isinstance(error, NotProvedError) else f"it is not well formed ({type(error).__name__})"
        sys.stdout.write(f"not proved: {reason}\n")
        return 1
    sys.stdout.write(f"proved; verdict: {verdict}\n")
    return 0 if verdict == "pass" else 1


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
