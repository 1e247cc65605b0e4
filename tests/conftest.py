"""One way of running for everybody: no time limits on single examples, the same examples in every CI run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "discreet", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("discreet")
os.environ.setdefault("MPLBACKEND", "Agg")
