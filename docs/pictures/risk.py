"""Draws the pictures of the risk pages. Run it from any folder: the files appear beside it."""

from pathlib import Path

import discreet as dc

HERE = Path(__file__).parent

report = dc.assess(dc.datasets.psd14_religion())
(HERE / "risk.png").write_bytes(dc.plot.png(report.plot(), dpi=90))
(HERE / "terms.png").write_bytes(dc.plot.png(dc.plot.r1_terms()[0], dpi=80))
