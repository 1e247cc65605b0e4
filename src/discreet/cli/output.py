"""What a command writes: bytes to a file or to stdout, a release in its format, plain data as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.base.files import is_file
from discreet.cli.console import say
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.release import Release


def keep_edited(path: Path, new: bytes) -> None:
    """Refuse to write over a file that people edit by hand, unless it would stay the same."""
    if path.exists() and (not is_file(path) or path.read_bytes() != new):
        raise InputError(f"{path} exists already and may have been edited; give another name, or --force")


def emit(data: bytes, output: Path | None, *, private: bool = False) -> None:
    """Bytes to a file (which its owner alone can read if it is ``private``), whole or not at all, or to stdout."""
    from discreet.base.files import write_whole

    if output is not None:
        write_whole(output, data, private=private)
        say(f"wrote {output}")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def emit_release(
    release: Release, output: Path | None, format: str | None = None, *, metadata: bool = False, private: bool = False
) -> None:
    """A release to a file in the format of its suffix, or to stdout as CSV, unless ``format`` says otherwise."""
    from discreet.formats import metadata_path, to_bytes

    if metadata and output is not None:
        about = to_bytes(release, "csvw", url=output.name)
        emit(about, metadata_path(output, format_of(output, format)), private=private)
    emit(to_bytes(release, format_of(output, format)), output, private=private)


def format_of(output: Path | None, format: str | None = None, *, metadata: bool = False) -> str:
    """The name of the format to write, so that a wrong suffix is found before any work is done."""
    if metadata:
        from discreet.formats import metadata_path

        if output is None:
            raise InputError("--metadata writes a file beside the CSV: name that (-o table.csv)")
        metadata_path(output, format_of(output, format))
    from discreet.formats import by_name, chosen_format

    if output is not None:
        return chosen_format(output, format)
    return "csv" if format is None else by_name(format).name


def plain_json(item: Any) -> Any:
    """Plain data that every reader of JSON takes: numbers that are none or endless are null."""
    if isinstance(item, Mapping):
        return {str(key): plain_json(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [plain_json(value) for value in item]
    item = item.item() if hasattr(item, "item") else item  # NumPy's numbers
    return None if isinstance(item, float) and not math.isfinite(item) else item


def emit_json(content: Any) -> None:
    """Plain data to stdout as JSON."""
    emit((json.dumps(plain_json(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode(), None)
