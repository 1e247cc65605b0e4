"""The barrier. A Protected is confidential; a Release has no field in which a true value could stand.

Only a Release is ever written, printed or served. Outside, nobody is told whether a missing cell was sensitive
itself or hidden to protect another.
"""

from __future__ import annotations

from discreet.release.protected import Protected, publishable
from discreet.release.release import Release, csv_head, csv_pieces
from discreet.release.status import AS_IT_IS, CONFIDENTIAL, OPEN, Status, hidden

__all__ = [
    "AS_IT_IS",
    "CONFIDENTIAL",
    "OPEN",
    "Protected",
    "Release",
    "Status",
    "csv_head",
    "csv_pieces",
    "hidden",
    "publishable",
]
