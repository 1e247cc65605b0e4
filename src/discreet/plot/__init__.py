"""Results as pictures, all in one style. The only folder that imports matplotlib, and only when something is drawn.

Every function takes ``ax=None`` and returns the axes. Every axis says its unit, and no text overlaps another. Pictures
of true tables or of their risks are as confidential as the tables.
"""

from discreet.plot.change_charts import changes, intervals, noise
from discreet.plot.figure_style import COLOURS, axes, panels
from discreet.plot.finishing import finish
from discreet.plot.image_bytes import png, svg
from discreet.plot.risk_charts import heat_map, line_bars, precision_bars, r1_terms, risk_utility, term_bars

__all__ = [
    "COLOURS",
    "axes",
    "changes",
    "finish",
    "heat_map",
    "intervals",
    "line_bars",
    "noise",
    "panels",
    "png",
    "precision_bars",
    "r1_terms",
    "risk_utility",
    "svg",
    "term_bars",
]
