"""Files of tau-ARGUS: what they say, and one line about what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet import (
    Dimension,
    DiscreetWarning,
    Hide,
    InputError,
    NotAdditiveError,
    Publish,
    Table,
    cli,
    protect,
    tabulate,
)  # fmt: skip
from discreet.formats import argus, to_bytes
from discreet.formats.argus.description import parse_description

FIXED = """\
Branch 1 3 "999"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2 0 0
  <DISTANCE> 1 2 3
Area 4 2 99
  <RECODABLE>
  <TOTCODE> "All"
  <CODELIST> "C:\\office\\AREA.CDL"
  <HIERARCHICAL>
  <HIERCODELIST> "area.hrc"
  <HIERLEADSTRING> "@"
Firm 6 2
  <HOLDING>
Weight 8 4
  <WEIGHT>
  <DECIMALS> 1
Pay 12 6 999999
  <NUMERIC>
  <DECIMALS> 2
Ask 18 1
  <REQUEST> "1" "2"
"""
RECORDS = """\
A01 1 1 2.0 10.500
A01 2 1 1.0  4.251
A02 1 2 1.5   100
B0399 3 1.0     70
B03 3 4 1.0     82
"""
AREA_HRC = "N\n@ 1\n@ 2\nS\n@ 3\n"
AREA_CDL = " 1,One\r\n 2,Two\r\nN,North\r\n\r\n"

FREE = '<SEPARATOR> ","\nSex 1\n<RECODABLE>\nPay 5\n<RECODABLE>\n<NUMERIC>\n'
TAB_RDA = """\
  <SEPARATOR> ";"
  <SAFE> "OK"
Sex "9"
  <RECODEABLE>
  <TOTCODE> "T"
Area
  <RECODEABLE>
Pay
  <NUMERIC>
  <DECIMALS> 1
Pay_Shadow
  <NUMERIC> <SHADOW>
Cost
  <NUMERIC> <COSTVAR>
Freq
  <FREQUENCY>
Top1
  <MAXSCORE>
Top2
  <MAXSCORE>
State
  <STATUS>
Low
  <NUMERIC> <LOWERPL>
High
  <NUMERIC> <UPPERPL>
"""
TAB = """\
"T";"Total";12,5;12,5;1;4;5,0;4,0;OK;0;0
"T";"a";9,0;9,0;1;2;5,0;4,0;S;0;0
"T";"b";3,5;3,5;1;2;3,0;0,5;OK;0;0
"f";"Total";8,5;8,5;1;3;5,0;3,0;P;0;0
"f";"a";5,0;5,0;7;1;5,0;.;U;1,5;2
"f";"b";3,5;3,5;1;2;3,0;0,5;M;0;0
"m";"Total";4,0;4,0;1;1;4,0;0;S;0;0
"m";"a";4,0;4,0;1;1;4,0;0;U;0;0
"m";"b";0,0;0,0;1;0;0;0;E;0;0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "firms.rda": FIXED,
        "firms.asc": RECORDS,
        "area.hrc": AREA_HRC,
        "area.cdl": AREA_CDL,
        "free.RDA": FREE,
        "free.csv": '"f",1.5\n"m",2\n',
        "t.rda": TAB_RDA,
        "t.tab": TAB,
    }.items():
        (tmp_path / name).write_bytes(text.encode("cp1252"))
    return tmp_path


# -- descriptions -------------------------------------------------------------------------------------------------


