"""What becomes of a cell, inside (confidential) and in a release."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from discreet.base.annotations import Array


class Status(StrEnum):
    """What becomes of a cell, in the letters of sdcTable and tau-ARGUS. Confidential: see ``outward``.

    >>> Status("u").name, Status.PRIMARY.hidden, Status.PUBLISHED.hidden
    ('PRIMARY', True, False)
    """

    PUBLISHED = "s"
    PRIMARY = "u"
    SECONDARY = "x"
    FORCED = "z"  # must be published
    NEVER = "w"  # not part of any publication

    @property
    def hidden(self) -> bool:
        return self in (Status.PRIMARY, Status.SECONDARY, Status.NEVER)


_HIDDEN = tuple(one.value for one in Status if one.hidden)
CONFIDENTIAL = "c"
OPEN = ""
AS_IT_IS = "published as it is"  # what was done, where nothing was


def hidden(status: Array) -> Array:
    """Which cells are not shown.

    >>> hidden(np.array(["s", "u", "x"])).tolist()
    [False, True, True]
    """
    gone = np.zeros(np.shape(status), bool)
    for value in _HIDDEN:
        gone |= status == value
    return gone
