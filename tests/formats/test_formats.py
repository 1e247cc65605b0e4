"""Every format says the same as the release, to readers that other people wrote, in the same bytes each time."""

from __future__ import annotations

import csv
import io
import json
import logging
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonstat_validator import validate_jsonstat
from pyjstat import pyjstat
from pysdmx.io import read_sdmx

import discreet as dc
from discreet import Dimension, Hide, InputError, Protected, Publish, Release, Table, protect
from discreet.formats import FORMATS, NAMES, by_name, by_suffix, to_bytes, write
from tests.strategies import tables

SECRETS = (987_654_321, 123_454_321)
AREA = Dimension.from_parents(
    "area", {"N1": "N", "N2": "N", "S1": "S"}, labels={"N": "North", "N1": 'Nå, "one"', "S": "South <b>"}
)
SEX = Dimension.flat("sex", ["f", "m"], labels={"f": "women", "m": "men"})
AGE = Dimension.flat("age group", ["0-9", "10+"], total=None)


def three_way(**words: Any) -> Release:
    """36 cells, four of them hidden."""
    t = Table.of(np.arange(12).reshape(3, 2, 2), [AREA, SEX, AGE], title="A title", source="The office")
    return protect(t, Hide([{"area": ["N1", "N2"], "sex": ["f", "m"], "age group": "0-9"}])).release(
        notes=["First note.", "Second note."], **words
    )


def two_measures() -> Release:
    """A count and a magnitude with decimals; margins only, so that some combinations are no cells."""
    t = Table.of(
        {"area": ["N1", "N2", "S1", "N1"], "sex": ["f", "f", "m", "m"], "n": [1, 2, 3, 4], "pay": [0.25, -2, 3.5, 0]},
        [AREA, SEX],
        count="n",
        value="pay",
        margins=[["area"], ["sex"]],
    )
    return protect(t, Hide([{"area": "S1"}], measures=("count", "pay"))).release()


def expected(release: Release, measure: str) -> dict[tuple[str, ...], float | None]:
    """Each cell's codes and value, None where hidden."""
    codes = [[d.codes[c] for d, c in zip(release.dimensions, row, strict=True)] for row in release.codes]
    return {
        tuple(c): None if v != v else round(v, 6) for c, v in zip(codes, release.values[measure].tolist(), strict=True)
    }


# -- the registry -------------------------------------------------------------------------------------------------


def test_the_suffix_chooses_the_format(tmp_path: Path) -> None:
    """The longest suffix that fits; an unknown one is an error that names the nearest."""
    r = three_way()
    for known in FORMATS:
        path = tmp_path / f"table{known.suffix}"
        assert write(r, path) == path
        assert path.read_bytes() == to_bytes(r, known.name)
        assert by_suffix(path) == known == by_name(known.name)
    assert dc.write is write
    write(r, tmp_path / "plain.txt", format="csv")
    assert (tmp_path / "plain.txt").read_bytes() == r.to_csv()
    for wrong, says in (("t.xlsz", "'.xlsx'"), ("t.docx", "no format for '.docx'"), ("table", "has no suffix")):
        with pytest.raises(InputError, match=says):
            write(r, tmp_path / wrong)
        assert not (tmp_path / wrong).exists()
    with pytest.raises(InputError, match="did you mean 'parquet'"):
        to_bytes(r, "parket")
    with pytest.raises(InputError, match="did you mean 'labels'"):
        to_bytes(r, "csv", label=True)
    with pytest.raises(InputError, match="it takes none"):
        to_bytes(r, "parquet", labels=True)