def test_a_description_says_what_each_variable_is(folder: Path) -> None:
    """Place, purpose, missing codes, decimals; keywords without a use here are passed over."""
    about = argus.read_description(folder / "firms.rda")
    assert about.separator == ""
    assert [(v.name, v.kinds, v.start, v.width) for v in about.variables][:3] == [
        ("Branch", ("category",), 1, 3),
        ("Area", ("category",), 4, 2),
        ("Firm", ("holding",), 6, 2),
    ]
    branch, area = about.of_kind("category")
    assert (branch.levels, branch.missing, area.total, area.missing) == ((1, 2), ("999",), "All", ("99",))
    assert about.one("request").requests == ("1", "2")  # type: ignore[union-attr]
    assert about.one("shadow") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Sex 1 1\n<RECODEBLE>", r"x.rda, line 2: unknown keyword <RECODEBLE>; did you mean 'RECODEABLE'"),
        ("<RECODEABLE>", "line 1: <RECODEABLE> stands before the first variable"),
        ("Sex 1\n<RECODEABLE>", "line 1: the variable named here needs its first column and width"),
        ("<SEPARATOR> ;\nSex\n<RECODEABLE>", "line 2: the variable named here needs its width"),
        ("<SEPARATOR>\nSex 1\n", "line 1: <SEPARATOR> needs a value"),
        ('<SEPARATOR> "ab"\nSex 1\n', "line 1: <SEPARATOR> is a single visible sign"),
        ("<SPSS>\nSex 1 1\n<RECODEABLE>", "line 1: .*SPSS"),
        ("Pay 1 5\n<NUMERIC>", "no variable is <RECODEABLE>"),
        ("Sex 1 3\n<RECODEABLE>\n<HIERLEVELS> 1 1", "line 3: <HIERLEVELS> of 'Sex' add up to 2, not 3"),
        ("Sex 1 3\n<RECODEABLE>\n<DECIMALS> x", "line 3: <DECIMALS> takes whole numbers"),
        ("Sex 1 3\n<RECODEABLE>\n<TOTCODE>", "line 3: <TOTCODE> needs a value"),
        ("Sex 1 1\n<RECODEABLE>\nSex 2 1", "more than one variable is called 'Sex'"),
        ("Sex 1 1" + "0" * 40 + "\n<RECODEABLE>", "needs its first column and width"),
    ],
)
def test_a_wrong_description_is_named_with_its_line(text: str, says: str) -> None:
    """The file, the line, and what to write instead."""
    with pytest.raises(InputError, match=says):
        parse_description(text, Path("x.rda"))


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
        ("firms.asc", RECORDS.replace("   100", "999999"), "1 records have the missing code of 'Pay'"),
        ("firms.asc", RECORDS.replace("A02", "A2 "), "codes of 'Branch' do not all have the 3 characters"),
        ("firms.asc", RECORDS.replace("B03 3", "B03 8"), "hold 1 codes of 'Area' that 'area.hrc' does not list"),
        ("firms.asc", " \n", "is empty"),
        ("area.hrc", "N\n@@1\n", "area.hrc: .hrc line 2"),
        ("area.cdl", "1,One\n1,Two\n", "area.cdl, line 2: a code stands there twice"),
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


# -- tables -------------------------------------------------------------------------------------------------------


def test_a_table_with_its_marks(folder: Path) -> None:
    """Values with decimal commas, statuses in the office's letters, levels, costs, largest contributions."""
    made = argus.read_table(folder / "t.tab")
    t, marks = made.table, made.marks
    assert [d.codes for d in t.dimensions] == [("T", "f", "m", "9"), ("Total", "a", "b")]
    assert t.statistic("Pay").values[t.where(Sex="f")].tolist() == [8.5, 5.0, 3.5]
    assert t.count[t.where(Sex="T", Area="Total")].tolist() == [4]
    assert marks.status[t.where(Sex=["T", "f", "m"])].tolist() == ["s", "s", "s", "z", "u", "x", "s", "u", ""]
    assert (marks.unsafe.sum(), marks.secondary.sum(), marks.forced.sum(), marks.safe.sum()) == (2, 1, 1, 4)
    unsafe = t.where(Sex="f", Area="a")
    assert (marks.lower[unsafe], marks.upper[unsafe], marks.cost[unsafe]) == (1.5, 2.0, 7.0)
    assert t.contributions.value[t.where(Sex="f", Area="Total")].tolist() == [[5.0, 3.0]]
    assert t.contributions.count[t.where(Sex="f", Area="Total")].tolist() == [3]
    hidden = protect(t, Hide(marks.unsafe | marks.secondary))
    assert hidden.release().status.tolist().count("c") == 3


def test_a_table_of_frequencies_and_one_without(folder: Path) -> None:
    """The frequency is the measure when there is no other; without it nothing is counted."""
    (folder / "n.rda").write_text("Sex\n<RECODEABLE>\nN\n<FREQUENCY>\n")
    (folder / "n.tab").write_text("f;3\nm;4\n")
    assert argus.read_table(folder / "n.tab").table.count.tolist() == [7, 3, 4]
    (folder / "n.rda").write_text("Sex\n<RECODEABLE>\nPay\n<NUMERIC>\nTax\n<NUMERIC>\n")
    (folder / "n.tab").write_text("f;3;1\n;7;3\nm;4;2\n")
    with pytest.raises(InputError, match="several <NUMERIC> variables; name one: response= one of 'Pay', 'Tax'"):
        argus.read_table(folder / "n.tab")
    assert argus.read_table(folder / "n.tab", response="Tax").table.value.tolist() == [3, 1, 2]
    with pytest.raises(InputError, match="no <NUMERIC> variable 'Tux'"):
        argus.read_table(folder / "n.tab", response="Tux")
    (folder / "n.rda").write_text("Sex\n<RECODEABLE>\nPay\nTax\n")
    with pytest.raises(InputError, match="there are no numbers"):
        argus.read_table(folder / "n.tab")


