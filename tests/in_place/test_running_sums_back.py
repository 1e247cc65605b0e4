"""Running sums of a sheet that is written back: each stays where all that it adds up is shown, and nowhere else."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.in_place.contents import HiddenMarks
from discreet.in_place.sheet_files import protect_file, write_in_place
from discreet.methods.suppress.method import Suppress
from discreet.rules import Threshold

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=6, max_size=6), st.booleans())
def test_sums_stay_up_to_the_first_count_that_is_hidden(
    tmp_path_factory: object, counts: list[int], total: bool
) -> None:
    """A sum that stays adds up counts that are all shown, so that nothing follows from it; others are marked."""
    folder: Path = tmp_path_factory.mktemp("sums")  # type: ignore[attr-defined]
    rows = [("Month", "Deaths", "Deaths to date"), *zip(MONTHS, counts, accumulate(counts), strict=True)]
    rows += [("Total", sum(counts), "")] if total else []
    source, target = folder / "months.csv", folder / "safe.csv"
    source.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    done = protect_file(source, Suppress(Threshold(n=6)))
    write_in_place(done, target, HiddenMarks("*", "*"), "")
    written = [line.split(",") for line in target.read_text(encoding="utf-8").splitlines()][1:7]
    whole = True
    for (_, count, so_far), true, sum_of_all in zip(written, counts, accumulate(counts), strict=True):
        assert count == ("*" if true < 6 else str(true)) or true >= 6
        whole = whole and count != "*"
        assert so_far == (str(sum_of_all) if whole else "*")
