"""Files of tau-ARGUS: what they say, and one line about what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import (
    DiscreetWarning,
    InputError,
    cli,
    tabulate,
)  # fmt: skip
from discreet.formats import argus
from tests.formats.argus.texts import AREA_HRC, FIXED, RECORDS

# -- microdata ----------------------------------------------------------------------------------------------------


def test_microdata_in_fixed_columns(folder: Path) -> None:
    """Hierarchies by file and by digits, labels, missing codes as codes of their own, holdings and weights."""
    data = argus.read_microdata(folder / "firms.asc", weighted=True)
    branch, area, ask = data.dimensions
    assert branch.codes == ("Total", "A", "A01", "A02", "B", "B03", "999")
    assert area.codes == ("All", "N", "1", "2", "S", "3", "99")
    assert (area.label("N"), area.label("2"), area.label("99")) == ("North", "Two", "missing")
    assert (data.codebook.holding, data.codebook.weight) == ("Firm", "Weight")
    t = tabulate(data, by=["Branch", "Area"], value="Pay")
    assert t.statistic("Pay").values[t.where(Branch="A", Area="N")].tolist() == [114.75]
    assert t.statistic("weighted Pay").values[t.where(Branch="A", Area="1")].tolist() == [171.0]
    assert t.count[t.where(Branch="Total", Area="99")].tolist() == [1]
    asked = tabulate(data, by=["Branch"], where={"Ask": ["1", "2"]})
    assert asked.count[asked.where(Branch="B03")].tolist() == [1]
    assert ask.leaves == ("1", "2", "0", "none")


def test_a_weight_is_applied_only_when_asked_for(folder: Path) -> None:
    """As in tau-ARGUS; what is not said is told, and what cannot be done is an error."""
    with pytest.warns(DiscreetWarning, match="'Weight' is a <WEIGHT> and is not applied"):
        plain = argus.read_microdata(folder / "firms.asc")
    assert plain.codebook.weight is None
    silent = argus.read_microdata(folder / "firms.asc", weighted=False)
    assert tabulate(plain, by=["Area"], value="Pay") == tabulate(silent, by=["Area"], value="Pay")
    with pytest.raises(InputError, match="no variable is a <WEIGHT>"):
        argus.read_microdata(folder / "free.csv", weighted=True)


@pytest.mark.parametrize("ends", [b"\r\n", b"\r\r\n"])
def test_line_ends_that_were_changed_twice(folder: Path, ends: bytes) -> None:
    """Every kind of file reads the same whichever way its lines end."""
    expected = tabulate(argus.read_microdata(folder / "firms.asc", weighted=False), by=["Branch", "Area"], value="Pay")
    table = argus.read_table(folder / "t.tab").table
    for file in folder.iterdir():
        lines = file.read_bytes().replace(b"\r\n", b"\n")
        file.write_bytes(lines.replace(b"\n", ends))
    found = tabulate(argus.read_microdata(folder / "firms.asc", weighted=False), by=["Branch", "Area"], value="Pay")
    assert found == expected
    assert argus.read_table(folder / "t.tab").table == table
    assert tabulate(argus.read_microdata(folder / "free.csv"), by=["Sex"]).n == 2


def test_a_faulty_hierarchy_blocks_only_its_own_tables(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A code that stands twice in an .hrc is an error for tables by that variable, a note for others."""
    monkeypatch.chdir(folder)
    (folder / "area.hrc").write_text(AREA_HRC + "@ 1\n")
    with pytest.warns(DiscreetWarning, match="'Area' is left out.*twice"):
        data = argus.read_microdata(folder / "firms.asc", weighted=False)
    assert tabulate(data, by=["Branch"]).n == 5
    with pytest.raises(InputError, match="unknown dimension 'Area'"):
        tabulate(data, by=["Area"])
    with pytest.raises(InputError, match=r"area\.hrc.*twice"):
        argus.read_microdata(folder / "firms.asc", weighted=False, by=["Area"])
    command = ["tabulate", "firms.asc", "--codebook", "firms.rda", "--unweighted", "--by"]
    assert cli.run([*command, "Branch"]) == 0
    assert "note: variable 'Area' is left out" in capfd.readouterr().err
    assert cli.run([*command, "Area"]) == 2
    assert "area.hrc" in capfd.readouterr().err


