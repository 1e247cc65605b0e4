"""One call for a frame of counts: hide small ones, round them, perturb them, or follow a recipe."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from discreet.base.arguments import checked, whole
from discreet.errors import DiscreetWarning, InputError
from discreet.in_place.chosen_methods import recipe_method, seed_of, small_counts_hidden, with_range_mark
from discreet.in_place.contents import contents_of, marks_for
from discreet.in_place.kept_texts import check_kept
from discreet.in_place.protecting_tables import protect_tables
from discreet.in_place.protection_report import ProtectionReport
from discreet.in_place.put_back import frame_like, left_out_of_frame
from discreet.in_place.secret_numbers import secret_numbers
from discreet.methods.contract import Method
from discreet.methods.keys import Secret
from discreet.methods.perturb.cell_key import CellKey
from discreet.methods.perturb.controlled import ControlledRound
from discreet.methods.perturb.rounding import RandomRound, Round
from discreet.methods.recipes.midpoint import MidpointRound
from discreet.sheets.reading_sheets import read_table
from discreet.sheets.sources.frame_grid import is_frame

Report = Callable[[ProtectionReport], object] | None


@checked
def suppress_small_counts(
    frame: Any,
    *,
    under: int,
    zeros: bool = False,
    mark: str | None = None,
    key: str | bytes | Secret | None = None,
    report: Report = None,
    keep_text: str | Sequence[str] = (),
    **reading: Any,
) -> Any:
    """The same frame without counts from 1 to ``under`` - 1, nor any that would follow from the totals.

    ``frame``: a cross-tabulation, pivot, grouped count or long table of pandas, polars or Arrow, with or without
    totals. Hidden counts are missing, or ``mark`` stands there ("*", "[c]"; "<6" says a range, and is audited as one).
    Percentages beside the counts are recomputed. ``zeros`` hides empty cells, too. ``report`` is called with what
    was done; of pandas it also stands in ``.attrs["discreet"]``. Columns that are neither labels nor counts come back
    empty, with a warning, unless ``keep_text`` names them. Further options are those of ``read_table``.

    >>> import pandas as pd
    >>> counts = pd.DataFrame({"f": [20, 3, 23], "m": [9, 30, 39], "All": [29, 33, 62]}, index=["a", "b", "All"])
    >>> suppress_small_counts(counts, under=6)["f"].tolist()
    [<NA>, <NA>, 23]
    """
    whole("under", under, 2)
    return protected_frame(frame, small_counts_hidden(under, zeros, mark, key), mark, under, report, reading, keep_text)


@checked
def round_counts(
    frame: Any,
    *,
    base: int = 5,
    how: Literal["nearest", "random", "midpoint", "controlled"] = "nearest",
    seed: int | None = None,
    secret: str | bytes | Secret | None = None,
    report: Report = None,
    keep_text: str | Sequence[str] = (),
    **reading: Any,
) -> Any:
    """The same frame with every count rounded to ``base``.

    ``how``: to the "nearest" multiple; at "random", up or down without bias; to the "midpoint" above which zero stays
    zero; or "controlled", so that the table still adds up. Random rounding needs a ``seed`` or ``secret``.

    >>> import pandas as pd
    >>> round_counts(pd.DataFrame({"f": [21, 3], "m": [9, 30]}, index=["a", "b"]))["f"].tolist()
    [20, 5]
    """
    whole("base", base, 2)
    kinds = {"nearest": Round, "midpoint": MidpointRound, "controlled": ControlledRound}
    if how == "random":
        chosen: Any = RandomRound(base, seed=seed_of(seed, secret))
    elif seed is not None or secret is not None:
        raise InputError(f"how={how!r} draws no random numbers: leave seed and secret out, or take how='random'")
    else:
        chosen = kinds[how](base)
    return protected_frame(frame, chosen, None, None, report, reading, keep_text)


@checked
def perturb_counts(
    frame: Any,
    *,
    d: int = 2,
    v: float = 1.0,
    zeros: float = 0.0,
    seed: int | None = None,
    secret: str | bytes | Secret | None = None,
    report: Report = None,
    keep_text: str | Sequence[str] = (),
    **reading: Any,
) -> Any:
    """The same frame with small noise on every count, at most ``d`` away, of variance ``v`` (cell key method).

    ``zeros`` is the share of empty cells that show a small count. The noise of a cell comes from ``seed`` or ``secret``
    and the labels of its row and column, so it is the same whenever the table is made again.

    >>> import pandas as pd
    >>> counts = pd.DataFrame({"f": [21, 3], "m": [9, 30]}, index=["a", "b"])
    >>> out = perturb_counts(counts, seed=5038172694417)
    >>> int((out - counts).abs().max().max()) <= 2
    True
    """
    chosen = CellKey(d, v, zeros=zeros, seed=seed_of(seed, secret))
    return protected_frame(frame, chosen, None, None, report, reading, keep_text)


@checked
def apply_recipe(
    frame: Any,
    recipe: str,
    *,
    mark: str | None = None,
    seed: int | None = None,
    secret: str | bytes | Secret | None = None,
    report: Report = None,
    settings: dict[str, Any] | None = None,
    keep_text: str | Sequence[str] = (),
    **reading: Any,
) -> Any:
    """The same frame by a recipe that an office publishes: "opensafely", "midpoint6", "nhs", "cms-11", ...

    ``settings`` are parameters of the recipe. Where it draws random numbers, give a ``seed`` or ``secret``. A ``mark``
    may say the range that the recipe hides: "<8" with "nhs".

    >>> import pandas as pd
    >>> apply_recipe(pd.Series([3, 8, 16, 23, 50], index=["a", "b", "c", "d", "Total"]), "opensafely").tolist()
    [<NA>, 10, 15, 25, 50]
    """
    chosen, under = with_range_mark(recipe, recipe_method(recipe, settings or {}, seed, secret), mark)
    return protected_frame(frame, chosen, mark, under, report, reading, keep_text)


def protected_frame(
    frame: Any,
    chosen: Method,
    mark: str | None,
    under: int | None,
    report: Report,
    reading: dict[str, Any],
    keep_text: str | Sequence[str] = (),
) -> Any:
    """A frame read as a table, protected, audited, and put back; nothing comes back that the audit does not pass."""
    if not is_frame(frame):
        raise InputError(
            f"{type(frame).__name__} is not a frame; give a DataFrame or Series of pandas, polars or Arrow (a file: "
            "discreet protect FILE)"
        )
    marks, _ = marks_for(mark or "*", under)
    sheet = read_table(frame, **reading)
    keep = (keep_text,) if isinstance(keep_text, str) else tuple(keep_text)
    check_kept((sheet,), keep)
    protected = protect_tables((sheet,), chosen)
    (done,), (outcome,) = protected.done, protected.outcomes
    contents = contents_of(sheet, done, marks, secret_numbers(sheet, done), keep)
    out = frame_like(frame, sheet.grid, contents, mark)
    left_out = left_out_of_frame(sheet.grid, contents)
    if left_out:
        warnings.warn("; ".join(left_out), DiscreetWarning, stacklevel=4)
    outcome = replace(outcome, remarks=(*outcome.remarks, *left_out))
    if hasattr(out, "attrs"):
        out.attrs["discreet"] = outcome.to_dict()
    if report is not None:
        report(outcome)
    return out
