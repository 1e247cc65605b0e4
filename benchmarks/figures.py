"""What benchmarks printed as tables and figures: every number is one that a script printed, found by a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import discreet as dc
from discreet.plot.figure_style import shortened

Row = Mapping[str, str]


@dataclass(frozen=True)
class Listing:
    """Lines of one kind as a table: a pattern whose named groups are its columns."""

    title: str
    pattern: str
    section: str = ""
    """Pattern of the lines that begin a section; its group is the first column."""
    bars: tuple[str, ...] = ()
    """Columns that are drawn as bars."""
    label: tuple[str, ...] = ()
    """Columns that name a bar."""
    unit: str = ""
    log: bool = False
    drawing: Callable[[Sequence[Row]], Any] | None = None
    """Another drawing than bars."""


def rows_of(printed: str, listing: Listing) -> list[Row]:
    """The lines that the pattern finds, column by column."""
    return list(_rows(printed, listing))


def _rows(printed: str, listing: Listing) -> Iterator[Row]:
    section = ""
    for line in printed.splitlines():
        if listing.section and (head := re.match(listing.section, line)):
            section = head["section"]
        for match in re.finditer(listing.pattern, line):
            row = {name.replace("_", " "): (text or "").strip() for name, text in match.groupdict().items()}
            yield {"": section, **row} if listing.section else row


def tables(name: str, printed: str) -> list[tuple[str, list[Row]]]:
    """Titles and rows of what a script printed; a table that was printed as one is left as it is."""
    found = [(one.title, rows_of(printed, one)) for one in LISTINGS.get(name, ())]
    return [(title, rows) for title, rows in found if rows]


def markdown(rows: Sequence[Row]) -> list[str]:
    """A table of a page; columns of numbers to the right."""
    columns = list(rows[0])
    numeric = {c: all(re.match(r"[\d,.]*\d[ %]*", row[c]) or not row[c] for row in rows) for c in columns}
    head = ["| " + " | ".join(columns) + " |", "|" + "|".join("--:" if numeric[c] else "---" for c in columns) + "|"]
    return head + ["| " + " | ".join(row[c].replace("|", "\\|") for c in columns) + " |" for row in rows]


def drawn(name: str, printed: str) -> Any:
    """Axes with what a script printed, or None where nothing is drawn of it."""
    for listing in LISTINGS.get(name, ()):
        rows = rows_of(printed, listing)
        if rows and listing.drawing is not None:
            return listing.drawing(rows)
        if rows and listing.bars:
            return _bars(rows, listing)
    return None


def number(text: str) -> float:
    """A number as it was printed.

    >>> number("1,203.5%")
    1203.5
    """
    return float(text.replace(",", "").rstrip(" %"))


def _bars(rows: Sequence[Row], listing: Listing) -> Any:
    """Horizontal bars, one for each row and column that has a number."""
    ax = dc.plot.axes(width=8.0, height=1.2 + 0.3 * len(rows) * len(listing.bars))
    thick = 0.8 / len(listing.bars)
    for k, column in enumerate(listing.bars):
        at = [(place, number(row[column])) for place, row in enumerate(rows) if row[column]]
        places = [place + (k - (len(listing.bars) - 1) / 2) * thick for place, _ in at]
        ax.barh(places, [value for _, value in at], height=0.9 * thick, label=column, color=dc.plot.COLOURS[k])
    ax.set_yticks(range(len(rows)), [shortened(" ".join(row[c] for c in listing.label)) for row in rows])
    ax.invert_yaxis()
    ax.set(xlabel=f"{listing.title} ({listing.unit})", ylabel="run (name)")
    if listing.log:
        ax.set_xscale("log")
    if len(listing.bars) > 1:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return dc.plot.finish(ax)


def _map(rows: Sequence[Row]) -> Any:
    """Risk against utility of the study's methods."""
    shown = [row for row in rows if row["method"] != "original"]
    risk, utility = ([number(row[column]) for row in shown] for column in ("risk", "utility"))
    labels = [f"{row['method']} {row['table']}" for row in shown]
    return dc.plot.risk_utility(risk, utility, labels, groups=[row["method"] for row in shown], measure="JOS15")


