"""Measures that a policy serves beside counts, and what of them may be asked: sums, means, quotients, quantiles."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from discreet.base.arguments import checked, one_of, whole
from discreet.base.kinds import Unbounded
from discreet.errors import InputError, listed
from discreet.methods import method, parameters
from discreet.methods.contract import SECRETS
from discreet.methods.effect import check_effect, check_rule
from discreet.rules import Rule, from_dict

if TYPE_CHECKING:
    from discreet.methods.perturb.cell_key_magnitude import CellKeyMagnitude

COUNT = "count"
NOISE = "cell-key-magnitude"
SUM, MEAN, MEDIAN, PERCENT, STANDARD_ERROR = "sum", "mean", "median", "percent", "se"
QUANTILE = re.compile(r"p([1-9][0-9]?)")
PEOPLE = 3.0  # average contributions that the noise of a sum is made of at least: beside a count it tells little more
TOP_KEPT = 5  # largest contributions of a cell that are at hand
SENSITIVE = ("refuse", "hide")
KNOWN = "sum, mean, median, p25, per-OTHER, percent, percent-VARIABLE, rate-VARIABLE, se"


@dataclass(frozen=True)
class Statistic:
    """What is asked of a measure: its ``kind``, and the measure or variable that it is set against.

    >>> Statistic.of("per-employees"), Statistic.of("p25").share
    (Statistic(kind='per', other='employees', share=0.0), 0.25)
    """

    kind: str
    other: str = ""
    share: float = 0.0

    @classmethod
    def of(cls, text: str) -> Statistic:
        """From its name in a query."""
        if text in (SUM, MEAN, PERCENT, STANDARD_ERROR):
            return cls(text)
        if text == MEDIAN:
            return cls("quantile", share=0.5)
        if (place := QUANTILE.fullmatch(text)) is not None:
            return cls("quantile", share=int(place[1]) / 100)
        kind, _, other = text.partition("-")
        if kind in ("per", PERCENT, "rate") and other:
            return cls(kind, other)
        raise InputError(f"no statistic {text!r}; known: {KNOWN}")

    @property
    def is_share(self) -> bool:
        """Whether it is a share of the numbers of the same table, so that it tells no more than these."""
        return self.kind in (PERCENT, "rate")


@checked
@dataclass(frozen=True, kw_only=True)
class ServedMeasure:
    """How one measure is served: which statistics, by which noise, and which cells are hidden before it.

    ``noise`` are parameters of ``cell-key-magnitude``; without them the policy's methods protect sums, too, which those
    for counts cannot. ``hide`` are rules about contributions. ``sensitive``: a table in which they find a cell is
    refused, shown or not; with ``"hide"`` the cell alone is hidden, and follows from its line but for the noise of the
    others. Sums with noise, means and quantiles are given of ``min_count`` people and more, as they are shown.
    Quantiles come from the counts of ``bands``, a variable whose finest codes lie between the ``edges``, of which the
    first and the last may be infinite (a band without an end has no quantiles); nothing is given by it.

    >>> ServedMeasure(statistics=("sum", "mean"), noise={"flex": 50_000}).min_count
    10
    """

    label: str = ""
    unit: str = ""
    statistics: tuple[str, ...] = (SUM,)
    noise: Mapping[str, Any] | None = field(default=None, hash=False)
    hide: tuple[Rule, ...] = ()
    sensitive: str = "refuse"
    min_count: int = 10
    bands: str = ""
    edges: tuple[Unbounded, ...] = ()

    def __post_init__(self) -> None:
        kinds = [Statistic.of(text) for text in self.statistics]
        if not kinds or any(kind.is_share or kind.kind == STANDARD_ERROR for kind in kinds):
            raise InputError(
                f"statistics = {list(self.statistics)}: name what is served (sum, mean, median, p25, per-OTHER); "
                "percentages follow from sums"
            )
        one_of("sensitive", self.sensitive, SENSITIVE)
        whole("min_count", self.min_count, 1)
        quantiles = any(kind.kind == "quantile" for kind in kinds)
        if quantiles != bool(self.bands) or bool(self.bands) != bool(self.edges):
            raise InputError(
                "medians and quantiles come from counts of bands: name a variable (bands) and the edges of its codes"
                if quantiles
                else "bands and edges are for medians and quantiles: name one among the statistics, or leave them out"
            )
        if not all(low < high for low, high in itertools.pairwise(self.edges)):
            raise InputError("edges: give rising numbers, one more than the codes of bands; the ends may be inf")
        for rule in self.hide:
            check_rule(rule)
        if self.noise is not None:
            unknown = [name for name in self.noise if name not in parameters(NOISE) or name in SECRETS]
            if unknown:
                raise InputError(f"method {NOISE!r} has no parameter {unknown[0]!r}")
            made = self.make_noise(None)
            check_effect(made, counts=False)
            if len(made.epsilon) > TOP_KEPT:
                raise InputError(f"epsilon: at most {TOP_KEPT} weights, since so many contributions are kept")

    def make_noise(self, secret: bytes | None, measures: int = 1) -> CellKeyMagnitude:
        """The method that protects sums, with the policy's secret where it has no seed. Unless the policy says
        ``people``, sums are about as inexact as counts: those of amounts that are alike would be counts. Of several
        ``measures`` of which this is one (hours, days) all together are no more exact than one. Unless it says
        ``zero_keys``, everybody's key counts: two equal sums would prove that those by whom they differ have nothing.

        >>> made = ServedMeasure(noise={"flex": 500, "seed": 1}).make_noise(None)
        >>> made.people, made.zero_keys
        (3.0, True)
        """
        stated = {"people": PEOPLE * math.sqrt(measures), "zero_keys": True, **(self.noise or {})}
        if secret is not None and "seed" not in stated:
            stated["secret"] = secret
        try:
            return cast("CellKeyMagnitude", method(NOISE, **stated))
        except InputError:
            raise
        except (TypeError, ValueError):
            raise InputError(f"noise cannot take these parameters: {listed(stated)}") from None


def read_served(document: Mapping[str, Mapping[str, Any]]) -> dict[str, ServedMeasure]:
    """The section [measures] of a policy."""
    served = {}
    for name, stated in document.items():
        if name == COUNT:
            raise InputError("counts are always served: [measures.count] has nothing to say")
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stated.items()}
        values["hide"] = tuple(from_dict(rule) for rule in stated.get("hide", ()))
        values["edges"] = tuple(float(edge) for edge in stated.get("edges", ()))
        try:
            served[name] = ServedMeasure(**values)
        except InputError as error:
            raise InputError(f"[measures.{name}]: {error}") from None
    return served
