"""Sheets that hold records, a row for each person, and not counts: read as a table they would be kept as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from discreet.errors import InputError
from discreet.sheets.sheet_table import SheetTable

FEWEST_ROWS = 3
_PERSON = (
    "patient|person|client|service user|pupil|student|learner|employee|worker|respondent|participant|proband|subject|"
    "resident|household|individual|applicant|claimant|offender|victim|prisoner|tenant|donor|record|case|einzelfall|"
    "patientin|schüler|mitarbeiter|personne|individu|élève|persona|individuo|paciente|alumno"
)
_NUMBER = "id|ids|no|nr|num|number|nummer|numéro|número|code|ref|reference|identifier|key|initials|name|names|surname"
_NAMED = re.compile(rf"(?:{_PERSON})s?(?:[\s_-]*(?:{_NUMBER}))+", re.IGNORECASE)
_ALONE = re.compile(rf"(?:{_PERSON})s?", re.IGNORECASE)
_ISSUED = re.compile(
    r"(?:nhs|chi|mrn|medical record|national insurance|ni|social security|ssn|passport|upn|unique pupil|"
    rf"steuer|versicherten|sozialversicherungs)[\s_-]*(?:{_NUMBER})?|hospital[\s_-]*(?:{_NUMBER})",
    re.IGNORECASE,
)
_BORN = re.compile(
    r"(?:date[\s_]of[\s_]|year[\s_]of[\s_])?birth(?:day|date)?|birth[\s_]?date|dob|d\.o\.b\.?|geburts(?:datum|tag|jahr)|"
    r"date[\s_]de[\s_]naissance|fecha[\s_]de[\s_]nacimiento|surnames?|fore?names?|first[\s_]names?|last[\s_]names?|vorname|"
    r"nachname|prénom|apellidos?",
    re.IGNORECASE,
)
_OF_ONE = re.compile(
    r"ages?(?:[\s_](?:in[\s_])?years)?|alter|âge|edad|bmi|height|weight|(?:systolic|diastolic)(?: bp)?|"
    r"year[\s_]of[\s_]birth|birth[\s_]year|geburtsjahr",
    re.IGNORECASE,
)
"""What is measured of one person, and no count."""


def refuse_records(table: SheetTable) -> None:
    """Raise where the rows of a sheet are persons: an identifier of its own in every row, dates of birth, ages."""
    layout = table.layout
    if len(layout.body_rows) < FEWEST_ROWS:
        return
    reason = next((words for column in layout.stub_columns if (words := _identifies(table, column))), None)
    if reason is None:
        reason = next((words for column in layout.body_columns if (words := _of_one_person(table, column))), None)
    if reason is not None:
        raise InputError(
            f"{table.name!r} looks like records, a row for each person, not like a table of counts: {reason}; count "
            "them first (save them as CSV and name the dimensions of the table), or, if rows are not persons, give the "
            "column another header"
        )


def _identifies(table: SheetTable, column: int) -> str | None:
    """Why a column of labels tells persons apart, None if it does not."""
    header = _header(table, column)
    texts = [text for row in table.layout.body_rows if (text := table.grid.text(row, column).strip())]
    if len(texts) < FEWEST_ROWS or len({*texts}) * 10 < len(texts) * 9:
        return None
    if _BORN.fullmatch(header):
        return f"{header!r} is different in almost every row"
    digits = sum(any(sign.isdigit() for sign in text) for text in texts) * 2 > len(texts)
    if _NAMED.fullmatch(header) or (digits and (_ISSUED.fullmatch(header) or _ALONE.fullmatch(header))):
        return f"{header!r} is different in almost every row"
    return None


def _of_one_person(table: SheetTable, column: int) -> str | None:
    """Why a column of numbers is of single persons, None if it is not."""
    header = _header(table, column)
    return f"{header!r} is not a count" if _OF_ONE.fullmatch(header) else None


def _header(table: SheetTable, column: int) -> str:
    """The header of a column: the lowest text above it, or the name of a frame's level."""
    named = table.grid.names.get(("column", column))
    texts: Sequence[str] = [table.grid.text(row, column) for row in table.layout.header_rows]
    return next((text.strip() for text in reversed(texts) if text.strip()), named or "")
