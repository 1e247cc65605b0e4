"""A certificate: what was published, who was tried on it, and proofs of what an outsider can and cannot work out.

The proofs are witness tables (two that differ at a cell show that it is not known) and combinations of published cells
(which show that it is). They are functions of what is published alone. ``audits/verify`` checks them by itself.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.audits.certificate_claims import Audited, claim_of
from discreet.audits.certificate_files import NotAudited, file_entry, file_rows, file_text
from discreet.audits.intruders import NOT_TRIED, OUTSIDER, all_intruders
from discreet.audits.verify import (
    FINDINGS,
    VERDICTS,
    MalformedError,
    Measure,
    NotProvedError,
    judged_apart,
    sha256,
    verify,
)
from discreet.base.files import check_suffix, write_whole
from discreet.base.verdicts import Verdict
from discreet.base.version import described
from discreet.errors import InputError, Unjudged
from discreet.release import Protected, Release

FORMAT = "discreet certificate 2"
NOT_STATED = "not stated"


@dataclass(frozen=True, eq=False)
class Certificate:
    """A certificate as plain data, checked when it was made. Confidential only where ``confidential`` says so.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
    >>> report.certificate()
    Certificate(pass; open; 4 open)
    """

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
        """For the checker: JSON, compressed if the path ends in .gz. Written if a path is given.

        >>> import json
        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> json.loads(report.certificate(date="2026-01-31").to_json())["date"]
        '2026-01-31'
        """
        check_suffix(path, (".json", ".gz"), "a certificate")
        data = (json.dumps(self.content, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        if path is not None:
            packed = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
            write_whole(path, packed, private=self.confidential)
        return data

    def to_html(self, path: str | Path | None = None) -> str:
        """One page to print and file. Written if a path is given.

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> report = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3))))
        >>> report.certificate().to_html()[:15]
        '<!doctype html>'
        """
        from discreet.audits.certificate_page import page_of

        check_suffix(path, (".html", ".htm"), "a certificate to print")
        page = page_of(self.content)
        if path is not None:
            write_whole(path, page.encode(), private=self.confidential)
        return page

    def check(self, *tables: str | bytes) -> str:
        """The verdict, worked out again from tables as CSV; ``NotProvedError`` unless it follows.

        >>> import discreet as dc
        >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
        >>> done = dc.protect(table, dc.Suppress(dc.Threshold(3)))
        >>> dc.audit(done).certificate().check(done.release().to_csv())
        'pass'
        """
        return verify(self.content, list(tables))

    def __repr__(self) -> str:
        counts = Counter[str]()
        for measure in self.content["measures"]:
            counts.update(measure["summary"])
        cells = ", ".join(f"{counts[name]:,} {name}" for name in FINDINGS if counts[name])
        kind = "confidential" if self.confidential else "open"
        return f"Certificate({self.verdict.value}; {kind}; {cells or 'no cell'})"


def certified(
    report: Audited, verdict: Verdict, *, confidential: bool = False, intervals: bool = False, date: str = ""
) -> Certificate:
    """The certificate of an audit and its verdict, than which it is not better.

    The open copy (default) holds nothing but functions of the release. A ``confidential`` one states how far every
    cell must reach, which follows from its true value, and what other intruders than the outsider were found to know.
    ``intervals``: prove the least and greatest value of every cell, not only that there are two: slower.
    """
    releases, each = _releases(report), _each_measure(report)
    files = [file_entry(release) for release in releases]
    for name in dict.fromkeys(name for release in releases for name in release.values):
        if name not in each:
            each[name] = NotAudited.of(releases, name)
    measures = [claim_of(one, releases, files, confidential, intervals) for one in each.values()]
    read = [file_rows(release, entry) for release, entry in zip(releases, files, strict=True)]
    for number, why in judged_apart(measures, files, read):
        measures[number]["unjudged"].append(why)
    content: dict[str, Any] = {
        "format": FORMAT,
        "program": f"discreet {described()}",
        "date": date,
        "confidential": confidential,
        "method": sorted({release.method for release in releases} - {""}),
        "rule": _rules(report) if confidential else NOT_STATED,
        "levels": _levels(report) if confidential else NOT_STATED,
        "files": files,
        "measures": measures,
        "intruders": _intruders(report, confidential),
        "audit": verdict.value,
    }
    words = [Measure(claim, files, read).verdict() for claim in measures]
    words += [content["audit"], *(row["verdict"] for row in content["intruders"])]
    content["verdict"] = next(word for word in VERDICTS if word in words)
    content["seal"] = sha256(content)
    try:
        verify(content, [file_text(release) for release in releases])
    except (NotProvedError, MalformedError) as error:
        raise Unjudged(f"the certificate does not hold when it is checked ({error}); nothing is certified") from None
    return Certificate(content)


def _releases(report: Audited) -> list[Release]:
    """Everything that was audited, each file once."""
    held: dict[int, Protected | Release] = {}
    for one in (report, *report.others):
        held |= {id(released): released for released in one.released}
    if not held:
        raise InputError("a certificate is of what is published, by its own names: audit a Protected or a Release")
    return [one.release() if isinstance(one, Protected) else one for one in held.values()]


def _each_measure(report: Audited) -> dict[str, Audited]:
    """One audit for each measure. A second one of the same measure is of cells that stand in no file."""
    each: dict[str, Audited] = {}
    for one in (report, *report.others):
        each.setdefault(one.view.measure, one)
    return each


def _rules(report: Audited) -> str:
    rules = [str(r.details["rule"]) for r in report.released if isinstance(r, Protected) and "rule" in r.details]
    return "; ".join(dict.fromkeys(rules)) or "none"


def _levels(report: Audited) -> str:
    if report.need is None:
        return "none: no cell may be known exactly"
    return "stated for every cell: how low and how high it must be able to be, and how wide"


def _intruders(report: Audited, confidential: bool) -> list[dict[str, Any]]:
    """Who was tried, and with what verdict; how much others than the outsider know follows from the truth."""
    verdicts = {one.name: "fail" if one.exposed else "unknown" if one.unknown else "pass" for one in report.intruders}
    rows = []
    for row in all_intruders(report.intruders):
        name = row["intruder"]
        if name == OUTSIDER:
            row = {"intruder": name, "verdict": "proved by the claims"}
        elif row["cells"] == NOT_TRIED:
            row = {"intruder": name, "verdict": NOT_TRIED}
        else:
            row = {**(row if confidential else {"intruder": name}), "verdict": verdicts[name]}
        rows.append({key: str(value) for key, value in row.items()})
    return rows
