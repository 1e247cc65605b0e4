"""The private folder of a run: tables that wait for the check, and what is finished, so that a run can go on.

It lies outside the output folder, where everything may be copied to the public.

``state.jsonl`` has one line per finished unit, appended in one write: a run that is killed leaves whole lines. Digests
are keyed with a salt that never leaves the folder, and nothing of the records stands in it.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet.base.files import append_private, lock, own_file, own_folder, write_whole
from discreet.base.resume import kept_rows, lines_of
from discreet.base.version import VERSION
from discreet.errors import InputError
from discreet.methods.contract import SECRETS
from discreet.policy import read_policy
from discreet.publishing.protect import FinishedTable, digest
from discreet.publishing.spec import FORMER, Programme, Source, Unit

Tables = Mapping[str, FinishedTable]  # by name
WHOLE = 1 << 30  # bytes of records up to which their content is compared; beyond, size and time of the last change


@dataclass(frozen=True)
class Folder:
    """The output folder of a programme with its private part."""

    output: Path
    private: Path
    salt: bytes
    moved: bool = False
    """Whether the private part was found within the output, where early versions had it."""

    @classmethod
    def open(cls, programme: Programme) -> Folder:
        """Make the folders, for nobody else to read where tables wait."""
        private = programme.private
        try:
            programme.output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write to {str(programme.output)!r}: {error.strerror}") from None
        moved = _moved_out(programme.output / FORMER, private)
        for path in (private, private / "waiting", private / "shown"):
            own_folder(path)
        salt = private / "salt"
        if not salt.exists() or len(salt.read_bytes()) < 32:
            write_whole(salt, secrets.token_bytes(32), private=True)
        return cls(programme.output, private, salt.read_bytes(), moved)

    @property
    def state(self) -> Path:
        return self.private / "state.jsonl"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Refuse a second run into the same folder; the lock goes with the process, however that ends."""
        with _locked(self.private / "lock", self.output):
            yield

    # -- what is finished ---------------------------------------------------------------------------------------

    def read(self) -> dict[str, tuple[str, list[FinishedTable]]]:
        """Fingerprint and tables of every finished unit; lines that tell of none, such as a cut one, are left out."""
        units = {}
        for row in kept_rows(self.state):
            try:
                tables = [FinishedTable(**{**table, "measures": tuple(table["measures"])}) for table in row["tables"]]
                units[row["unit"]] = (row["fingerprint"], tables)
            except (TypeError, ValueError, KeyError):
                continue
        return units

    def append(self, unit: str, fingerprint: str, tables: tuple[FinishedTable, ...]) -> None:
        """One more finished unit."""
        append_private(self.state, lines_of([_row(unit, fingerprint, tables)]))

    def compact(self, units: Mapping[str, tuple[str, tuple[FinishedTable, ...]]]) -> None:
        """Forget units that are no longer in the programme, and earlier lines of the others."""
        rows = [_row(unit, fingerprint, tables) for unit, (fingerprint, tables) in units.items()]
        write_whole(self.state, lines_of(rows), private=True)

    def place(self, name: str, wanted: str) -> Path | None:
        """Where a file with that digest is: published, waiting, or nowhere."""
        for path in (self.output / name, self.private / "waiting" / name):
            if path.is_file() and digest(self.salt, path.read_bytes()) == wanted:
                return path
        return None

    def whole(self, table: FinishedTable) -> bool:
        """Whether all files of a table are still there byte for byte."""
        kept = self.private / "shown" / f"{table.name}.npz"
        if not kept.is_file() or digest(self.salt, kept.read_bytes()) != table.shown:
            return False
        return all(self.place(name, wanted) is not None for name, wanted in table.files.items())

    def clear(self, keep: Tables) -> None:
        """Remove what waits and belongs to no table of the run, halves of files included."""
        names = {name for table in keep.values() for name in table.files}
        for path in (self.private / "waiting").iterdir():
            if path.name not in names:
                path.unlink()
        shown = {f"{table.name}.npz" for table in keep.values()}
        for path in (self.private / "shown").iterdir():
            if path.name not in shown:
                path.unlink()

    # -- in and out of the public folder ------------------------------------------------------------------------

    def publish(
        self, passed: Mapping[str, FinishedTable], withheld: Mapping[str, FinishedTable], former: set[str]
    ) -> None:
        """Exactly the tables that passed stand in the output folder afterwards, and of earlier runs nothing else."""
        try:
            self._publish(passed, withheld, former)
        except OSError as error:
            raise InputError(f"cannot publish to {str(self.output)!r}: {error.strerror}; run again") from None

    def _publish(
        self, passed: Mapping[str, FinishedTable], withheld: Mapping[str, FinishedTable], former: set[str]
    ) -> None:
        """What is no longer published goes first, old versions included, so that old and new never stand together."""
        names = {name: wanted for table in passed.values() for name, wanted in table.files.items()}
        waiting = self.private / "waiting"
        for table in withheld.values():
            for name, wanted in table.files.items():
                if self.place(name, wanted) == self.output / name:
                    _move(self.output / name, waiting / name, private=True)
        for name in former | {n for table in withheld.values() for n in table.files}:
            path = self.output / name
            if path.is_file() and (name not in names or digest(self.salt, path.read_bytes()) != names[name]):
                path.unlink()
        for name, wanted in names.items():
            there = self.place(name, wanted)
            if there is None:
                raise InputError(f"{name!r} has been changed during the run; run the programme again")
            if there != self.output / name:
                _move(there, self.output / name)


