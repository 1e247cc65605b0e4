"""Packages of parts (zip): read with a limit, told apart by what they hold, written without dates or names."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from discreet.errors import InputError

MOST_BYTES = 500_000_000  # unpacked: a small file can hold more than any memory
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the container of Office files before 2007, and of encrypted ones since
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
EPOCH = (1980, 1, 1, 0, 0, 0)


def package_parts(data: bytes, name: str) -> dict[str, bytes]:
    """The parts of a package by name. What cannot be read says what it is and what to do."""
    if data.startswith(_OLD):
        if _ENCRYPTED in data:
            raise InputError(f"{name!r} is locked with a password; save a copy without one, and give that")
        raise InputError(f"{name!r} is an Excel file of before 2007 (.xls); save it as .xlsx, and give that")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = package.infolist()
            if sum(part.file_size for part in members) > MOST_BYTES:
                raise InputError(f"{name!r} is too large when unpacked; save the table as CSV or Parquet")
            if any(part.flag_bits & 1 for part in members):
                raise InputError(f"{name!r} is locked with a password; save a copy without one, and give that")
            parts = {part.filename: package.read(part) for part in members if not part.is_dir()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError):
        raise InputError(
            f"{name!r} cannot be read as a workbook: it is damaged, or of another kind; save it again in a spreadsheet "
            "program"
        ) from None
    if any(part.startswith("xl/") and part.endswith(".bin") and "workbook" in part for part in parts):
        raise InputError(f"{name!r} is a binary workbook (.xlsb); save it as .xlsx, and give that")
    if b"encryption-data" in parts.get("META-INF/manifest.xml", b""):
        raise InputError(f"{name!r} is locked with a password; save a copy without one, and give that")
    return parts


def package_of(parts: Mapping[str, bytes], *, stored: frozenset[str] = frozenset()) -> bytes:
    """A package of these parts in this order: the same bytes for the same parts, whenever it is written."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            package.writestr(entry, data)
    return buffer.getvalue()