def test_totals_that_no_description_states(folder: Path) -> None:
    """A table whose total is called otherwise is read by it, or asked about."""
    (folder / "u.rda").write_text('<SEPARATOR> ";"\nSex\n<RECODEABLE>\nPay\n<NUMERIC>\n<DECIMALS> 1\n')
    (folder / "u.tab").write_text("f;1000.5\nm;2000.0\nGesamt;3000.5\n")
    with pytest.warns(DiscreetWarning, match="'Gesamt' is taken"):
        assert argus.read_table(folder / "u.tab").table.value.tolist() == [3000.5, 1000.5, 2000.0]
    (folder / "u.tab").write_text("f;1000.5\nm;2000.0\nfolk;3000.5\n")
    with pytest.raises(InputError, match="'folk' is the sum"):
        argus.read_table(folder / "u.tab")
    assert argus.read_table(folder / "u.tab", total="folk").table.dimensions[0].total == "folk"


def test_microdata_with_separators(folder: Path) -> None:
    """A variable may be a dimension and a magnitude; the description is found whatever its capitals."""
    data = argus.read_microdata(folder / "free.csv")
    t = tabulate(data, by=["Sex"], value="Pay")
    assert t.value.tolist() == [3.5, 1.5, 2.0]
    assert data.dimension("Pay").leaves == ("1.5", "2")


def test_a_blank_is_the_first_missing_code(folder: Path) -> None:
    """As tau-ARGUS has it; without such a code the records are refused."""
    (folder / "firms.asc").write_text(RECORDS + "A01   5 1.0     1\n")
    t = tabulate(argus.read_microdata(folder / "firms.asc", weighted=False), by=["Area"])
    assert t.count[t.where(Area="99")].tolist() == [2]
    (folder / "free.csv").write_text('"",1\n"m",2\n')
    with pytest.raises(InputError, match="1 record"):
        tabulate(argus.read_microdata(folder / "free.csv"), by=["Sex"])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("firms.asc", RECORDS.replace("   100", "  1x0 "), "firms.asc, line 3: 'Pay' is not a number"),
        ("firms.asc", RECORDS.replace("   100", "   nan"), "firms.asc, line 3: 'Pay' is not a number"),
        ("firms.asc", RECORDS.replace("   100", "999999"), "1 record has the missing code of 'Pay'"),
        ("firms.asc", RECORDS.replace("A02", "A2 "), "codes of 'Branch' do not all have the 3 characters"),
        ("firms.asc", RECORDS.replace("B03 3", "B03 8"), "hold 1 code of 'Area' that 'area.hrc' does not list"),
        ("firms.asc", " \n", "is empty"),
        ("area.hrc", "N\n@@1\n", "area.hrc: .hrc line 2"),
        ("area.cdl", "1,One\n1,Two\n", "area.cdl, line 2: a code appears twice"),
        ("firms.rda", FIXED.replace("area.hrc", "nowhere.hrc"), "line 6: 'nowhere.hrc', which 'Area' names"),
        ("firms.rda", FIXED + "W2 1 1\n<WEIGHT>\n", "a second variable for <WEIGHT>"),
    ],
)
def test_wrong_microdata_are_named_with_their_line(folder: Path, name: str, text: str, says: str) -> None:
    """Never what stands there."""
    (folder / name).write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        argus.read_microdata(folder / "firms.asc", weighted=False, by=["Branch", "Area"])
    assert "1x0" not in str(caught.value)


def test_rows_of_another_length_are_named(folder: Path) -> None:
    """Without the row."""
    (folder / "free.csv").write_text('"f",1.5\n"m",2,SECRET\n')
    with pytest.raises(InputError, match=r"free.csv, line 2: not the 2 fields") as caught:
        argus.read_microdata(folder / "free.csv")
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None or "SECRET" not in str(caught.value.__context__)
    with pytest.raises(InputError, match=r"no description 'other.rda' beside"):
        argus.read_microdata(folder / "other.asc")