def test_only_a_release_is_written() -> None:
    """Neither a Table nor a Protected, whatever the format."""
    t = Table.of([[3, 0], [1, 2]], ["area", "sex"])
    for name in NAMES:
        for wrong in (t, Publish()(t)):
            with pytest.raises(InputError, match="give a Release"):
                to_bytes(wrong, name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_no_true_value_of_a_hidden_cell_gets_out(name: str) -> None:
    """Nor do primary and secondary cells differ in any format."""
    counts = np.array([[SECRETS[0], 5, 7], [3, SECRETS[1], 2]])
    t = Table.of(counts, [Dimension.flat("area", ["N", "S"]), Dimension.flat("age", ["a", "b", "c"])])
    gone = t.count > 1000
    published = np.where(gone, np.nan, t.count)
    status = np.where(gone, "u", "s")
    other = status.copy()
    other[np.flatnonzero(gone)[1:]] = "x"
    made = [
        to_bytes(Protected(t, {"count": published}, s, "cell suppression").release(), name) for s in (status, other)
    ]
    assert made[0] == made[1]
    text = made[0].decode("latin-1")
    for number in t.count[gone].tolist():
        assert str(number) not in text
        assert f"{number:,}" not in text
        assert number.to_bytes(8, "little") not in made[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_bytes_each_time(name: str) -> None:
    """No clock, no random names."""
    assert to_bytes(three_way(), name) == to_bytes(three_way(), name)
    if name not in ("argus-csv", "sbs"):
        assert to_bytes(two_measures(), name) == to_bytes(two_measures(), name)


@pytest.mark.parametrize("name", ["csvw", "xlsx", "json-stat", "sdmx-csv", "px", "parquet", "html"])
def test_title_source_method_and_notes_go_along(name: str) -> None:
    """The words of the release, wherever the format keeps them."""
    data = to_bytes(three_way(), name)
    if name == "xlsx":
        import openpyxl

        sheet = openpyxl.load_workbook(io.BytesIO(data))["About"]
        data = repr(list(sheet.values)).encode()
    for words in ("A title", "The office", "cell suppression", "First note.", "Second note."):
        assert words.encode() in data, words
    if name != "sdmx-csv":  # there it is a code of the SDMX list
        assert b"confidential" in data


# -- CSV ----------------------------------------------------------------------------------------------------------


def test_csv_with_labels() -> None:
    """A column of labels behind each column of codes; quoting as RFC 4180 says."""
    frame = pd.read_csv(io.BytesIO(to_bytes(three_way(), "csv", labels=True)), keep_default_na=False)
    assert frame.columns.tolist() == [
        "area", "area label", "sex", "sex label", "age group", "age group label", "count", "status",
    ]  # fmt: skip
    assert set(zip(frame["area"], frame["area label"], strict=True)) >= {("N1", 'Nå, "one"'), ("S1", "S1")}
    plain = pd.read_csv(io.BytesIO(three_way().to_csv()), keep_default_na=False)
    assert frame[plain.columns].equals(plain)
    assert to_bytes(three_way(), "csv") == three_way().to_csv()


def test_csv_metadata_describes_the_columns() -> None:
    """One entry per column, in order, with the right kind."""
    r = two_measures()
    about = json.loads(to_bytes(r, "csvw", url="pay.csv"))
    heads = next(csv.reader(io.StringIO(r.to_csv().decode())))
    assert [c["titles"] for c in about["tableSchema"]["columns"]] == heads
    assert [c["datatype"] for c in about["tableSchema"]["columns"]][2:4] == ["integer", "decimal"]
    assert about["url"] == "pay.csv"


# -- JSON-stat ----------------------------------------------------------------------------------------------------


def jsonstat_cells(data: bytes) -> dict[tuple[str, ...], float | None]:
    """What pyjstat reads: codes (the measure last) and value."""
    dataset = pyjstat.Dataset.read(data.decode())
    with pytest.warns(DeprecationWarning, match="Shouldn't use this function"):  # pyjstat warns of itself
        frame = dataset.write("dataframe", naming="id")
    frame = frame.astype(object).where(frame.notna(), None)
    return {tuple(row[:-1]): row[-1] for row in frame.itertuples(index=False, name=None)}


def test_jsonstat_for_outside_readers() -> None:
    """Valid by jsonstat-validator, the same cells by pyjstat."""
    r = three_way()
    data = to_bytes(r, "json-stat")
    made = json.loads(data)
    assert validate_jsonstat(made)
    assert {key[:-1]: value for key, value in jsonstat_cells(data).items()} == expected(r, "count")
    assert made["status"] == {str(k): "c" for k, s in enumerate(r.status.tolist()) if s == "c"}
    assert made["dimension"]["area"]["category"]["child"] == {"N": ["N1", "N2"], "S": ["S1"], "Total": ["N", "S"]}
    assert made["dimension"]["sex"]["category"]["label"]["f"] == "women"


def test_jsonstat_of_a_table_with_gaps() -> None:
    """A combination that is not part of the table has neither value nor status."""
    r = two_measures()
    data = to_bytes(r, "json-stat")
    made = json.loads(data)
    assert validate_jsonstat(made)
    assert isinstance(made["value"], dict)
    found = jsonstat_cells(data)
    for name in r.values:
        want = expected(r, name)
        assert {key[:-1]: v for key, v in found.items() if key[-1] == name and key[:-1] in want} == want
        assert not any(v is not None for key, v in found.items() if key[:-1] not in want)
    assert len(made["status"]) == 2  # one hidden cell, two measures
    assert made["dimension"]["measure"]["category"]["unit"]["pay"]["decimals"] == 2


# -- SDMX ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [three_way, two_measures])
def test_sdmx_csv_for_pysdmx(make: Any) -> None:
    """One dataset with the codes, the values and the two status codes."""
    r = make()
    dataset: Any
    (dataset,) = read_sdmx(to_bytes(r, "sdmx-csv").decode()).data or ()
    assert dataset.structure == "Dataflow=DISCREET:TABLE(1.0.0)"
    frame = dataset.data
    dims = frame.columns[: len(r.dimensions)].tolist()
    for name in r.values:
        rows = frame[frame["MEASURE"] == name]
        found = {
            tuple(row[:-1]): None if row[-1] in ("", "NaN") else float(row[-1])
            for row in rows[[*dims, "OBS_VALUE"]].itertuples(index=False, name=None)
        }
        assert found == expected(r, name)
        status = list(zip(rows["OBS_STATUS"], rows["CONF_STATUS"], strict=True))
        assert status == [("Q", "C") if s == "c" else ("A", "F") for s in r.status.tolist()]
    with pytest.raises(InputError, match="AGENCY:ID"):
        to_bytes(r, "sdmx-csv", structure="table")


def test_sdmx_csv_without_words_is_lean() -> None:
    """Attributes that are the same in every row can be left out."""
    with_words, without = (to_bytes(three_way(), "sdmx-csv", words=w) for w in (True, False))
    assert len(without) < len(with_words)
    assert b"The office" not in without


# -- PX -----------------------------------------------------------------------------------------------------------


def px_frame(data: bytes) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """What pyaxis reads; hidden is NaN, no cell is empty text."""
    from pyaxis import pyaxis

    logging.getLogger("pyaxis").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.px"
        path.write_bytes(data)
        made = pyaxis.parse(str(path), encoding="utf-8")
    return made["DATA"], made["METADATA"]


def px_cells(data: bytes) -> dict[tuple[str, ...], float | str | None]:
    frame, meta = px_frame(data)
    codes = {
        name: dict(zip(meta[f"VALUES({name})"], meta[f"CODES({name})"], strict=True)) for name in frame.columns[:-1]
    }
    return {
        tuple(codes[n][v] for n, v in zip(frame.columns[:-1], row[:-1], strict=True)): (
            None if row[-1] != row[-1] else row[-1] if row[-1] == "" else float(row[-1])
        )
        for row in frame.itertuples(index=False, name=None)
    }


def test_px_for_pyaxis() -> None:
    """Every cell, the words, and the variables in their places."""
    r = three_way()
    assert px_cells(to_bytes(r, "px")) == expected(r, "count")
    _, meta = px_frame(to_bytes(r, "px", matrix="POP01", subject="Population", units="persons"))
    assert (meta["TITLE"], meta["SOURCE"], meta["UNITS"]) == (["A title"], ["The office"], ["persons"])
    assert (meta["STUB"], meta["HEADING"]) == (["area", "sex"], ["age group"])
    assert meta["MATRIX"] == ["POP01"]
    assert "confidential" in meta["DATASYMBOL2"][0]


def test_px_of_a_table_with_gaps_and_two_measures() -> None:
    """A combination that is not part of the table is a symbol of its own; the measures are a variable."""
    r = two_measures()
    found = px_cells(to_bytes(r, "px"))
    for name in r.values:
        want = expected(r, name)
        assert {key[:-1]: v for key, v in found.items() if key[-1] == name and key[:-1] in want} == want
    assert sum(v == "" for v in found.values()) == 2 * (6 * 3 - len(r))
    assert b'CONTVARIABLE="measure"' in to_bytes(r, "px")


def test_px_of_one_dimension_and_of_odd_text() -> None:
    """A heading is there even for one dimension; quotation marks, long texts and equal labels get through."""
    d = Dimension.flat("kind", ["a", "b"], labels={"a": 'the "big" one', "b": "the 'big' one"}, total="T")
    r = Publish()(Table.of([3, 4], [d])).release(notes=["long " * 100])
    data = to_bytes(r, "px")
    assert px_cells(data) == {("T", "count"): 7, ("a", "count"): 3, ("b", "count"): 4}
    assert max(len(line) for line in data.decode().splitlines()) <= 256
    old = to_bytes(three_way(), "px", encoding="iso-8859-15")
    assert "Nå".encode("iso-8859-15") in old
    assert b'CODEPAGE="iso-8859-15"' in old
    greek = Publish()(Table.of([3], [Dimension.flat("kind", ["α"])])).release()
    with pytest.raises(InputError, match="write the PX file in utf-8"):
        to_bytes(greek, "px", encoding="windows-1252")
    with pytest.raises(InputError, match="1 to 20 characters"):
        to_bytes(greek, "px", matrix="x" * 21)
    with pytest.raises(InputError, match="utf-8, windows-1252"):
        to_bytes(greek, "px", encoding="ascii")


# -- Parquet ------------------------------------------------------------------------------------------------------


def test_parquet_for_pandas_arrow_and_duckdb(tmp_path: Path) -> None:
    """Codes in the codebook's order, whole numbers whole, words in the metadata."""
    r = two_measures()
    path = write(r, tmp_path / "t.parquet")
    frame = pd.read_parquet(path)
    assert frame["area"].cat.categories.tolist() == list(AREA.codes)
    assert frame["status"].tolist() == r.status.tolist()
    for name in r.values:
        values = [None if v is None else float(v) for v in pq.read_table(path).column(name).to_pylist()]
        assert values == list(expected(r, name).values())
    assert str(pq.read_table(path).schema.field("count").type) == "int64"
    query = f"select count(*), sum(pay), count(pay) from '{path}'"
    assert duckdb.sql(query).fetchall() == [(len(r), float(np.nansum(r.values["pay"])), len(r) - 1)]
    schema = pq.read_schema(path)
    assert json.loads(schema.metadata[b"discreet"])["method"] == "cell suppression"
    assert json.loads(schema.field("sex").metadata[b"labels"]) == {"f": "women", "m": "men"}


# -- laws ---------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(tables(), st.randoms(use_true_random=False))
def test_all_formats_hold_the_same_cells(t: Table, random: Any) -> None:
    """Whatever the hierarchies, gaps and hidden cells: JSON-stat, PX, SDMX and Parquet agree with the release."""
    r = protect(t, Hide(np.array([random.random() < 0.3 for _ in range(len(t))]))).release()
    want = expected(r, "count")
    made = json.loads(to_bytes(r, "json-stat"))
    assert validate_jsonstat(made)
    found = {key[:-1]: v for key, v in jsonstat_cells(to_bytes(r, "json-stat")).items()}
    assert {key: v for key, v in found.items() if key in want} == want
    px = {key[: len(r.dimensions)]: v for key, v in px_cells(to_bytes(r, "px")).items()}
    assert {key: v for key, v in px.items() if v != ""} == want
    frame = pd.read_parquet(io.BytesIO(to_bytes(r, "parquet")))
    assert dict.fromkeys(zip(*(frame[d.name] for d in r.dimensions), strict=True)).keys() == want.keys()
    rows = list(csv.DictReader(io.StringIO(to_bytes(r, "sdmx-csv").decode())))
    assert [row["OBS_VALUE"] for row in rows] == ["" if v is None else str(int(v)) for v in want.values()]
