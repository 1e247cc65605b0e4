"""Data to try things on: synthetic microdata of any size, and the printed tables of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from discreet.base.arguments import checked
from discreet.base.files import CSV, check_suffix, write_whole
from discreet.data.codebook import Codebook
from discreet.datasets.business import business, business_arrow, business_codebook, business_dimensions
from discreet.datasets.census import census, census_arrow, census_codebook, census_dimensions, census_structural
from discreet.datasets.earnings import earnings, earnings_arrow, earnings_codebook, earnings_dimensions
from discreet.datasets.export import table_csv, write_microdata
from discreet.datasets.printed import (
    injuries,
    injuries_figure,
    psd14_religion,
    psd14_sex,
    psd14_travel,
    willenborg,
    willenborg_redesigned,
    willenborg_suppressed,
)
from discreet.errors import InputError, nearest

__all__ = [
    "NAMES",
    "Dataset",
    "business",
    "business_arrow",
    "business_codebook",
    "business_dimensions",
    "catalogue",
    "census",
    "census_arrow",
    "census_codebook",
    "census_dimensions",
    "census_structural",
    "earnings",
    "earnings_arrow",
    "earnings_codebook",
    "earnings_dimensions",
    "injuries",
    "injuries_figure",
    "psd14_religion",
    "psd14_sex",
    "psd14_travel",
    "willenborg",
    "willenborg_redesigned",
    "willenborg_suppressed",
    "write",
]


class Dataset(NamedTuple):
    """One dataset: the function's name, what it holds in one line, and "microdata" or "table"."""

    name: str
    description: str
    kind: str


_CATALOGUE = (
    Dataset("census", "Synthetic persons for the JOS15 hypercube: 7 variables, 245,700 cells; n and seed", "microdata"),
    Dataset("business", "Synthetic firms: turnover, nested regions and activities, holdings; n and seed", "microdata"),
    Dataset(
        "earnings", "Synthetic employees: pay and hours, counties with shapes, occupations; n and seed", "microdata"
    ),
    Dataset("psd14_travel", "Output area by mode of travel, 10 x 11 (PSD14 Table 3)", "table"),
    Dataset("psd14_sex", "Output area by sex, 10 x 2 (PSD14 Table 4)", "table"),
    Dataset("psd14_religion", "Output area by religion, 10 x 9 (PSD14 Table 5)", "table"),
    Dataset("willenborg", "Economic activity by size class, 5 x 5 (ODF03 Table 1; partly reconstructed)", "table"),
    Dataset("willenborg_redesigned", "The same with two activities combined, 4 x 5 (ODF03 Table 2)", "table"),
    Dataset("injuries", "Traffic accidents by group and injury, 5 x 4 (LL21 Table 1)", "table"),
    Dataset("injuries_figure", "Its car drivers of Oslo and Bergen, 2 x 4 (LL21 Figure 1)", "table"),
)
NAMES = tuple(entry.name for entry in _CATALOGUE)
_PRINTED = {
    table.__name__: table
    for table in (
        psd14_travel,
        psd14_sex,
        psd14_religion,
        willenborg,
        willenborg_redesigned,
        injuries,
        injuries_figure,
    )
}
_MICRODATA = {
    "census": (census_arrow, census_codebook),
    "business": (business_arrow, business_codebook),
    "earnings": (earnings_arrow, earnings_codebook),
}


@checked
def catalogue() -> list[Dataset]:
    """What there is, in the order a reader wants it.

    >>> catalogue()[1].name, catalogue()[1].kind
    ('business', 'microdata')
    """
    return list(_CATALOGUE)


@checked
def codebook_of(name: str) -> Codebook | None:
    """The codebook that ``write`` puts beside microdata; a printed table has none."""
    return _MICRODATA[name][1]() if name in _MICRODATA else None


@checked
def write(
    name: str, path: str | Path | None = None, *, n: int | None = None, seed: int | None = None
) -> bytes | list[Path]:
    """Write a dataset: microdata (.parquet or .csv) with a codebook beside them, or a printed table as CSV.

    Gives the paths written, or the bytes of a printed table when there is no path.
    """
    kinds = {entry.name: entry.kind for entry in _CATALOGUE}
    if name not in kinds:
        raise InputError(f"no dataset {name!r}; {nearest(name, kinds)}")
    if kinds[name] == "table":
        if n is not None or seed is not None:
            raise InputError(f"{name} is a printed table: it has no number of records and no seed")
        check_suffix(path, CSV, "a printed table")
        data = table_csv(_PRINTED[name]())
        if path is None:
            return data
        write_whole(path, data)
        return [Path(path)]
    if path is None:
        raise InputError(f"{name} is microdata: say where to write them (-o {name}.parquet)")
    make, codebook = _MICRODATA[name]
    options = {key: value for key, value in (("n", n), ("seed", seed)) if value is not None}
    return write_microdata(make(**options), codebook(), Path(path))
