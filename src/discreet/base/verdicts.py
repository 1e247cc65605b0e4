"""The word that a judgement ends in: pass, fail, or unknown. Unknown is never pass."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What was found: ``pass``, ``fail``, or ``unknown`` where it could not be judged. Only a pass is true.

    >>> Verdict.PASS.ok, Verdict.UNKNOWN.ok, bool(Verdict.FAIL)
    (True, False, False)
    """

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def ok(self) -> bool:
        """Whether it is a pass."""
        return self is Verdict.PASS

    def __bool__(self) -> bool:
        return self.ok

    @classmethod
    def of(cls, *, fails: object, unknown: object) -> Verdict:
        """Fail if anything fails, else unknown if anything is, else pass.

        >>> Verdict.of(fails=0, unknown=["no total found"])
        <Verdict.UNKNOWN: 'unknown'>
        """
        return cls.FAIL if fails else cls.UNKNOWN if unknown else cls.PASS

    @classmethod
    def worst(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """The verdict on everything together: no better than any part; of nothing at all, unknown.

        >>> Verdict.worst([Verdict.PASS, Verdict.UNKNOWN]).value
        'unknown'
        """
        several = list(verdicts)
        return cls.of(fails=cls.FAIL in several, unknown=cls.UNKNOWN in several or not several)
