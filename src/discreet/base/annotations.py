"""Types that annotations name everywhere: arrays, and how work says how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]  # (done, total)
