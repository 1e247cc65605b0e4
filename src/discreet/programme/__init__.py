"""Publishing programmes: hundreds of tables from one file, protected in one go and set against each other."""

from discreet.programme.consistency import Finding, check
from discreet.programme.entry import Consistency, Entry, How, Programme, Source, Unit
from discreet.programme.reading import parse_programme, read_programme
from discreet.programme.report import Report
from discreet.programme.running import plan, run
from discreet.programme.shown import Shown

__all__ = [
    "Consistency",
    "Entry",
    "Finding",
    "How",
    "Programme",
    "Report",
    "Shown",
    "Source",
    "Unit",
    "check",
    "parse_programme",
    "plan",
    "read_programme",
    "run",
]
