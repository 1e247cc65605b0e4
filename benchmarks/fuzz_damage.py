"""Damage to a file: bytes turned, cut off, put in, lines exchanged, words replaced; from a seed."""

from __future__ import annotations

import random
import re

SIGN = 918273  # a number that stands in the data and in no message

WORDS = [
    b"", b"0", b"-1", b"1e400", b"-1e400", b"nan", b"inf", b"99999999999999999999", b"1" + b"0" * 400, b"0.1", b"1,5",
    b"true", b"null", b"None", b"Total", b"status", b"count", b"mark", b"c", b"u", b"z", b";", b",", b"\t", b"|", b'"',
    b"'", b"\\", b"[", b"]", b"{", b"}", b"[[", b"]]", b"=", b"#", b"@", b"<", b">", b"<SEPARATOR>", b"<RECODEABLE>",
    b"\r\r\n", b"\n\n", b"\r", b"\x00", b"\x1a", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3\xa9", b"\xe9",
    "\u2028".encode(), "١".encode(), "−1".encode(), b"area", b"sex", b"T", b"..", b"/", b"=1+1", b"%s", b"(", b")",
]  # fmt: skip


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to four things done to them."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        data = chance.choice(WAYS)(data, chance)
    return data


def _place(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(start + chance.choice((1, 1, 2, 3, 5, 8, 13, 30)), len(data))


def _flip(data: bytes, chance: random.Random) -> bytes:
    start, _ = _place(data, chance)
    return data[:start] + bytes([chance.randrange(256)]) + data[start + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:start] + data[end:]


def _end(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _insert(data: bytes, chance: random.Random) -> bytes:
    start, _ = _place(data, chance)
    return data[:start] + chance.choice(WORDS) + data[start:]


def _word(data: bytes, chance: random.Random) -> bytes:
    """Another word in the place of one, which leaves the file's form whole."""
    found = list(re.finditer(rb"[\w.+-]+", data))
    if not found:
        return data
    at = chance.choice(found)
    plain = [word.group() for word in found if str(SIGN).encode() not in word.group()]  # as a code it may be named
    other = chance.choice(plain) if plain and chance.random() < 0.3 else chance.choice(WORDS)
    return data[: at.start()] + other + data[at.end() :]


def _lines(data: bytes, chance: random.Random) -> bytes:
    """A line doubled, left out, or moved."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _ends(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\r\r\n", b"\n\n", b"")))


def _repeat(data: bytes, chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:start] + data[start:end] * chance.choice((2, 3, 50)) + data[end:]


def _encode(data: bytes, chance: random.Random) -> bytes:
    text = data.decode("latin-1")
    return text.encode(chance.choice(("utf-16", "utf-8-sig", "utf-32", "utf-16-le")))


WAYS = (_flip, _cut, _end, _insert, _insert, _word, _word, _word, _word, _lines, _lines, _ends, _repeat, _encode)
