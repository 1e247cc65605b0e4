"""Images of a file that somebody says to keep: the picture alone, without texts, dates and places stored beside it."""

from __future__ import annotations

import struct

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_DRAWN = (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"sRGB", b"cHRM", b"pHYs")
_HELD = (0xE0, 0xEE)
"""Segments of a JPEG that say how it is drawn; all others with a name of an application hold something else."""


def plain_image(data: bytes) -> tuple[str, bytes] | None:
    """An image as its suffix and its bytes without anything that is not drawn; None if it is not a PNG or JPEG.

    >>> plain_image(b"GIF89a") is None
    True
    """
    if data.startswith(PNG):
        drawn = _png(data)
        return None if drawn is None else ("png", drawn)
    if data.startswith(JPEG):
        drawn = _jpeg(data)
        return None if drawn is None else ("jpeg", drawn)
    return None


def _png(data: bytes) -> bytes | None:
    parts, at = [PNG], len(PNG)
    while at + 12 <= len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, end = data[at + 4 : at + 8], at + 12 + size
        if end > len(data):
            return None
        if kind in _DRAWN:
            parts.append(data[at:end])
        if kind == b"IEND":
            return b"".join(parts)
        at = end
    return None


def _jpeg(data: bytes) -> bytes | None:
    parts, at = [JPEG], len(JPEG)
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        kind = data[at + 1]
        (size,) = struct.unpack(">H", data[at + 2 : at + 4])
        end = at + 2 + size
        if end > len(data):
            return None
        if kind == 0xDA:  # the picture itself, up to its end
            last = data.find(b"\xff\xd9", end)
            return None if last < 0 else b"".join([*parts, data[at : last + 2]])
        if not (kind == 0xFE or (0xE0 <= kind <= 0xEF and kind not in _HELD)):
            parts.append(data[at:end])
        at = end
    return None
