"""Every claim on one measure worked out again: witness tables added up, combinations of cells multiplied out."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor, prod
from typing import Any

from .certificate_form import FINDINGS, require


def inside(one: list[Any], other: list[Any]) -> list[Any]:
    """What two pairs of bounds leave together; None is no bound."""
    low, high = ([end for end in (one[k], other[k]) if end is not None] for k in (0, 1))
    return [max(low, default=None), min(high, default=None)]


class Measure:
    """One measure, in units of its last decimal. A cell is (table, codes); (-1, number) is an inner cell."""

    def __init__(self, claim: Any, files: list[Any], read: list[Any]) -> None:
        self.claim, self.entries = claim, [files[t] for t in claim["tables"]]
        require(not claim["whole"] or claim["decimals"] == 0, "whole numbers have decimals")
        places = [entry["measures"][claim["measure"]] for entry in self.entries]
        require(claim["decimals"] == max(places, default=None), "a claim has other decimals than its files")
        require(claim["whole"] or claim["measure"] != "count", "counts are not taken to be whole numbers")
        self.parts: dict[str, Any] = {}  # of each dimension, code by code: which of its finest codes, and their sign
        for d in claim["dimensions"]:
            number = {leaf: n for n, leaf in enumerate(d["leaves"])}
            require(number and len(number) == len(d["leaves"]) and not set(number) & set(d["sums"]), "a code is double")
            known = all(s and set(s) <= set(number) and 0 not in s.values() for s in d["sums"].values())
            require(known and d["total"] in (None, *d["sums"], *number), "a sum is of codes that do not exist")
            sums = {code: [(number[leaf], s) for leaf, s in of.items()] for code, of in d["sums"].items()}
            every = [(n, 1) for n in number.values()]
            self.parts[d["name"]] = sums | {leaf: [(n, 1)] for leaf, n in number.items()} | {None: every}
        require(len(self.parts) == len(claim["dimensions"]), "a claim has a dimension twice")
        self.size = prod(len(d["leaves"]) for d in claim["dimensions"])
        require(self.size <= 5_000_000, "there are more than five million finest cells")
        self.bounds: dict[Any, list[Any]] = {}
        self.hidden: set[Any] = set()
        self.doubts: list[str] = list(claim["unjudged"])
        for t, entry in enumerate(self.entries):
            self._take(t, entry, read[claim["tables"][t]])
        for t, name, *ends in claim["beforehand"]:
            exists = 0 <= name < self.size if t == -1 and type(name) is int else t >= 0 and type(name) is list
            require(exists, "something is known beforehand of a cell that does not exist")
            cell = (t, name if t < 0 else tuple(name))
            self.bounds[cell] = inside(self.bounds_of(cell), [end if end is None else Fraction(end) for end in ends])
        self.hidden -= {cell for cell in self.hidden if cell not in self.bounds and self._impossible(cell)}
        self.claims = {(one["table"], tuple(one["cell"])): one for one in claim["cells"]}
        require(len(self.claims) == len(claim["cells"]), "two claims are of one cell")
        self.holds: dict[int, list[Any]] = {}  # inner cell: the cells it is part of
        for cell in self.bounds | self.claims:
            for number_of, sign in self.inner_of(cell).items() if cell[0] >= 0 else ():
                self.holds.setdefault(number_of, []).append((cell, sign))

    def _take(self, t: int, entry: Any, cells: Any) -> None:
        """The bounds that a file gives its cells, and which of them it hides: also by leaving out their lines."""
        place, scale = 1 + list(entry["measures"]).index(self.claim["measure"]), self.claim["decimals"]
        require(scale >= entry["measures"][self.claim["measure"]], "a file has more decimals than its claim")
        scale = 10 ** (scale - entry["measures"][self.claim["measure"]])
        for codes, row in cells.items():
            ends = [end if end is None else end * scale for end in row[place]]
            if ends[0] == ends[1] is not None and self.claim["implied"] is not None:
                wide = self.claim["implied"].get(str(ends[0]))
                require(wide, "a table shows a value of which it is not stated what it implies")
                ends = [end if end is None else Fraction(end) for end in wide]
            if ends != [None, None]:
                self.bounds[t, codes] = ends
            if row[0] not in ("", "c"):
                self.doubts.append(f"what the mark {row[0]!r} means")
            if row[0] or ends[0] != ends[1] or ends[0] is None:
                self.hidden.add((t, codes))
        kinds = {tuple(self._kind(n, c) for n, c in zip(entry["dimensions"], codes, strict=True)) for codes in cells}
        seen = [dict.fromkeys(codes[k] for codes in cells) for k in range(len(entry["dimensions"]))]
        for kind in kinds:
            named = zip(entry["dimensions"], kind, seen, strict=True)
            for codes in product(*([c for c in some if self._kind(name, c) == level] for name, level, some in named)):
                if codes not in cells:
                    self.hidden.add((t, codes))
        if self.claim["implied"] is None:
            self.doubts += undeclared(entry, {c: self.bounds.get((t, c), [None])[0] for c in cells}, self.claim)

    def _kind(self, name: str, code: str) -> int:
        d = next((d for d in self.claim["dimensions"] if d["name"] == name), None)
        require(d and code in self.parts[name], "a code of a table is not among those of its dimension")
        return 0 if d and code == d["total"] else 1 if d and code in d["sums"] else 2

    def _impossible(self, cell: Any) -> bool:
        return all(self.bounds.get((-1, n)) == [0, 0] for n in self.inner_of(cell))

    def bounds_of(self, cell: Any) -> list[Any]:
        """The least and greatest value that everybody knows of a cell; None where there is no bound."""
        return self.bounds.get(cell, [self.claim["least"] if cell[0] < 0 else None, None])

    def inner_of(self, cell: Any) -> dict[int, int]:
        """The inner cells of a cell, by their number in the product of all finest codes, each with its sign."""
        require(0 <= cell[0] < len(self.entries), "a table has no number")
        names = self.entries[cell[0]]["dimensions"]
        known = len(names) == len(cell[1]) and set(names) <= set(self.parts)
        require(known, "a dimension of a table is not among those of its claim")
        codes, total = dict(zip(names, cell[1], strict=True)), {0: 1}
        for name, parts in self.parts.items():
            require(codes.get(name) in parts, "a code of a table is not among those of its dimension")
            of, size = parts[codes.get(name)], len(parts[None])
            total = {n * size + leaf: a * s for n, a in total.items() for leaf, s in of}
        return total

    def witness(self, base: dict[Any, Any], divisor: int, numbers: list[int], amounts: list[int]) -> dict[Any, Any]:
        """A witness table where it differs from ``base``: inner cells and the cells they add up to, all checked."""
        require(divisor == 1 or (divisor > 1 and not self.claim["whole"]), "a witness is not in whole numbers")
        order = numbers == sorted(set(numbers)) and all(0 <= n < self.size for n in numbers[:1] + numbers[-1:])
        require(order and len(numbers) == len(amounts), "a witness table has cells that do not exist, or one twice")
        totals: dict[Any, Any] = {}
        for number, amount in zip(numbers, amounts, strict=True):
            change = amount if divisor == 1 else Fraction(amount, divisor)
            for cell, sign in ((-1, number), 1), *self.holds.get(number, ()):
                totals[cell] = totals.get(cell, base.get(cell, 0)) + sign * change
        for cell in totals if base else self.bounds | totals:
            (low, high), value = self.bounds_of(cell), totals.get(cell, 0)
            fits = (low is None or low <= value) and (high is None or value <= high)
            require(fits, "a witness table is not what is published")
        return totals

    def reached(self) -> dict[Any, Any] | None:
        """The least and greatest value of every cell that a witness table fills; None if there is no witness."""
        if self.claim["base"] is None:
            require(not self.claim["moves"], "witness tables differ from one that is not there")
            return None
        base = self.witness({}, *self.claim["base"])
        ends = {cell: (value, value) for cell, value in base.items()}
        for move in self.claim["moves"]:
            for cell, value in self.witness(base, *move).items():
                low, high = ends.get(cell, (0, 0))
                ends[cell] = min(low, value), max(high, value)
        return ends

    def bound(self, cell: Any, side: int, stated: Any, divisor: int, terms: Any) -> Fraction:
        """The least (side 0) or greatest (1) value of a cell, by a combination of cells and the bounds of the rest."""
        require(divisor > 0, "a combination of cells has no divisor")
        factors: dict[Any, Any] = {(t, tuple(codes)): Fraction(amount, divisor) for amount, t, codes in terms}
        require(len(factors) == len(terms), "a combination of cells has one of them twice")
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
        require(self.hidden <= set(self.claims), "nothing is claimed of a hidden cell")
        reached, counts = self.reached(), dict.fromkeys(FINDINGS, 0)
        for cell, one in self.claims.items():
            low, high = (0, 0) if reached is None else reached.get(cell, (0, 0))
            asked = [Fraction(end) for end in one.get("need", ())]
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
        return "fail" if fails else "unknown" if counts["unknown"] or self.doubts or not self.claims else "pass"


def undeclared(entry: Any, shown: dict[Any, Any], claim: Any) -> list[str]:
    """Finest codes that are the sum of all others, or of those that begin alike, in every line that shows them all."""
    words = []
    for k, name in enumerate(entry["dimensions"]):
        leaves = [code for d in claim["dimensions"] if d["name"] == name for code in d["leaves"]]
        lines: dict[Any, dict[str, Any]] = {}
        for codes, value in shown.items():
            lines.setdefault(codes[:k] + codes[k + 1 :], {})[codes[k]] = value
        finest = [c for c in leaves if any(c in line for line in lines.values())]
        for code in finest:
            for rest in [c for c in finest if c != code], [c for c in finest if c != code and c.startswith(code)]:
                some = lines.values() if rest[1:] else ()
                full = [line for line in some if all(line.get(c) is not None for c in (code, *rest))]
                fits = all(line[code] == sum(line[c] for c in rest) for line in full)
                if fits and len([line for line in full if line[code]]) > 2:
                    words.append(f"{code!r} of {name!r} looks like a sum and is called a finest code")
    return list(dict.fromkeys(words))
