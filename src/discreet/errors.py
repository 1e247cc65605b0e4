"""What can go wrong, in few kinds. No message ever holds a cell value or a record."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable


class DiscreetError(Exception):
    """The base of every error that discreet raises on purpose.

    >>> from discreet import Threshold
    >>> try:
    ...     Threshold(-1)
    ... except DiscreetError as error:
    ...     print(type(error).__name__, error.exit_code)
    InputError 2
    """

    exit_code = 2


class InputError(DiscreetError, ValueError):
    """Something given is wrong: a code, a column, a file, a parameter. Nothing has been computed or written.

    >>> from discreet import Table
    >>> try:
    ...     Table.of([[3, 0], [1, 2]], ["area", "sex"]).where(are="1")
    ... except InputError as error:
    ...     print(error)
    no dimension 'are'; did you mean 'area'?
    """


class NotAdditiveError(InputError):
    """A ready table whose totals are not the sums of their parts; the worst relations are named.

    >>> import pandas as pd
    >>> from discreet import Table
    >>> try:
    ...     Table.of(pd.DataFrame({"sex": ["f", "m", "Total"], "count": [3, 4, 8]}), ["sex"])
    ... except NotAdditiveError as error:
    ...     print(str(error).partition(",")[0])
    a total of 'count' is not the sum of the parts at 0 decimals
    """


class Refused(DiscreetError):  # noqa: N818 - the plan's word: an answer, not an accident
    """The policy says no. Carries the rule's name, the reason, and what to change.

    >>> no = Refused("max_dimensions", "3 variables were asked for", "ask for 2")
    >>> no.rule, str(no)
    ('max_dimensions', 'max_dimensions: 3 variables were asked for (ask for 2)')
    """

    exit_code = 3

    def __init__(self, rule: str, reason: str, hint: str = "") -> None:
        self.rule, self.reason, self.hint = rule, reason, hint
        super().__init__(f"{rule}: {reason}" + (f" ({hint})" if hint else ""))

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str, str]]:
        return type(self), (self.rule, self.reason, self.hint)


class Unjudged(DiscreetError):  # noqa: N818 - a verdict of unknown, not an accident
    """Whether something is safe, or fits together, could not be decided: neither yes nor no, and never taken for yes.

    A solver that gives up is one reason, a method that does not say what its values imply another.

    >>> try:
    ...     raise Unjudged("the solver gave up")
    ... except DiscreetError as error:
    ...     print(f"{error}: exit code {error.exit_code}")
    the solver gave up: exit code 1
    """

    exit_code = 1


class OutOfTimeError(DiscreetError):
    """The time was up before there was anything that is proved to protect. Nothing is returned.

    >>> print(OutOfTimeError())
    time ran out before an answer was proved; give more time
    """

    def __init__(self, message: str = "time ran out before an answer was proved; give more time") -> None:
        super().__init__(message)


class DiscreetWarning(UserWarning):
    """A result that stands but needs a look: a fit that has not converged, a model that hardly fits the data.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", DiscreetWarning)  # a doubtful fit now stops the program
    ...     try:
    ...         warnings.warn("the fit has not converged", DiscreetWarning)
    ...     except DiscreetWarning as doubt:
    ...         print(doubt)
    the fit has not converged
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, else the list.

    >>> nearest("treshold", ["threshold", "dominance"])
    "did you mean 'threshold'?"
    >>> nearest("x", ["sex", "age"])
    "known: 'sex', 'age'"
    >>> nearest("1", ["01", "02"])
    "did you mean '01'? Leading zeros are lost where codes are read as numbers: give them as text"
    """
    known = list(known)
    if alike := [other for other in known if other != name and _composed(other) == _composed(name)]:
        return (
            f"did you mean {alike[0]!r}? Its letters are composed differently (Unicode NFC and NFD): write both alike"
        )
    if name.isdecimal() and (padded := [o for o in known if o.isdecimal() and o.lstrip("0") == name.lstrip("0")]):
        return f"did you mean {padded[0]!r}? Leading zeros are lost where codes are read as numbers: give them as text"
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else "known: " + listed(known)


def _composed(text: str) -> str:
    """A text with its letters composed, as NFC has it."""
    return unicodedata.normalize("NFC", text)


def headings(names: Iterable[str], name: str | None = None) -> str:
    """The columns of a file for a message: the nearest to ``name``, else the list.

    Where a heading is a number, the first line of the file is one of data, and nothing of it is shown; nor of a file
    whose lines are a single column.

    >>> headings(["sex", "age"], "agee")
    "did you mean 'age'?"
    >>> headings(["Miller", "1 200-"])
    'its first line holds numbers, so it is one of data: give the file a line of headings'
    """
    names = [str(n) for n in names]
    if any(_is_number(n) for n in names):
        return "its first line holds numbers, so it is one of data: give the file a line of headings"
    if len(names) == 1:
        return "it has a single column: look at the sign that separates columns"
    return listed(names) if name is None else nearest(name, names)


def _is_number(text: str) -> bool:
    if re.sub(r"\W", "", text).isdecimal():  # whatever signs stand with it
        return True
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def many(number: int, noun: str, several: str = "") -> str:
    """A number with what it counts, in the singular or plural; ``several`` where the plural is not the noun with an s.

    >>> many(1, "cell"), many(1204, "cell"), many(2, "entry", "entries")
    ('1 cell', '1,204 cells', '2 entries')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Quoted names for a message, cut after ``most``.

    >>> listed("abc", most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    text = ", ".join(repr(n) for n in names[:most])
    return text + (f" and {len(names) - most} more" if len(names) > most else "")
