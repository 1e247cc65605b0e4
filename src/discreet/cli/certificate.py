"""discreet verify, and the certificate that `discreet audit --certificate` writes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import HTML, TEXT, check_suffix
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.audits import Audit

SUFFIXES = (".json", ".gz", *HTML)


def check_certificate(path: Path | None) -> None:
    """Refuse a name that is neither JSON nor a page, before anything is audited."""
    check_suffix(path, SUFFIXES, "a certificate")


def write_certificate(report: Audit, path: Path, *, confidential: bool) -> None:
    """The certificate of an audit as JSON (.json, .json.gz) or as a page to print (.html), dated today."""
    today = datetime.now(UTC).date().isoformat()
    certificate = report.certificate(confidential=confidential, date=today)
    if path.suffix.lower() in HTML:
        certificate.to_html(path)
    else:
        certificate.to_json(path)
    kind = "confidential" if confidential else "open"
    say(f"certificate ({kind} copy): verdict {certificate.verdict.value}; written to {path.name}")


@example("discreet verify certificate.json released.csv")
@app.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@click.argument("tables", nargs=-1, required=True, type=click.Path(path_type=Path))
def verify(certificate: Path, tables: Sequence[Path]) -> int:
    """Check a CERTIFICATE against the published TABLES it is about, with no solver: every proof is worked out again.

    All tables of the certificate are given, and no other. What is proved, what is assumed and what is only stated is
    printed. The folder of the checker runs by itself, with Python alone: `python -m verify certificate.json table.csv`.
    Tables in other formats than CSV are read by discreet first.

    Exit code 0: every claim is proved and the verdict is pass; 1: a claim is not proved, or the verdict is not pass;
    2: a file cannot be read, or is not a certificate.
    """
    from discreet.audits.verify import (
        MalformedError,
        NotProvedError,
        check_shape,
        load_certificate,
        verify,
        what_is_proved,
    )

    try:
        content = load_certificate(certificate.read_bytes())
        check_shape(content)
        texts = [_table(path, content) for path in tables]
        verdict = verify(content, texts)
    except MalformedError as error:
        raise InputError(f"{certificate.name!r}: {error}") from None
    except OSError as error:
        raise InputError(
            f"cannot read a file: {error.strerror}; give a certificate and the tables it is about"
        ) from None
    except NotProvedError as error:
        say(f"not proved: {error}", "error")
        return 1
    say(f"proved; verdict: {verdict}")
    for line in what_is_proved(content):
        say(line)
    return 0 if verdict == "pass" else 1


def _table(path: Path, content: Any) -> str | bytes:
    """A table as CSV: the file as it is where the checker can read it, else as discreet reads it."""
    from discreet.audits.certificate_files import file_text
    from discreet.audits.verify import matched_table
    from discreet.release import Release

    data, text = path.read_bytes(), path.suffix.lower() in TEXT
    if text and any(matched_table(data, entry) is not None for entry in content["files"]):
        return data
    try:
        return file_text(Release.read(path))
    except InputError:
        if text:
            return data  # it is not what was certified, and the checker says so
        raise
