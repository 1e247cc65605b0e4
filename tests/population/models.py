"""A sample of a small table and every model of the population behind it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.population import (
    Dirichlet,
    Multinomial,
    NegativeBinomial,
    Poisson,
    PoissonGamma,
    PoissonLogNormal,
    Polya,
)

SAMPLE = np.array([[12, 0, 3, 0], [7, 2, 0, 1], [5, 1, 1, 0]])


N = 320


FIXED = [Multinomial(), Multinomial(()), Dirichlet(), Dirichlet("main"), Polya(theta=0.05), Polya(), Polya(zeros=2)]


FREE = [Poisson(), NegativeBinomial(), PoissonGamma(), PoissonGamma("main"), PoissonLogNormal(), PoissonLogNormal(())]


every = pytest.mark.parametrize("model", [*FIXED, *FREE], ids=repr)


exact = pytest.mark.parametrize("model", [*FIXED[:5], *FREE], ids=repr)
