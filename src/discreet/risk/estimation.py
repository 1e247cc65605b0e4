"""How far R2 of an estimated population may be from that of the true one: section 6.3, topic 3, of [Ant16]_."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.base.arguments import checked
from discreet.errors import InputError
from discreet.information import conditional_entropy_perturbed, entropy, read_counts, same_shape
from discreet.risk.frequency import r2


@checked
@dataclass(frozen=True)
class EstimationError:
    """Differences of the unweighted terms of R2 (true and estimated population), and the bound on the second.

    >>> error = estimation_error([0, 20, 40], [0, 25, 35], [0, 2, 4])
    >>> round(error.entropy, 3), round(error.bound, 3)
    (0.18, 0.495)
    """

    zeros: float
    entropy: float
    bound: float


@checked
def estimation_error(population: Any, estimated: Any, after: Any) -> EstimationError:
    r"""Equations (6.3.5) and (6.3.6) of [Ant16]_ for a true table F, its estimate and the released table.

    ``zeros`` is (6.3.5), the difference of the first terms. ``entropy`` is the left side of (6.3.6), that of the second
    terms, and ``bound`` its right side

    .. math:: \frac{\varepsilon_1 + \varepsilon_2}{\hat H(X)} +
              \frac{\varepsilon_1\, (H(X) - H(X|Y))}{H(X)\, \hat H(X)}

    with the errors of H(X) and of H(X|Y). Differs from the print, which has H(X) less its estimate in the last
    fraction where its own proof, (A.6.1), has H(X) - H(X|Y).

    >>> estimation_error([0, 20, 40], [0, 25, 35], [0, 2, 4]).zeros
    0.0
    """
    f, guess = read_counts(population, "population"), read_counts(estimated, "estimated")
    same_shape(f, guess)
    true, guessed = r2(f, after).terms, r2(guess, after).terms
    h, h_found = float(entropy(f)), float(entropy(guess))
    if min(h, h_found) <= 0:
        raise InputError("everybody is in one cell of a table: its entropy is 0 and the bound divides by it")
    left = float(conditional_entropy_perturbed(f, after))
    off = (abs(h - h_found), abs(left - float(conditional_entropy_perturbed(guess, after))))
    bound = sum(off) / h_found + off[0] * (h - left) / (h * h_found)
    return EstimationError(abs(true["zeros"] - guessed["zeros"]), abs(true["entropy"] - guessed["entropy"]), bound)