def test_digits_make_groups_in_a_table_too(folder: Path) -> None:
    """The rows of groups are recognised by their shorter codes."""
    (folder / "n.rda").write_text("Branch\n<RECODEABLE>\n<HIERLEVELS> 1 1\nN\n<FREQUENCY>\n")
    (folder / "n.tab").write_text("Total;7\nA;3\nA1;1\nA2;2\nB;4\nB1;4\n")
    t = argus.read_table(folder / "n.tab").table
    assert t.dimensions[0].codes == ("Total", "A", "A1", "A2", "B", "B1")
    assert t.count.tolist() == [7, 3, 1, 2, 4, 4]


def test_a_table_that_does_not_add_up(folder: Path) -> None:
    """Is refused, computed or trusted, as ready tables are."""
    (folder / "t.tab").write_text(TAB.replace('"T";"a";9,0', '"T";"a";9,1'))
    with pytest.raises(NotAdditiveError, match="Sex=T, Area=a"):
        argus.read_table(folder / "t.tab")
    assert argus.read_table(folder / "t.tab", totals="trust").table.value[1] == 9.1
    (folder / "t.tab").write_text(TAB.replace(";M;", ";Q;"))
    with pytest.raises(InputError, match=r"t.tab, line 6: a status other than"):
        argus.read_table(folder / "t.tab")


def test_contributions_of_another_variable_are_left_aside(folder: Path) -> None:
    """With a shadow variable the largest contributions are not those of the response."""
    (folder / "t.tab").write_text(TAB.replace('"m";"a";4,0;4,0', '"m";"a";4,0;4,5'))
    assert not argus.read_table(folder / "t.tab").table.has_contributions


# -- a-priori files -----------------------------------------------------------------------------------------------


def small() -> Table:
    return Table.of(np.array([[3, 1], [1, 2]]), [Dimension.flat("sex", ["f", "m"]), Dimension.flat("area", ["a", "b"])])


def test_a_priori_marks(tmp_path: Path) -> None:
    """Status, cost and protection levels; nothing stands for the total; later lines win."""
    path = tmp_path / "t.hst"
    path.write_text('f;a;u\n"f"; b ;s\nTotal;;p\nm;a;c;5\nm;a;ml\nf;a;pl;1;2,5\n\nm;b;s\nm;b;u\n')
    t = small()
    marks = argus.read_apriori(path, t)
    assert [marks.status[t.where(sex=s, area=a)].item() for s, a in ("fa", "fb", "ma", "mb")] == ["u", "s", "x", "u"]
    assert marks.forced.tolist() == [True] + [False] * 8
    assert marks.cost[t.where(sex="m", area="a")] == 5
    at = t.where(sex="f", area="a")
    assert (marks.lower[at], marks.upper[at]) == (1, 2.5)
    path.write_text("f,a,u\n")
    assert argus.read_apriori(path, t).unsafe.sum() == 1
    path.write_text("f:a:z\n")
    assert argus.read_apriori(path, t, separator=":").forced.sum() == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("f;a", "line 1: 2 codes and what is said of the cell are needed, separated by ';'"),
        ("f;q;u", "line 1: the code of 'area' is not one of"),
        ("f;a;q", "line 1: what is said of the cell is none of 's'"),
        ("f;a;c", "line 1: 'c' takes a cost"),
        ("f;a;pl;1", "two protection levels"),
        ("f;a;c;-1", "none negative"),
        ("f;a;c;x", "line 1: a cost or protection level is not a number"),
        ("f;a;ab;1", "'ab' takes two bounds"),
    ],
)
def test_wrong_a_priori_lines_are_named(tmp_path: Path, line: str, says: str) -> None:
    """The file, the line, and what is needed."""
    path = tmp_path / "t.hst"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=says):
        argus.read_apriori(path, small())
    linked = small().with_margins([["sex"], ["area"]])
    path.write_text("f;a;u\n")
    with pytest.raises(InputError, match="line 1: these codes are no cell of the table"):
        argus.read_apriori(path, linked)


# -- writing ------------------------------------------------------------------------------------------------------


