"""The compiled loop that makes basic moves shorter."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.base.compiled import compiled

SWEEPS = 6  # over all basic moves; the sixth hardly ever shortens one
LARGEST = 60  # entry of a basic move: the sum of two is still a number of 8 bits


@compiled(steps=lambda moves, across, stop: moves.size * len(across))
def shorten(moves: Any, across: Any, stop: Any) -> None:
    """Each basic move less another one, or plus it, while that touches fewer cells.

    Small whole numbers in 8 bits, cells x moves and moves x cells, are changed in place; they span what they did.

    ``stop``: an array of one number; once it is not 0 the work ends as it stands.

    >>> two = np.array([[1, 1], [1, 1], [1, 1], [0, 1]], np.int8)
    >>> shorten(two, two.T.copy(), np.zeros(1, np.int64))
    >>> two.tolist()
    [[1, 0], [1, 0], [1, 0], [0, 1]]
    """
    many, cells = across.shape
    size = np.zeros(many, np.int32)
    both = np.zeros(many, np.int32)
    same = np.zeros(many, np.int32)
    opposite = np.zeros(many, np.int32)
    for k in range(many):
        size[k] = np.count_nonzero(across[k])
    for _ in range(SWEEPS):
        changed = False
        for move in np.argsort(-size, kind="mergesort"):
            while True:
                if stop[0]:
                    return
                both[:] = 0
                same[:] = 0
                opposite[:] = 0
                for i in range(cells):
                    by = across[move, i]
                    if by != 0:
                        line = moves[i]
                        for k in range(many):
                            both[k] += line[k] != 0
                            same[k] += line[k] == by
                            opposite[k] += line[k] == -by
                other = -1
                sign = 1
                most = 0
                for k in range(many):
                    if k != move:  # cells that the difference or the sum does without
                        if both[k] + same[k] - size[k] > most:
                            other = k
                            sign = 1
                            most = both[k] + same[k] - size[k]
                        if both[k] + opposite[k] - size[k] > most:
                            other = k
                            sign = -1
                            most = both[k] + opposite[k] - size[k]
                if other < 0 or np.abs(across[move]).max() + np.abs(across[other]).max() > LARGEST:
                    break
                for i in range(cells):
                    by = across[other, i]
                    if by != 0:
                        across[move, i] -= sign * by
                        moves[i, move] = across[move, i]
                size[move] -= most
                changed = True
        if not changed:
            break
