"""Publishing programmes: hundreds of tables from one file, protected in one go and set against each other."""

from discreet.publishing.compare.consistency import Finding, check
from discreet.publishing.compare.published_table import Shown
from discreet.publishing.parsing import parse_programme, read_programme
from discreet.publishing.run_report import Report
from discreet.publishing.running import plan, run
from discreet.publishing.spec import Consistency, Entry, How, Programme, Source, Unit

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
