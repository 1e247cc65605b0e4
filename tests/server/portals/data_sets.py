"""What the tests of portals share: areas in two levels, a year without a total, and a hub of two cubes."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd

import discreet as dc
from discreet.server.counting import cube
from tests import servers

COUNTIES = {"N1": "North", "N2": "North", "S1": "South", "S2": "South", "S3": "South"}


@cache
def area_cube() -> Path:
    """Persons by county within region, sex and year of survey."""
    draw = np.random.default_rng(7)
    county = draw.choice(list(COUNTIES), 9000, p=[0.4, 0.2, 0.2, 0.15, 0.05])
    sex, year = draw.choice(["f", "m"], 9000), draw.choice(["2024", "2025"], 9000)
    keys = draw.integers(0, 1 << 32, 9000, dtype=np.uint64)
    frame = pd.DataFrame({"county": county, "sex": sex, "year": year, "key": keys})
    county_names = {code: f"County {code}" for code in COUNTIES} | {"North": "The North", "South": "The South"}
    dimensions = [
        dc.Dimension.from_parents("county", COUNTIES, total="Land", labels=county_names),
        dc.Dimension.flat("sex", ["f", "m"], labels={"f": "women", "m": "men"}),
        dc.Dimension.flat("year", ["2024", "2025"], total=None),
    ]
    folder = Path(mkdtemp(prefix="discreet-areas-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    cube.build(dc.Microdata.of(frame, dimensions=dimensions, key="key"), folder)
    return folder


def two_cubes() -> dict[str, str]:
    """A hub's cubes by name."""
    return {"people": str(servers.small_cube()), "areas": str(area_cube())}