def _row(unit: str, fingerprint: str, tables: tuple[FinishedTable, ...]) -> dict[str, Any]:
    return {"unit": unit, "fingerprint": fingerprint, "tables": [asdict(table) for table in tables]}


def _move(path: Path, target: Path, *, private: bool = False) -> None:
    """Whole under its new name before it is gone under the old one; the two may lie on different disks."""
    write_whole(target, path.read_bytes(), private=private)
    path.unlink()


@contextmanager
def _locked(path: Path, output: Path) -> Iterator[None]:
    own_file(path)
    handle = lock(path, f"another run is writing to {str(output)!r}; wait for it to end")
    try:
        yield
    finally:
        os.close(handle)


def _moved_out(former: Path, private: Path) -> bool:
    """Take a private folder out of the output; whether there was one."""
    if not former.exists():
        return False
    if private.exists():
        raise InputError(
            f"{str(former)!r}, of an earlier version, holds tables that are not published, and {str(private)!r} exists "
            "already; remove the first (its tables are made again), so that nothing confidential is in the output"
        )
    with _locked(former / "lock", former.parent):
        try:
            private.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(former, private)
        except OSError as error:
            raise InputError(f"cannot move {str(former)!r} to {str(private)!r}: {error.strerror}") from None
    return True


# -- what a result depends on -----------------------------------------------------------------------------------


def unit_fingerprint(unit: Unit, source: str, salt: bytes) -> str:
    """A keyed digest of the unit, its source, the files it names, its secrets and this version of discreet."""
    inputs: list[Any] = [VERSION, unit.canonical, source]
    inputs += [digest(salt, path.read_bytes()) if path.is_file() else "" for path in unit.how.files]
    for name in SECRETS:
        secret = unit.how.parameters.get(name)
        if isinstance(secret, str):
            inputs.append(digest(salt, os.environ.get(secret.removeprefix("env:"), "").encode()))
    if unit.how.policy is not None:
        inputs.append(digest(salt, read_policy(unit.how.policy).secret or b""))
    return digest(salt, json.dumps(inputs).encode())


def source_fingerprint(source: Source, salt: bytes) -> str:
    """A keyed digest of the codebook and of the records; of very large files size and time instead of content.

    Nobody can tell whether a database has changed, so its tables are made again in every run.
    """
    if isinstance(source.data, str):
        return secrets.token_hex()
    try:
        stat = source.data.stat()
        content = _content(source.data, salt) if stat.st_size <= WHOLE else f"{stat.st_size} {stat.st_mtime_ns}"
    except OSError as error:
        raise InputError(f"cannot read {source.data.name!r}: {error.strerror}") from None
    inputs = [content, source.read_codebook().to_toml(), source.table, source.missing]
    return digest(salt, json.dumps(inputs).encode())


def _content(path: Path, salt: bytes) -> str:
    state = hmac.new(salt, digestmod="sha256")
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            state.update(piece)
    return state.hexdigest()
