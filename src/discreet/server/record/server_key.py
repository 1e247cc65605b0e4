"""The secret of a server, which is not in its store: what leaves, or is kept of visitors, is hashed with it.

A hash without a secret is a function of the data, and whoever knows all of them but one record can try what the last
one is. The secret is made from the policy's, so that servers of the same answers have the same; a policy that has none
takes a random one from a file beside a store of SQLite, and where there is none either it is drawn at each start.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from dataclasses import replace
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from discreet.base.files import is_file, read_private, write_whole
from discreet.policy import read_policy
from discreet.server.settings import Settings

SUFFIX, KEY_BYTES = ".key", 32
SLOW = {"n": 2**14, "r": 8, "p": 1}


def with_key(settings: Settings) -> Settings:
    """Settings with the server's secret. Done before workers are forked, so that all of them have the same."""
    if settings.key:
        return settings
    secret = read_policy(settings.policy).secret or file_key(settings.store) or secrets.token_bytes(KEY_BYTES)
    return replace(settings, key=hmac.new(secret, b"discreet server key", "sha256").digest())


def file_key(store: str) -> bytes | None:
    """The random secret beside a store that is a file, made when it is first asked for; None for other stores."""
    try:
        address = make_url(store)
    except SQLAlchemyError:
        return None
    database = address.database or ""
    if address.get_backend_name() != "sqlite" or database in ("", ":memory:") or database.startswith("file:"):
        return None
    file = Path(database + SUFFIX)
    if not is_file(file):
        draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
        write_whole(draft, secrets.token_hex(KEY_BYTES).encode(), private=True)
        with contextlib.suppress(FileExistsError):  # another process was first, and its key holds
            os.link(draft, file)
        draft.unlink()
    return read_private(file, "the key of the store")


def keyed_name(key: bytes, *words: str) -> str:
    """A short name of something, which tells nothing of it to whoever has not the key.

    >>> keyed_name(b"k", "edition", "a") != keyed_name(b"k", "edition a"), len(keyed_name(b"k", "x"))
    (True, 16)
    """
    text = "".join(f"{len(word)}:{word}," for word in words)
    return hmac.new(key, text.encode(), "sha256").hexdigest()[:16]


def data_mark(store: str, version: str) -> str:
    """The name of data in a store, the same under every policy: by the key beside it, else by a slow hash."""
    key = file_key(store)
    if key is not None:
        return f"k:{keyed_name(key, 'data', version)}"
    salt = hashlib.sha256(b"discreet data").digest()
    return "s:" + hashlib.scrypt(version.encode(), salt=salt, dklen=16, **SLOW).hex()
