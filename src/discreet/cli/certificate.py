"""discreet verify, and the certificate that `discreet audit --certificate` writes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.base.files import CSV, HTML, check_suffix
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

    The same file of the package runs by itself, with Python alone: `python verify.py certificate.json table.csv`.
    Tables in other formats than CSV are read by discreet first.

    Exit code 0: every claim is proved and the verdict is pass; 1: a claim is not proved, or the verdict is not pass;
    2: a file cannot be read.
    """
    import gzip
    import json

    from discreet.audits.verify import NotProvedError, verify

    try:
        data = certificate.read_bytes()
        content = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        texts = [_text(path) for path in tables]
    except (OSError, EOFError, ValueError):
        raise InputError("give a certificate (.json or .json.gz) and the tables it is about, as files") from None
    try:
        verdict = verify(content, texts)
    except NotProvedError as error:
        say(f"not proved: {error}", "error")
        return 1
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        say(f"not proved: the certificate is not well formed ({type(error).__name__})", "error")
        return 1
    say(f"proved; verdict: {verdict}")
    return 0 if verdict == "pass" else 1


def _text(path: Path) -> str:
    """A table as CSV."""
    from discreet.release import Release

    if path.suffix.lower() in CSV:
        return path.read_bytes().decode("utf-8-sig")
    return Release.read(path).to_csv().decode()
