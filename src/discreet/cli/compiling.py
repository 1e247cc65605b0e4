"""discreet warm-up: everything compiled before it is needed."""

from __future__ import annotations

import time

from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.progress import bar
from discreet.errors import InputError


@example("discreet warm-up")
@app.command("warm-up")
def warm_up_command() -> None:
    """Compile everything now, for this processor, so that no later command has to.

    For images, servers and read-only installs: run it as whoever can write beside the package, or as the user who will
    run discreet. Small tables need it not: they are done before compiling would be.
    """
    from discreet.warm_up import warm_up

    began = time.perf_counter()
    with bar("compiling") as progress:
        report = warm_up(progress)
    if not report.folders:
        raise InputError(
            "what was compiled could not be kept: there is no private folder that can be written. NUMBA_CACHE_DIR "
            "names one; nobody else may be able to write to it"
        )
    say(f"{report.loops} loops are compiled, {time.perf_counter() - began:.0f} s; kept in:")
    for folder in report.folders:
        say(f"  {folder}")
