"""Scripts of ``benchmarks/`` as modules, for tests of what they do and of the files they hold."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1] / "benchmarks"


def script(name: str) -> ModuleType:
    """A script, which may import its neighbours."""
    sys.path.append(str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))
