"""Check a certificate against the tables it is about: ``python -m verify certificate.json table.csv ...``

This folder stands alone: it can be copied out and needs Python's own library, exact arithmetic, nothing of the program
that made the certificate. It reads the tables itself, adds every witness table up and compares it with what is
published, and works out every combination of published cells that is said to give a hidden one away.
"""

from __future__ import annotations

from .certificate_form import FINDINGS, VERDICTS, MalformedError, NotProvedError, check_shape, load_certificate, sha256
from .plain_csv import cells_digest, matched_table, read_rows
from .proofs import Measure
from .separate_claims import judged_apart
from .whole_certificate import verify, what_is_proved

__all__ = [
    "FINDINGS",
    "VERDICTS",
    "MalformedError",
    "Measure",
    "NotProvedError",
    "cells_digest",
    "check_shape",
    "judged_apart",
    "load_certificate",
    "matched_table",
    "read_rows",
    "sha256",
    "verify",
    "what_is_proved",
]
