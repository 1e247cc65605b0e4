"""A whole certificate against the files it is of, and what it then proves, in words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .certificate_form import MEANING, VERDICTS, check_shape, require, sha256
from .plain_csv import matched_table
from .proofs import Measure
from .separate_claims import check_not_shown, judged_apart, named_as_in_file


def verify(certificate: Any, tables: list[Any]) -> str:
    """The verdict of a certificate on tables given as CSV; NotProvedError unless it follows, and is of all of them.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> done = dc.protect(table, dc.Suppress(dc.Threshold(3)))
    >>> verify(dc.audit(done).certificate().content, [done.release().to_csv()])
    'pass'
    """
    check_shape(certificate)
    require(certificate["seal"] == sha256({k: v for k, v in certificate.items() if k != "seal"}), "it was changed")
    files, left, read = certificate["files"], list(tables), []
    for number, entry in enumerate(files, 1):
        full = entry["dimensions"] and entry["columns"] and len(entry["columns"]) == len(entry["measures"])
        require(full and all(0 <= d <= 30 for d in entry["measures"].values()), "a file has no dimension or no measure")
        require(named_as_in_file(entry), "a measure is not called what its column is called")
        cells, table = next(((c, t) for t in left if (c := matched_table(t, entry)) is not None), (None, None))
        require(cells, f"table {number} is not among the files, or differs from the one that was certified")
        require(len(cells or ()) == entry["cells"], "a file has another number of cells")
        left = [t for t in left if t is not table] + [t for t in left if t is table][1:]
        read.append(cells)
    require(files and not left, "a file is given that the certificate says nothing of")
    names = [claim["measure"] for claim in certificate["measures"]]
    twice = next((name for name in names if names.count(name) > 1), None)
    require(twice is None, f"files are judged apart: more than one claim is of {twice!r}")
    claimed = [(t, claim["measure"]) for claim in certificate["measures"] for t in claim["tables"]]
    held = [(t, name) for t, entry in enumerate(files) for name in entry["measures"]]
    require(sorted(claimed) == sorted(held), "a column of a file is not claimed, or twice")
    used = all(
        any(d["name"] in files[t]["dimensions"] for t in m["tables"])
        for m in certificate["measures"]
        for d in m["dimensions"]
    )
    require(used, "a dimension is in no table")
    outsider = [one for one in certificate["intruders"] if one["verdict"] == "proved by the claims"]
    require(len(outsider) == 1, "the intruders do not name the one that the claims are of")
    words = [Measure(claim, files, read).verdict() for claim in certificate["measures"]]
    check_not_shown(certificate["measures"], files, read)
    words += [one["verdict"] for one in certificate["intruders"]] + [certificate["audit"]]
    apart = [why for _, why in judged_apart(certificate["measures"], files, read)]
    require(not apart or certificate["verdict"] != "pass", "".join(apart[:1]))
    words += ["unknown"] * len(apart[:1])
    verdict = next(word for word in VERDICTS if word in words)
    require(verdict == certificate["verdict"], "the verdict does not follow from the claims")
    return verdict


def what_is_proved(certificate: Any) -> list[str]:
    """What a certificate that was checked proves, under which assumptions, and what it states without proof.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> certificate = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3)))).certificate()
    >>> what_is_proved(certificate.content)[-1]
    'stated, not proved: the whole audit: pass'
    """
    words = [line for claim in certificate["measures"] for line in _explained(claim, certificate["files"])]
    told = {one["intruder"]: one["verdict"] for one in certificate["intruders"] if one["verdict"] in VERDICTS}
    words += [f"stated, not proved: {name!r}: {word}" for name, word in told.items()]
    return [*words, f"stated, not proved: the whole audit: {certificate['audit']}"]


def _explained(claim: Any, files: Any, most: int = 6) -> list[str]:
    words = [f"{claim['measure']!r}: {len(claim['cells'])} cells are not shown, or should not be"]
    words += [f"  {number} {name}: {MEANING[name]}" for name, number in claim["summary"].items() if number]
    for t in claim["tables"]:
        by = " x ".join(map(repr, files[t]["dimensions"]))
        words.append(f"  of file {t + 1} of {len(files)}: {by}, {files[t]['cells']} lines")
    for d in claim["dimensions"]:
        sums = [f"{code!r} of {len(of)}" for code, of in d["sums"].items()]
        more = f" and {len(sums) - most} more" if len(sums) > most else ""
        named = ", ".join(sums[:most]) or "none"
        words.append(f"  assumed: {d['name']!r} has {len(d['leaves'])} finest codes, and as sums {named}{more}")
    signs = "none is negative" if claim["least"] == 0 else "they may be negative"
    words.append(
        f"  assumed: of the finest cells {signs}"
        + ("; all are whole numbers" if claim["whole"] else "; fractions are possible")
    )
    if claim["implied"]:
        wide = {v: Fraction(high or 0) - Fraction(low or 0) for v, (low, high) in claim["implied"].items()}
        value = max(wide, key=lambda v: wide[v])
        low, high = claim["implied"][value]
        words.append(f"  assumed: values are changed; {value!r} stands for {low} to {high}, others for no more room")
    if claim["beforehand"]:
        words.append(f"  assumed: {len(claim['beforehand'])} cells are known, or bounded, beforehand")
    if asked := sum("need" in one for one in claim["cells"]):
        words.append(f"  assumed: the levels of {asked} cells are those that the rule asks for")
    return words + [f"  not judged: {text!r}" for text in claim["unjudged"]]
