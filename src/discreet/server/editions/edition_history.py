"""The editions that a folder has held, of every series, as they are kept beside the cube (confidential).

All of them are kept: each was published and can be set against any later one, the first against the third as well.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.files import is_file, whole_file
from discreet.data.codebook import read_codebook
from discreet.errors import InputError
from discreet.server.editions.edition_marks import EditionMarks, SeriesMarks, SharedMarks
from discreet.server.editions.edition_series import Series, codes_digest

EDITION, HEAD, CODEBOOK = "edition.npz", "cube.json", "codebook.toml"
PARTS = (EDITION, HEAD, "edition.npy", CODEBOOK, "count.npy")  # any of them tells that a cube was built here
FIRST_EDITION = "--first-edition"
KINDS = tuple(kind.name for kind in fields(EditionMarks))


@dataclass(frozen=True, eq=False, repr=False)
class Edition:
    """One edition: its series, marks and version."""

    series: Series
    marks: EditionMarks
    version: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class PublishedSeries:
    """The editions of a series in the order in which they were built: versions and marks."""

    series: Series
    versions: tuple[str, ...]
    marks: SeriesMarks

    def joined(self, edition: Edition) -> PublishedSeries:
        """With one edition more; one that is there, records and version alike, is not kept twice."""
        same = [number for number, changes in enumerate(self.marks.changed_records(edition.marks)) if changes == 0]
        if any(self.versions[number] == edition.version for number in same):
            return self
        return PublishedSeries(self.series, (*self.versions, edition.version), self.marks.joined(edition.marks))


@dataclass(frozen=True, eq=False, repr=False)
class EditionHistory:
    """All series of a folder; the version of the edition that is there, and which series it is of."""

    every: tuple[PublishedSeries, ...] = ()
    version: str = ""
    current: int = -1

    @property
    def present(self) -> Series:
        """The series of the edition that is there."""
        return self.every[self.current].series

    @property
    def marks(self) -> EditionMarks:
        """The marks of the edition that is there."""
        held = self.every[self.current]
        return held.marks.of_edition(held.versions.index(self.version))

    def of(self, series: Series) -> PublishedSeries | None:
        """The editions of a series; None if there is none."""
        return next((one for one in self.every if one.series == series), None)

    def joined(self, edition: Edition) -> EditionHistory:
        """With one edition more, which is the one that is there from now on."""
        earlier = self.of(edition.series)
        if earlier is None:
            first = PublishedSeries(edition.series, (edition.version,), SeriesMarks.of(edition.marks))
            return EditionHistory((*self.every, first), edition.version, len(self.every))
        at = self.every.index(earlier)
        every = (*self.every[:at], earlier.joined(edition), *self.every[at + 1 :])
        return EditionHistory(every, edition.version, at)

    def write(self, folder: Path) -> None:
        """Keep it beside the cube, readable by its owner alone."""
        series = [{**asdict(one.series), "versions": one.versions} for one in self.every]
        about = {"version": self.version, "current": self.current, "series": series}
        arrays: dict[str, Any] = {"about": np.array(json.dumps(about))}
        for number, one in enumerate(self.every):
            for kind in KINDS:
                shared: SharedMarks = getattr(one.marks, kind)
                arrays[f"{kind}_{number}"] = shared.words
                arrays[f"{kind}_bits_{number}"] = shared.bits
        with whole_file(folder / EDITION, private=True) as file:
            np.savez_compressed(file, **arrays)


def history_of(folder: Path) -> EditionHistory:
    """The editions that were built here, none in a new folder. Raises ``InputError`` where they cannot be known."""
    if not any(is_file(folder / name) for name in PARTS):
        return EditionHistory()
    try:
        with (folder / EDITION).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            history = _history(about, arrays) if "series" in about else _single(about, arrays, folder)
        belongs = history.version in history.every[history.current].versions
        if is_file(folder / HEAD):
            belongs &= json.loads((folder / HEAD).read_text(encoding="utf-8"))["version"] == history.version
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile):
        belongs = False
    if not belongs:
        raise InputError(
            f"there is a cube in {folder.name!r}, and its marks ({EDITION}) are missing, damaged or those of another: "
            "it is unknown how many records have changed since. Put the file back, or, if no table of the cube was "
            f"ever published, replace it: discreet cube {FIRST_EDITION}"
        )
    return history


def published_versions(folder: Path) -> tuple[str, ...]:
    """The versions of the editions of all series that a folder has held, in their order; none if that is unknown."""
    try:
        with (folder / EDITION).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
        if "series" not in about:
            return (str(about["version"]),)
        return tuple(str(version) for one in about["series"] for version in one["versions"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return ()


def _history(about: dict[str, Any], arrays: Any) -> EditionHistory:
    """The editions of all series."""
    every = []
    for number, one in enumerate(about["series"]):
        versions = tuple(one.pop("versions"))
        kinds = {kind: _shared(arrays, kind, number, len(versions)) for kind in KINDS}
        every.append(PublishedSeries(Series(**one), versions, SeriesMarks(len(versions), **kinds)))
    if not 0 <= about["current"] < len(every):
        raise ValueError("a series that is not there")
    return EditionHistory(tuple(every), about["version"], about["current"])


def _shared(arrays: Any, kind: str, number: int, editions: int) -> SharedMarks:
    shared = SharedMarks(
        arrays[f"{kind}_{number}"].astype(np.uint64, casting="safe"),
        arrays[f"{kind}_bits_{number}"].astype(np.uint8, casting="safe"),
    )
    if shared.bits.shape != (-(-editions // 8), len(shared.words)):
        raise ValueError("marks that do not fit the number of editions")
    return shared


def _single(about: dict[str, Any], arrays: Any, folder: Path) -> EditionHistory:
    """The one edition of a file of earlier versions, whose hash of the codebook left structural zeros out."""
    version = about.pop("version")
    series = Series(**about)
    codebook = read_codebook(folder / CODEBOOK) if is_file(folder / CODEBOOK) else None
    if codebook is not None and series.codebook == codes_digest(replace(codebook, structural=())):
        series = replace(series, codebook=codes_digest(codebook))
    marks = EditionMarks(*(np.unique(arrays[kind].astype(np.uint64, casting="safe")) for kind in KINDS))
    return EditionHistory().joined(Edition(series, marks, version))
