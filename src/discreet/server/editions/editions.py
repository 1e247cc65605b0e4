"""Editions of a cube: whether the next may take the place of the one that is there.

Two editions that differ by few records give these away, whatever protects each of them; so a cube is replaced only when
enough records have changed since each of the editions before it. Another series measures the same people anew: it must
be asked for. What cannot be compared is not replaced either.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.base.files import is_file
from discreet.errors import InputError, listed
from discreet.policy import EditionRules, Policy
from discreet.server.editions.edition_history import FIRST_EDITION, HEAD, Edition, EditionHistory, history_of

NEW_SERIES = "--new-series"
ASKED = ("", FIRST_EDITION, NEW_SERIES)
DANGER = (
    "a reader with answers of both has two measurements of the same people, which can be averaged and compared with "
    "each other; the fewest changed records are not kept between them"
)


@dataclass(frozen=True)
class KeptEdition:
    """Why the edition that is there stays, and whether its records are others than those that were given."""

    version: str
    why: str
    changed: bool


def fewest_changes(policy: Policy | None) -> int:
    """The fewest changed records between any two editions; 0 if they are not compared."""
    return EditionRules().least(0) if policy is None else policy.min_changes


def earlier_editions(folder: Path, policy: Policy | None, asked: str = "") -> EditionHistory:
    """The editions with which a new one is compared. Raises ``InputError`` where they must be known and are not."""
    if asked not in ASKED:
        raise InputError(f"asked={asked!r}: give one of {listed(ASKED)}")
    if asked == FIRST_EDITION:
        return EditionHistory()
    try:
        return history_of(folder)
    except InputError:
        if fewest_changes(policy):
            raise
        return EditionHistory()  # editions are not compared, and what is not known cannot be kept


def edition_kept(
    folder: Path, history: EditionHistory, new: Edition, policy: Policy | None, asked: str = ""
) -> KeptEdition | None:
    """The edition that is there and stays; None if the new one takes its place. What nobody can judge is refused."""
    least = fewest_changes(policy)
    if least == 0 or not history.every:
        return None
    _check_series(folder, history, new, asked)
    earlier = history.of(new.series)
    if earlier is None:
        return None
    changes = earlier.marks.changed_records(new.marks)
    present = [
        changed for changed, version in zip(changes, earlier.versions, strict=True) if version == history.version
    ]
    whole = is_file(folder / HEAD)
    if 0 in present and whole and earlier.series == history.present:
        return KeptEdition(history.version, "no record has changed", changed=False)
    if 0 in changes or min(changes) >= least:  # the records of an earlier edition tell nothing new
        return None
    if not whole:
        raise InputError(
            f"a build in {folder.name!r} was broken off, and fewer than {least:,} records have changed since an "
            "edition before it, which is no longer whole: put its folder back, or, if no table of it was ever "
            f"published, replace it: discreet cube {FIRST_EDITION}"
        )
    since = "" if any(changed < least for changed in present) else " since an earlier edition, which was replaced"
    return KeptEdition(history.version, f"fewer than {least:,} records have changed{since}", changed=True)


def _check_series(folder: Path, history: EditionHistory, new: Edition, asked: str) -> None:
    """A series other than that of the cube that is there is asked for, and only then."""
    others = history.present.differs(new.series)
    if others and asked != NEW_SERIES:
        raise InputError(
            f"the cube in {folder.name!r} was built with {' and '.join(others)}: this would be a new series. "
            f"Then {DANGER}. Ask for it with `discreet cube {NEW_SERIES}`, or build as before"
        )
    if not others and asked == NEW_SERIES:
        raise InputError(
            f"codebook, steps and secret are those of the cube in {folder.name!r}: this is not a new series; "
            f"leave {NEW_SERIES} out"
        )


def check_same_cube(history: EditionHistory, new: Edition, policy: Policy | None) -> None:
    """The records of an earlier edition give its cube again, byte by byte: another would measure them again."""
    earlier = history.of(new.series)
    if earlier is None or fewest_changes(policy) == 0:
        return
    changes = earlier.marks.changed_records(new.marks)
    versions = [version for changed, version in zip(changes, earlier.versions, strict=True) if changed == 0]
    if versions and new.version not in versions:
        raise InputError(
            "the records are those of an earlier edition, but their cube is another: record keys, the order of "
            "records without keys, or words of the codebook have changed. Published again it would measure the same "
            "people again: build it from the files of that edition"
        )