def test_protected_tables_in_the_files_of_tau_argus(folder: Path) -> None:
    """Codes in quotes, 'x' for hidden values, one letter for all hidden cells."""
    made = argus.read_table(folder / "t.tab")
    hidden = made.marks.unsafe | made.marks.secondary
    r = protect(made.table, Hide(hidden, measures=("Pay", "count"))).release()
    lines = to_bytes(r, "argus-csv").decode().split("\r\n")
    assert lines[:5] == ['"T","Total",12.5', '"T","a",9.0', '"T","b",3.5', '"f","Total",8.5', '"f","a",x']
    sbs = to_bytes(r, "sbs").decode().split("\r\n")
    assert sbs[3:6] == ['"f","Total",8.5,3,V', '"f","a",x,,D', '"f","b",x,,D']
    assert to_bytes(r, "argus-csv", measure="count", names=True).startswith(b'"Sex","Area","Freq"\r\n"T","Total",4\r\n')
    with pytest.raises(InputError, match="no measure 'Pey'; did you mean 'Pay'"):
        to_bytes(r, "sbs", measure="Pey")


def test_levels_in_the_sbs_file(folder: Path) -> None:
    """How far below the total each code stands."""
    t = tabulate(argus.read_microdata(folder / "firms.asc", weighted=True), by=["Area"], value="Pay")
    lines = to_bytes(Publish(measures=("count",))(t).release(), "sbs", levels=True).decode().split("\r\n")
    assert lines[:3] == ['"All",0,5,5,V', '"N",1,3,3,V', '"1",2,2,2,V']
    three = Publish(measures=("count", "Pay", "weighted Pay"))(t).release()
    with pytest.raises(InputError, match="holds one measure; name it"):
        to_bytes(three, "sbs")


def test_the_command_line_takes_a_description_for_a_codebook(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Microdata and ready tables."""
    monkeypatch.chdir(folder)
    command = ["tabulate", "firms.asc", "--codebook", "firms.rda", "--by", "Area", "--value", "Pay"]
    assert cli.run([*command, "--weighted"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"Area,weighted Pay,status\r\nAll,")
    assert cli.run(command) == 0
    found = capfdbinary.readouterr()
    assert found.out.startswith(b"Area,Pay,status\r\nAll,")
    assert b"note: 'Weight' is a <WEIGHT> and is not applied" in found.err
    assert cli.run([*command, "--unweighted"]) == 0
    assert b"note:" not in capfdbinary.readouterr().err
    assert cli.run(["tabulate", "t.tab", "--ready", "--codebook", "t.rda"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"Sex,Area,Pay,status\r\nT,Total,12.5,\r\n")


def test_a_description_is_a_codebook_for_every_command(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit of a table knows the sums of its hierarchy, `show` its labels, a cube its dimensions."""
    monkeypatch.chdir(folder)
    rda = ["--codebook", "firms.rda"]
    assert cli.run(["tabulate", "firms.asc", *rda, "--unweighted", "--by", "Area,Branch", "-o", "t.csv"]) == 0
    lines = (folder / "t.csv").read_text().splitlines()
    hidden = [",".join(line.split(",")[:2]) + ",,c" if line.startswith("N,Total") else line for line in lines]
    assert hidden != lines
    (folder / "r.csv").write_text("\n".join(hidden) + "\n")
    capfd.readouterr()
    assert cli.run(["audit", "r.csv", *rda]) == 1  # N is the sum of its areas
    assert "1 exact" in capfd.readouterr().err
    assert cli.run(["show", "t.csv", *rda]) == 0
    assert "North" in capfd.readouterr().out
    assert cli.run(["cube", "firms.asc", *rda, "-o", "firms.cube"]) == 0
    assert (folder / "firms.cube" / "cube.json").exists()
    assert cli.run(["cube", "firms.asc", *rda, "--table", "t", "-o", "other.cube"]) == 2
    assert "--table" in capfd.readouterr().err
    of_table = FIXED[: FIXED.index("Firm")].replace("Branch 1 3", "Branch").replace("Area 4 2", "Area")
    (folder / "table.rda").write_text(of_table)
    assert cli.run(["audit", "r.csv", "--codebook", "table.rda"]) == 1  # one of a table, whose fields have no widths
    (folder / "other.rda").write_text('<SEPARATOR> ","\nSex 1\n<RECODEABLE>\n')
    assert cli.run(["audit", "r.csv", "--codebook", "other.rda"]) == 2
    assert "other.rda: no <RECODEABLE> variable is a dimension" in capfd.readouterr().err
