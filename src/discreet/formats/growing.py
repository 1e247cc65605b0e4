"""Files that grow part by part and end up as if the whole release had been written in one go, to the byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, BinaryIO, Protocol

import numpy as np

from discreet.errors import InputError, listed
from discreet.formats.parquet import ROW_GROUP, to_arrow
from discreet.release import Release, csv_head, csv_pieces


class Growing(Protocol):
    """A file that takes the cells of a release part by part, in their order."""

    def add(self, part: Release) -> None:
        """The next cells."""

    def close(self) -> None:
        """No more cells; without this the file is not complete."""


def growing(format: str, file: BinaryIO) -> Growing:
    """A way to write a release to an open file part by part."""
    check_growing(format)
    return KINDS[format](file)


def check_growing(format: str) -> None:
    """Refuse a format that must be written in one go."""
    if format not in KINDS:
        raise InputError(f"format {format!r} is written in one go; part by part: {listed(KINDS)}")


class GrowingCsv:
    """CSV: the head, then lines."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._began = False

    def add(self, part: Release) -> None:
        if not self._began:
            self._file.write(csv_head(part))
            self._began = True
        for lines in csv_pieces(part):
            self._file.write(lines)

    def close(self) -> None:
        """Nothing stands at the end of a CSV."""


class GrowingParquet:
    """Parquet: rows are kept until they fill a row group, so that groups begin where they would in one go."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting: list[Release] = []
        self._writer: Any = None

    def add(self, part: Release) -> None:
        self._waiting.append(part)
        while sum(map(len, self._waiting)) >= ROW_GROUP:
            whole = _joined(self._waiting)
            self._waiting = [_rows(whole, slice(ROW_GROUP, None))]
            self._write(_rows(whole, slice(ROW_GROUP)))

    def close(self) -> None:
        left = _joined(self._waiting)
        if len(left) or self._writer is None:
            self._write(left)
        self._writer.close()

    def _write(self, rows: Release) -> None:
        import pyarrow.parquet as pq

        table = to_arrow(rows)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table, row_group_size=ROW_GROUP)


KINDS: dict[str, type[GrowingCsv] | type[GrowingParquet]] = {"csv": GrowingCsv, "parquet": GrowingParquet}


def _rows(release: Release, rows: slice) -> Release:
    values = {name: of[rows] for name, of in release.values.items()}
    return replace(release, codes=release.codes[rows], values=values, status=release.status[rows])


def _joined(parts: list[Release]) -> Release:
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        codes=np.concatenate([part.codes for part in parts]),
        values={name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values},
        status=np.concatenate([part.status for part in parts]),
    )
