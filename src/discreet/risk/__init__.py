"""How much a frequency table discloses: whole-table risk, lines, census heuristics, intruders with knowledge.

Every number here is a function of the true counts and as confidential as they are.
"""

from discreet.risk.attribute import FrankPatterns, Share, dr, frank_patterns, gad, gad_star, wgad, wgad_star
from discreet.risk.cell import bits, cell_risk, distribution_bits, possible_values
from discreet.risk.channels import channel, expected_channel, pram_probability
from discreet.risk.estimation import EstimationError, estimation_error
from discreet.risk.expected import ExpectedRisk, expected_r2
from discreet.risk.frequency import (
    WEIGHTS,
    Risk,
    line_risks,
    mean_cell_size,
    r1,
    r1_star,
    r2,
    r2_star,
    small_cell_share,
)
from discreet.risk.intruder import insider_interval, internal_risk, intruder_risk
from discreet.risk.jos15 import JOS15_WEIGHTS, jos15_after, jos15_risk
from discreet.risk.known_units import (
    DisclosureGain,
    frank_entropy,
    subtraction_attribution,
    subtraction_attribution_curve,
)
from discreet.risk.sample_risk import (
    Draws,
    ExpectedMeasures,
    SampleRisk,
    assess_sample,
    cell_measures,
    draw_risks,
    expected_measures,
)
from discreet.risk.size_terms import size_term
from discreet.risk.transition import Transition

__all__ = [
    "JOS15_WEIGHTS",
    "WEIGHTS",
    "DisclosureGain",
    "Draws",
    "EstimationError",
    "ExpectedMeasures",
    "ExpectedRisk",
    "FrankPatterns",
    "Risk",
    "SampleRisk",
    "Share",
    "Transition",
    "assess_sample",
    "bits",
    "cell_measures",
    "cell_risk",
    "channel",
    "distribution_bits",
    "dr",
    "draw_risks",
    "estimation_error",
    "expected_channel",
    "expected_measures",
    "expected_r2",
    "frank_entropy",
    "frank_patterns",
    "gad",
    "gad_star",
    "insider_interval",
    "internal_risk",
    "intruder_risk",
    "jos15_after",
    "jos15_risk",
    "line_risks",
    "mean_cell_size",
    "possible_values",
    "pram_probability",
    "r1",
    "r1_star",
    "r2",
    "r2_star",
    "size_term",
    "small_cell_share",
    "subtraction_attribution",
    "subtraction_attribution_curve",
    "wgad",
    "wgad_star",
]
