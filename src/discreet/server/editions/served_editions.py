"""The editions that the servers of a store have served, from whatever folder.

A folder knows the editions that were built in it (``edition_history``). One that was built in another folder, or after
the copy from which a folder was put back, is known to the store: a sketch of every edition that was served lies there,
encrypted under the secret of the servers. What differs from one of them by few records is not served.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, insert, select

from discreet.errors import InputError
from discreet.policy import Policy
from discreet.server.editions.edition_history import EditionHistory, history_of
from discreet.server.editions.edition_sketch import EditionSketch
from discreet.server.record.server_key import file_key, keyed_name
from discreet.server.record.store import Store
from discreet.server.schema import editions
from discreet.server.settings import Settings

NONCE = 16  # bytes before an encrypted sketch


@dataclass(frozen=True)
class ServedEditions:
    """The editions of a store, as servers with one key see them."""

    store: Store
    key: bytes

    def admit(self, folder: Path, policy: Policy) -> None:
        """Note that the cube in a folder is served; raises ``InputError`` if an edition of another folder is too near.

        Whoever was noted once is not looked at again. With ``min_changes = 0`` nothing is compared.
        """
        history = self._history(folder, policy)
        if history is None:
            return
        series = keyed_name(self.key, "series of editions", history.present.secret, policy.edition.people)
        name = self._name(history.version)
        with self.store.begin(reading=True) as connection:
            there = select(editions.c.name).where(editions.c.series == series, editions.c.name == name)
            if connection.execute(there).first() is not None:
                return
        sketch = EditionSketch.of(history.marks)
        known = {self._name(version) for one in history.every for version in one.versions}
        with self.store.begin() as connection:
            self.store.lock(connection, [f"editions:{series}"])
            rows = connection.execute(select(editions).where(editions.c.series == series)).mappings().all()
            if name in {row["name"] for row in rows}:  # another worker was first
                return
            if policy.min_changes:
                others = [row for row in rows if row["name"] not in known]
                self._compare(sketch, [bytes(row["sketch"]) for row in others], folder, policy.min_changes)
            line = {"series": series, "name": name, "sketch": self._closed(sketch), "at": time.time()}
            connection.execute(insert(editions).values(**line))

    def forget(self) -> None:
        """Forget all of them: nothing that was served from this store is about real people."""
        with self.store.begin() as connection:
            connection.execute(delete(editions))

    def _history(self, folder: Path, policy: Policy) -> EditionHistory | None:
        """The editions of a folder; None where they need not be known and are not."""
        try:
            return history_of(folder)
        except InputError:
            if policy.min_changes:
                raise
            return None

    def _compare(self, sketch: EditionSketch, others: list[bytes], folder: Path, least: int) -> None:
        for content in others:
            if sketch.changed_records(self._opened(content)) < least:
                raise InputError(
                    f"this store has served an edition that was not built in {folder.name!r}, and fewer than {least:,} "
                    "records differ between the two: a reader with answers of both can tell these records. Build all "
                    "editions of the same people in one folder, where one that is too near waits (discreet cube); or, "
                    'if these are other people, name them in the policy: [edition] people = "..."'
                )

    def _name(self, version: str) -> str:
        return keyed_name(self.key, "served edition", version)

    def _closed(self, sketch: EditionSketch) -> bytes:
        nonce = secrets.token_bytes(NONCE)
        return nonce + self._masked(zlib.compress(sketch.to_bytes(), 1), nonce)

    def _opened(self, content: bytes) -> EditionSketch:
        try:
            return EditionSketch.from_bytes(zlib.decompress(self._masked(content[NONCE:], content[:NONCE])))
        except zlib.error:
            raise InputError("an edition in the store is damaged: put the store back from a copy") from None

    def _masked(self, content: bytes, nonce: bytes) -> bytes:
        """Encrypted, or decrypted: with a stream of bytes that only the holder of the key has, another each time."""
        stream = hashlib.shake_256(hmac.digest(self.key, b"discreet edition " + nonce, "sha256")).digest(len(content))
        return (int.from_bytes(content, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(content), "big")


def admit_edition(settings: Settings, store: Store, policy: Policy) -> None:
    """Note what is served in its store, or refuse it.

    Records that are counted for each answer have no marks; nor is there a key that would open a sketch again where
    neither the policy has a secret nor the store is a file.
    """
    key = file_key(settings.store) or (settings.key if policy.secret is not None else None)
    if settings.folder is not None and key is not None:
        ServedEditions(store, key).admit(settings.folder, policy)
