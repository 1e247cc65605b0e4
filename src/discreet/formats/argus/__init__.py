"""Files of tau-ARGUS: microdata and tables with their descriptions, a-priori files, and the tables it writes."""

from __future__ import annotations

from discreet.formats.argus.cells import Tabular, read_table
from discreet.formats.argus.coding import read_codebook
from discreet.formats.argus.description import Description, Variable, read_description
from discreet.formats.argus.marks import ArgusMarks, read_apriori
from discreet.formats.argus.records import read_microdata

__all__ = [
    "ArgusMarks",
    "Description",
    "Tabular",
    "Variable",
    "read_apriori",
    "read_codebook",
    "read_description",
    "read_microdata",
    "read_table",
]
