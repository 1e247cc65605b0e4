"""A certificate: what was published, who was tried on it, and proofs of what an outsider can and cannot work out.

The proofs are witness tables (two that differ at a cell show that it is not known) and combinations of published cells
(which show that it is). They are functions of what is published alone. ``audits/verify.py`` checks them by itself.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.audits.certificate_claims import Audited, claim_of
from discreet.audits.intruders import NOT_TRIED, OUTSIDER, all_intruders
from discreet.audits.verify import FINDINGS, NotProvedError, sha256, verify
from discreet.base.files import check_suffix, write_whole
from discreet.base.verdicts import Verdict
from discreet.base.version import described
from discreet.errors import InputError, Unjudged
from discreet.release import Protected, Release, csv_head, csv_pieces

FORMAT = "discreet certificate 1"
NOT_STATED = "not stated"


@dataclass(frozen=True, eq=False)
class Certificate:
    """A certificate as plain data, checked when it was made. Confidential only where ``confidential`` says so."""

    content: Mapping[str, Any]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claims."""
        return Verdict(self.content["verdict"])

    @property
    def confidential(self) -> bool:
        """Whether it states protection levels, which are measured from the true values."""
        return bool(self.content["confidential"])

    def to_json(self, path: str | Path | None = None) -> bytes:
        """For the checker: JSON, compressed if the path ends in .gz. Written if a path is given."""
        check_suffix(path, (".json", ".gz"), "a certificate")
        data = (json.dumps(self.content, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        if path is not None:
            packed = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
            write_whole(path, packed, private=self.confidential)
        return data

    def to_html(self, path: str | Path | None = None) -> str:
        """One page to print and file. Written if a path is given."""
        from discreet.audits.certificate_page import page_of

        check_suffix(path, (".html", ".htm"), "a certificate to print")
        page = page_of(self.content)
        if path is not None:
            write_whole(path, page.encode(), private=self.confidential)
        return page

    def check(self, *tables: str | bytes) -> str:
        """The verdict, worked out again from tables as CSV; ``NotProvedError`` unless it follows."""
        return verify(self.content, [t.decode("utf-8-sig") if isinstance(t, bytes) else t for t in tables])

    def __repr__(self) -> str:
        counts = Counter[str]()
        for measure in self.content["measures"]:
            counts.update(measure["summary"])
        cells = ", ".join(f"{counts[name]:,} {name}" for name in FINDINGS if counts[name])
        kind = "confidential" if self.confidential else "open"
        return f"Certificate({self.verdict.value}; {kind}; {cells or 'no cell'})"


def certified(report: Audited, *, confidential: bool = False, intervals: bool = False, date: str = "") -> Certificate:
    """The certificate of an audit.

    The open copy (default) holds nothing but functions of the release. A ``confidential`` one states how far every
    cell must reach, which follows from its true value, and what other intruders than the outsider were found to know.
    ``intervals``: prove the least and greatest value of every cell, not only that there are two: slower.
    """
    measures: list[dict[str, Any]] = []
    every: dict[str, Release] = {}
    for one in _each_measure(report):
        releases = [r.release() if isinstance(r, Protected) else r for r in one.released]
        if not releases:
            raise InputError("a certificate is of what is published, by its own names: audit a Protected or a Release")
        texts = [_text(release) for release in releases]
        every |= dict(zip(texts, releases, strict=True))
        measures.append(claim_of(one, releases, texts, confidential, intervals))
    content: dict[str, Any] = {
        "format": FORMAT,
        "program": f"discreet {described()}",
        "date": date,
        "confidential": confidential,
        "method": sorted({release.method for release in every.values()} - {""}),
        "rule": _rules(report) if confidential else NOT_STATED,
        "levels": _levels(report) if confidential else NOT_STATED,
        "measures": measures,
        "intruders": _intruders(report, confidential),
    }
    words = [_verdict(claim) for claim in measures]
    words += [row["verdict"] for row in content["intruders"] if row["verdict"] in ("fail", "unknown")]
    content["verdict"] = next((word for word in ("fail", "unknown") if word in words), "pass")
    content["seal"] = sha256(content)
    try:
        verify(content, list(every))
    except NotProvedError as error:
        raise Unjudged(f"the certificate does not hold when it is checked ({error}); nothing is certified") from None
    return Certificate(content)


def _each_measure(report: Audited) -> list[Audited]:
    """One audit for each measure; a second one of the same measure is about cells that stand in no file."""
    each: dict[str, Audited] = {}
    for one in (report, *report.others):
        if each.setdefault(one.view.measure, one) is not one and np.isin(one.finding, ["exact", "narrow"]).any():
            raise InputError("cells that stand in no file are known from it; a certificate is of the cells of its file")
    return list(each.values())


def _text(release: Release) -> str:
    """The release as CSV, also where a value stands in a cell that is marked: such a table has to be judged, too."""
    return b"".join([csv_head(release), *csv_pieces(release)]).decode()


def _verdict(claim: Mapping[str, Any]) -> str:
    summary = claim["summary"]
    if summary["exact"] + summary["stated"] + summary["narrow"]:
        return "fail"
    return "unknown" if summary["unknown"] or claim["unjudged"] else "pass"


def _rules(report: Audited) -> str:
    rules = [str(r.details["rule"]) for r in report.released if isinstance(r, Protected) and "rule" in r.details]
    return "; ".join(dict.fromkeys(rules)) or "none"


def _levels(report: Audited) -> str:
    if report.need is None:
        return "none: no cell may be known exactly"
    return "stated for every cell: how low and how high it must be able to be, and how wide"


def _intruders(report: Audited, confidential: bool) -> list[dict[str, Any]]:
    """Who was tried. What others than the outsider know follows from the truth; what he knows is proved by claims."""
    verdicts = {one.name: "fail" if one.exposed else "unknown" if one.unknown else "pass" for one in report.intruders}
    rows = []
    for row in all_intruders(report.intruders):
        name = row["intruder"]
        if name == OUTSIDER:
            row = {"intruder": name, "verdict": "proved by the claims"}
        elif row["cells"] == NOT_TRIED:
            row = {"intruder": name, "verdict": NOT_TRIED}
        else:
            row = {**row, "verdict": verdicts[name]} if confidential else {"intruder": name, "verdict": NOT_STATED}
        rows.append(
            {k: v if isinstance(v, str) or (v == v and abs(v) != float("inf")) else str(v) for k, v in row.items()}
        )
    return rows
