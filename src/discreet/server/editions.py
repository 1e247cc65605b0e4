"""Editions of a cube: whether the next may take the place of the one that is there.

Two editions that differ by few records give these away, whatever protects each of them; so a cube is replaced only when
enough records have changed. Editions of one series have the same codes, steps before counting and secret. Another
series measures the same people anew: it must be asked for. What cannot be compared is not replaced either.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path

import numpy as np

from discreet.base.files import is_file, whole_file
from discreet.data.codebook import Codebook
from discreet.errors import InputError, listed
from discreet.methods.keys import open_secret
from discreet.policy import EditionRules, Policy
from discreet.policy.pretabular import twin_name
from discreet.server.edition_marks import EditionMarks, changed_records

EDITION, HEAD = "edition.npz", "cube.json"
PARTS = (EDITION, HEAD, "edition.npy", "codebook.toml", "count.npy")  # any of them tells that a cube was built here
FIRST_EDITION, NEW_SERIES = "--first-edition", "--new-series"
ASKED = ("", FIRST_EDITION, NEW_SERIES)
DANGER = (
    "whoever has the answers of both has two measurements of the same people, which can be averaged and set against "
    "each other; the fewest changed records are not kept between them"
)


@dataclass(frozen=True)
class Series:
    """What the editions of a series have in common. Titles, labels and the order of codes do not count."""

    codebook: str
    steps: str
    secret: str

    @classmethod
    def of(cls, codebook: Codebook, policy: Policy | None) -> Series:
        """Of data under a policy, or of data as they are."""
        secret = None if policy is None else policy.secret
        return cls(
            codebook=_codes_digest(codebook),
            steps=twin_name(policy) if policy is not None and policy.before else "",
            secret="" if secret is None else open_secret(secret).key("edition series").hex(),
        )

    def differs(self, other: Series) -> list[str]:
        """What is another, in words."""
        words = {"codebook": "another codebook", "steps": "other steps before counting", "secret": "another secret"}
        return [words[one.name] for one in fields(self) if getattr(self, one.name) != getattr(other, one.name)]


def _codes_digest(codebook: Codebook) -> str:
    """A hash of the variables, their codes and groups, and of what is counted."""
    dimensions = [
        (
            d.name,
            d.total is not None,
            sorted((code, sorted(d.leaves_of(code).items())) for code in d.codes if code != d.total),
        )
        for d in codebook.dimensions
    ]
    columns = [codebook.unit, codebook.weight, codebook.key, [(m.name, m.decimals) for m in codebook.magnitudes]]
    return sha256(json.dumps([sorted(dimensions), columns]).encode()).hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class Edition:
    """A series, its version and its marks, as they are kept beside a cube (confidential)."""

    series: Series
    marks: EditionMarks
    version: str = ""

    def write(self, folder: Path) -> None:
        """Keep it beside the cube, readable by its owner alone."""
        texts = {**asdict(self.series), "version": self.version}
        with whole_file(folder / EDITION, private=True) as file:
            np.savez(file, about=np.array(json.dumps(texts)), **vars(self.marks))


def edition_of(folder: Path) -> Edition | None:
    """The edition that is there; None if there is none. Raises ``InputError`` where it cannot be known."""
    if not any(is_file(folder / name) for name in PARTS):
        return None
    try:
        with (folder / EDITION).open("rb") as file, np.load(file, allow_pickle=False) as held:
            about = json.loads(str(held["about"]))
            marks = EditionMarks(*(held[one.name].astype(np.uint64, casting="safe") for one in fields(EditionMarks)))
        version = about.pop("version")
        edition = Edition(Series(**about), marks, version)
        belongs = not is_file(folder / HEAD) or json.loads((folder / HEAD).read_text())["version"] == version
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        belongs = False
    if not belongs:
        raise InputError(
            f"there is a cube in {folder.name!r}, and its marks ({EDITION}) are missing, damaged or those of another: "
            "nobody can say how many records have changed since. Put the file back, or, if no table of the cube was "
            f"ever published, replace it: discreet cube {FIRST_EDITION}"
        )
    return edition


@dataclass(frozen=True)
class KeptEdition:
    """Why the edition that is there stays, and whether its records are others than those that were given."""

    version: str
    why: str
    changed: bool


def edition_kept(folder: Path, new: Edition, policy: Policy | None, asked: str = "") -> KeptEdition | None:
    """The edition that is there and stays; None if the new one takes its place. What nobody can judge is refused."""
    least = EditionRules().least(0) if policy is None else policy.min_changes
    if asked not in ASKED:
        raise InputError(f"asked={asked!r}: give one of {listed(ASKED)}")
    if asked == FIRST_EDITION or least == 0:
        return None
    earlier = edition_of(folder)
    if earlier is None:
        return None
    if others := earlier.series.differs(new.series):
        if asked != NEW_SERIES:
            raise InputError(
                f"the cube in {folder.name!r} was built with {' and '.join(others)}: this would be a new series. "
                f"Mind that {DANGER}. Ask for it with `discreet cube {NEW_SERIES}`, or build as before"
            )
        return None
    if asked == NEW_SERIES:
        raise InputError(
            f"codebook, steps and secret are those of the cube in {folder.name!r}: this is no new series; "
            f"leave {NEW_SERIES} out"
        )
    changes = changed_records(earlier.marks, new.marks)
    if changes >= least:
        return None
    if not is_file(folder / HEAD):
        if changes == 0:  # a build that was broken off: the same records give the same edition
            return None
        raise InputError(
            f"a build in {folder.name!r} was broken off, and fewer than {least:,} records have changed since the "
            "edition before it, which is no longer whole: put its folder back, or, if no table of it was ever "
            f"published, replace it: discreet cube {FIRST_EDITION}"
        )
    why = f"fewer than {least:,} records have changed" if changes else "no record has changed"
    return KeptEdition(earlier.version, why, changes > 0)
