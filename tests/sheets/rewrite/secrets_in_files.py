"""Numbers planted in every corner of a file, and a search that finds them however they are written."""

from __future__ import annotations

import base64
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator


class Planted:
    """Gives a new number of seven digits for every corner, and remembers which is where."""

    def __init__(self) -> None:
        self.corners: dict[str, str] = {}

    def __call__(self, corner: str) -> str:
        assert corner not in self.corners, corner
        self.corners[corner] = str(8_300_017 + 4_561 * len(self.corners))
        return self.corners[corner]


def contents(data: bytes) -> Iterator[bytes]:
    """A file and, if it is a package or compressed, all that is in it, names of parts and comments included."""
    yield data
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            yield package.comment
            for part in package.infolist():
                yield part.filename.encode() + part.comment + part.extra
                yield from contents(package.read(part))
    for start in (match.start() for match in re.finditer(rb"\x78[\x01\x9c\xda]", data)):
        try:
            yield zlib.decompressobj().decompress(data[start:])
        except zlib.error:
            continue


def spellings(number: str) -> Iterator[bytes]:
    """A number as it may be written: plain, with parted thousands, wide, in base 64, by its character references."""
    parted = [f"{int(number):,}".replace(",", sign) for sign in (",", ".", " ", "'", "\u00a0", "\u202f")]
    for text in (number, *parted):
        for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
            yield text.encode(encoding)
    for shift in range(3):
        coded = base64.b64encode(b"x" * shift + number.encode())
        yield coded[4 if shift else 0 : len(coded) - 4]
    yield "".join(f"&#{ord(sign)};" for sign in number).encode()
    yield "".join(f"&#x{ord(sign):x};" for sign in number).encode()
    yield number[::-1].encode()
    yield int(number).to_bytes(4, "little")
    yield f"{int(number):x}".encode()


def remains(data: bytes, corners: dict[str, str]) -> set[str]:
    """The corners whose number is still somewhere in a file."""
    pieces = list(contents(data))
    return {corner for corner, number in corners.items() if _holds(pieces, spellings(number))}


def _holds(pieces: Iterable[bytes], texts: Iterable[bytes]) -> bool:
    wanted = list(texts)
    return any(text in piece for piece in pieces for text in wanted)