def _against_print(rows: Sequence[Row]) -> Any:
    """Estimates beside those that were printed."""
    ax = dc.plot.axes(width=4.8, height=3.6)
    ours, theirs = ([number(row[c].split(" ")[0]) for row in rows] for c in ("estimate", "estimate in print"))
    ends = (min(theirs + ours), max(theirs + ours))
    ax.plot(ends, ends, color=dc.plot.COLOURS[1], linewidth=1, label="equal")
    ax.plot(theirs, ours, "o", label="a line of the study")
    ax.set(xlabel="estimate in print (R2, 0 to 1)", ylabel="estimate here (R2, 0 to 1)")
    ax.legend(loc="upper left")
    return dc.plot.finish(ax)


N = r"[\d,.]*\d"  # a number
NAME = r"\S.*?"  # whatever stands before two blanks
LISTINGS: dict[str, Sequence[Listing]] = {
    "argus": [
        Listing(
            "value of secondary suppressions",
            rf"^  (?P<run>{NAME})\s{{2,}}(?P<cells>{N}) cells, value\s+(?P<value>{N})"
            rf"(?:, (?P<proof>\w+), gap (?P<gap>{N} %).*?, (?P<seconds>{N}) s)?$",
            section=r"^(?P<section>\w+): ",
            bars=("value",),
            label=("", "run"),
            unit="units of the table",
            log=True,
        )
    ],
    "attacks": [
        Listing(
            "success of an attack",
            rf"^\| (?P<attack>A\d+ [^|]*?) \|[^|]*\| (?P<without>{N}%) \| (?P<with>{N}%) \|",
            bars=("without", "with"),
            label=("attack",),
            unit="percent",
        )
    ],
    "audit": [
        Listing(
            "time of a bound",
            rf"^\s*(?P<table>\S+): (?P<hidden>{N}) hidden, all intervals (?P<seconds>{N}) s "
            rf"\((?P<audit>{N}) ms a bound\), linprog (?P<linprog>{N}) ms a bound: (?P<ratio>{N})x",
            bars=("audit", "linprog"),
            label=("table",),
            unit="milliseconds",
            log=True,
        )
    ],
    "cache_timing": [
        Listing(
            "how well time tells what somebody has asked",
            rf"^round (?P<round>\d+): AUC (?P<AUC>{N}) of 'somebody has asked this'",
            bars=("AUC",),
            label=("round",),
            unit="AUC, 0.5 is chance",
        )
    ],
    "closure": [
        Listing(
            "attacks on the demo's policy",
            r"^\| (?P<attack>[^|]+?) \|[^|]*\|[^|]*\| (?:[^|]*: )?(?P<attacked>\d+%) \((?P<blind>\d+%)\) \|",
            bars=("attacked", "blind"),
            label=("attack",),
            unit="percent",
        )
    ],
    "cores": [
        Listing(
            "seconds by the clock",
            rf"^\| (?P<work>[a-z][^|]*?) \| (?P<one_worker>{N}) s \| (?P<two_workers>{N}) s \|",
            bars=("one worker", "two workers"),
            label=("work",),
            unit="seconds",
        )
    ],
    "csp": [
        Listing(
            "cost by the cheapest of the run",
            rf"^  (?P<method>[a-z]\S*(?: \S+)*?)\s{{2,}}(?P<cells>{N})\s+(?P<value_lost>{N})\s+(?P<cost>{N})\s+"
            rf"(?P<by_the_cheapest>{N})\s+(?P<seconds>{N})(?:\s+(?P<gap>{N}(?: %)?))?\s+clean$",
            section=r"^(?P<section>\w+, (?:value|unity)): ",
            bars=("by the cheapest",),
            label=("", "method"),
            unit="ratio",
        ),
        Listing("goals", r"^  (?P<mark>pass|FAIL): (?P<goal>.*)$", section=r"^(?P<section>\w+, (?:value|unity)): "),
    ],
    "defences": [
        Listing(
            "counts of 1 to 3 shown exactly",
            rf"^\| (?P<policy>[^|]*[^|\s-][^|]*?) \| {N} \| {N} \| {N} \| (?P<shown>{N}) "
            rf"\| (?P<best_single_number>{N}) \|",
            bars=("shown", "best single number"),
            label=("policy",),
            unit="share",
        )
    ],
    "demo_attack": [
        Listing(
            "claimed records that are right",
            rf"^\| (?P<population>[^|]+?) \| {N} \| {N} \| (?P<right>\d+%) \| (?P<two_way_model>\d+%) \|",
            bars=("right", "two way model"),
            label=("population",),
            unit="percent",
        )
    ],
    "docs_policies": [
        Listing(
            "counts of 1 to 3 shown exactly",
            r"^\| (?P<page>[^|]+?) \| (?P<method>[^|]+?) \|[^|]*\|[^|]*"
            r"\| (?P<exact>\d+%) \((?P<best_single_number>\d+%)\) \|",
            bars=("exact", "best single number"),
            label=("page", "method"),
            unit="percent",
        )
    ],
    "interactions": [
        Listing(
            "records claimed that are right",
            r"^\| (?P<policy>[^|]+?) \| \d+ of \d+: (?P<right>\d+%) \((?P<two_way_model>\d+%)\) \|",
            bars=("right", "two way model"),
            label=("policy",),
            unit="percent",
        )
    ],
    "editions": [
        Listing(
            "attributes read off two editions",
            rf"^\| (?P<policy>[^|]+?) \| (?P<new>{N}) \| (?P<same_secret>{N}) \| (?P<another_secret>{N}) \|",
            bars=("same secret", "another secret"),
            label=("policy", "new"),
            unit="share",
        )
    ],
    "first_call": [
        Listing(
            "time of a first call",
            rf"^\| (?P<command>[a-z][^|]*?) \| (?P<table>[^|]+?) \| (?P<before>[^|]+?) \| (?P<seconds>{N}) "
            rf"\| (?P<processor>{N}) \|",
            bars=("seconds",),
            label=("command", "table", "before"),
            unit="seconds",
        )
    ],
    "formats": [
        Listing(
            "time to write",
            rf"^(?P<format>\S+)\s+(?P<cells>{N})\s+(?P<discreet>{N})\s+(?P<MB>{N})"
            rf"(?:\s+(?P<beside>\S+) (?P<instead>{N}) s, ratio (?P<ratio>{N}))?",
            bars=("discreet", "instead"),
            label=("format",),
            unit="seconds",
        )
    ],
    "guard": [
        Listing(
            "processor time of a decision",
            rf"^  a past of (?P<tables>{N}) tables or more: processor time, "
            rf"median (?P<median>{N}) ms, 99 % (?P<p99>{N}) ms",
            section=r"^(?P<section>\w+): ",
            bars=("median", "p99"),
            label=("", "tables"),
            unit="milliseconds",
            log=True,
        )
    ],
    "jos15": [
        Listing(
            "risk and utility",
            rf"^(?P<table>T\d)\s+(?P<method>{NAME})\s{{2,}}(?P<risk>{N})\s+(?P<risk_in_print>{N})"
            rf"\s+(?P<utility>{N})\s+(?P<utility_in_print>{N})",
            drawing=_map,
        )
    ],
    "measures": [
        Listing(
            "attacks on magnitudes",
            rf"^  (?P<attack>[^:]+): right (?P<right>{N}\s?%), blind (?P<blind>{N}\s?%), gain (?P<gain>\S+) points",
            bars=("right", "blind"),
            label=("attack",),
            unit="percent",
        ),
        Listing("speed", rf"^  one caller: median (?P<median_ms>{N}) ms \([^)]*\), p99 (?P<p99_ms>{N}) ms"),
    ],
    "pages": [
        Listing(
            "time of a page",
            rf"^  (?P<page>[^:]+): (?P<kB>{N}) kB[^,]*, first paint (?P<paint>{N}) ms[^a-z]*, "
            rf"usable after (?P<usable>{N}) ms",
            bars=("paint", "usable"),
            label=("page",),
            unit="milliseconds",
        )
    ],
    "perturb": [
        Listing(
            "time",
            rf"^\s*(?P<work>{NAME})\s{{2,}}(?P<milliseconds>{N}) ms",
            bars=("milliseconds",),
            label=("work",),
            unit="milliseconds",
            log=True,
        )
    ],
    "programme": [
        Listing(
            "time of a run",
            rf"(?P<run>one process|two|again) (?P<seconds>{N}) s",
            bars=("seconds",),
            label=("run",),
            unit="seconds",
        )
    ],
    "query_search": [
        Listing(
            "area under the curve",
            rf"^  query search, (?P<answers>[^:]+): area under the curve (?P<area>{N}) \((?P<targets>{N}) targets; "
            rf"blind (?P<blind>{N})\)",
            section=r"^(?P<section>\S.*?): [\d,]+ requests",
            bars=("area", "blind"),
            label=("", "answers"),
            unit="0.5 = chance",
        )
    ],
    "risk": [
        Listing(
            "time for a million tables",
            rf"^(?P<work>R1 \+ R2.*?|plain NumPy.*?)\s{{2,}}(?P<seconds>{N}) s(?:\s+ratio (?P<ratio>{N}))?",
            bars=("seconds",),
            label=("work",),
            unit="seconds",
        )
    ],
    "scale": [
        Listing(
            "peak memory",
            rf"^\s+(?P<records>{N})\s+(?P<seconds>{N})\s+(?P<records_per_second>{N})\s+(?P<peak_MB>{N})\s+"
            rf"(?P<by_the_first>{N})$",
            bars=("peak MB",),
            label=("records",),
            unit="MB",
        ),
        Listing(
            "in parts and in one go",
            rf"^\s+(?P<run>in parts|in one go)\s+(?P<file>\.\w+)\s+(?P<cells>{N})\s+(?P<seconds>{N})"
            rf"\s+(?P<peak_MB>{N})$",
        ),
        Listing(
            "engines",
            rf"^\s+(?P<engine>DuckDB|Ibis on \w+)\s+(?P<records>{N})\s+(?P<seconds>{N})\s+(?P<records_per_second>{N})"
            rf"\s+(?P<share_of_ours>{N}%)",
        ),
    ],
    "server": [
        Listing(
            "time of an answer",
            rf"^  uncached, one caller: median (?P<median>{N}) ms \({N}[^)]*\), p99 (?P<p99>{N}) ms",
            section=r"^(?P<section>[a-z][\w -]+)$",
            bars=("median", "p99"),
            label=("",),
            unit="milliseconds",
        ),
        Listing(
            "all figures, goals in brackets",
            r"^  (?P<what>[^:]+): (?P<printed>.*)$",
            section=r"^(?P<section>[a-z][\w -]+)$",
        ),
    ],
    "sheets": [
        Listing(
            "processor time of a whole run",
            rf"^(?P<run>{NAME})\s{{2,}}(?P<seconds>{N}) s\s+(?P<goal>.*)$",
            bars=("seconds",),
            label=("run",),
            unit="seconds",
        )
    ],
    "suppress": [
        Listing(
            "time of elimination",
            rf"^(?P<table>\w+)\s+(?P<cells>{N})\s+(?P<primary>{N})\s+(?P<secondary>{N})\s+(?P<no_singletons>{N})\s+"
            rf"(?P<singletons>{N})\s+(?P<goal>{N} s: \w+|no goal)\s+(?P<MB>{N})"
            rf"(?:\s+1 : (?P<times_faster_than_R>{N}) of the recorded (?P<R>{N}) s)?",
            bars=("singletons", "R"),
            label=("table",),
            unit="seconds",
            log=True,
        )
    ],
    "tabulate": [
        Listing(
            "time",
            rf"^  (?P<work>discreet.*?|hand-written DuckDB|pandas groupby)\s{{2,}}(?P<seconds>{N}) s\s+"
            rf"(?P<processor_seconds>{N}) CPU s\s+(?P<peak_MB>{N}) MB",
            bars=("seconds", "processor seconds"),
            label=("work",),
            unit="seconds",
        )
    ],
    "unece15": [
        Listing(
            "risk estimated from samples",
            rf"^(?P<model>{NAME})\s{{2,}}(?P<sample>0\.\d+) \| (?P<original>{N} \({N}\)), "
            rf"print (?P<original_in_print>{N}[^|]*?) \| (?P<estimate>{N} \({N}\)), "
            rf"print (?P<estimate_in_print>{N}[^|]*?) \|",
            drawing=_against_print,
        )
    ],
    "whole_call": [
        Listing(
            "whole call by elimination alone",
            rf"^(?P<table>\S+(?: \S+)*?)\s{{2,}}(?P<cells>{N})\s+(?P<hidden>{N})\s+(?P<added>{N})\s+"
            rf"(?P<dearer>-?{N}%)\s+(?P<undecided>{N})\s+(?P<elimination_s>{N})\s+(?P<whole_s>{N})\s+{N}\s+"
            rf"(?P<ratio>{N})\s+(?P<goal>{N}(?: s)?|inf)\s+(?:(?P<former>{N})|nan)\s+(?P<MB>{N})\s+\w{{8}}"
            rf"(?P<word> missed)?",
            bars=("ratio",),
            label=("table",),
            unit="ratio of processor times",
            log=True,
        ),
        Listing(
            "growth",
            rf"^slope of seconds over cells, (?P<family>[^:]+): (?P<slope>{N}), goal (?P<goal>{N})(?P<word>.*)$",
        ),
    ],
}
