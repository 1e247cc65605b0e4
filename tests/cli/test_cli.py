"""The command line as a user meets it: data on stdout, words on stderr, one line and an exit code for a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import Dimension, InputError, Release, cli

CODEBOOK = """
unit = "id"
[[dimension]]
name = "county"
parents = { "01" = "N", "02" = "N", "03" = "S" }
total = "All"
[[dimension]]
name = "sex"
codes = ["f", "m"]
[[magnitude]]
name = "pay"
decimals = 2
"""
ROWS = "id,county,sex,pay\n1,01,f,1.10\n2,01,m,2.20\n3,03,f,3.30\n4,02,f,0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.toml").write_text(CODEBOOK)
    (tmp_path / "people.csv").write_text(ROWS)
    return tmp_path


def test_tabulate_to_stdout_and_to_a_file(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The same bytes both ways; leading zeros of codes survive."""
    arguments = ["tabulate", "people.csv", "--codebook", "people.toml", "--by", "county,sex"]
    assert cli.run(arguments) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"county,sex,count,status\r\nAll,Total,4,\r\nAll,f,3,\r\n")
    assert b"\r\n01,f,1,\r\n" in out
    assert b"confidential" in err
    assert cli.run([*arguments, "-o", "out.csv"]) == 0
    assert (folder / "out.csv").read_bytes() == out


def test_tabulate_a_magnitude_for_a_population(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Sums at the stated decimals, filtered by a group."""
    arguments = ["tabulate", "people.csv", "--codebook", "people.toml", "--by", "sex", "--value", "pay"]
    assert cli.run([*arguments, "--where", "county=N"]) == 0
    assert capfdbinary.readouterr().out == b"sex,pay,status\r\nTotal,3.30,\r\nf,1.10,\r\nm,2.20,\r\n"


def test_tabulate_without_a_codebook_takes_the_codes_of_the_data(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Convenient for a first look; a missing value may be given a category."""
    (folder / "people.csv").write_text(ROWS + "5,,f,1\n")
    assert cli.run(["tabulate", "people.csv", "--by", "county"]) == 2
    assert b"1 record" in capfdbinary.readouterr().err
    assert cli.run(["tabulate", "people.csv", "--by", "county", "--missing", "unknown"]) == 0
    assert b"unknown,1," in capfdbinary.readouterr().out
    assert (
        cli.run(["tabulate", "people.csv", "--codebook", "people.toml", "--by", "county", "--missing", "unknown"]) == 0
    )
    assert b"unknown,1," in capfdbinary.readouterr().out


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        (ROWS.replace("02,f", "XSECRETX,f"), [], "1 record"),
        (ROWS.replace("county", "cuonty"), [], "did you mean 'cuonty'"),
        ("", [], "empty"),
        ("id,county,sex,pay\n", [], "no records"),
        ("\x00\x01XSECRETX\x00" * 100, [], "not a text file"),
        (ROWS.replace("2,01", "1,01"), [], "occurs more than once"),
        (ROWS.replace("2.20", "nan"), ["--value", "pay"], "pay"),
        (ROWS.replace("2.20", "XSECRETX"), ["--value", "pay"], "pay"),
        (ROWS, ["--value", "wage"], "wage"),
        (ROWS, ["--where", "sex=x"], "'x' is not a code"),
        (ROWS, ["--where", "sex"], "DIMENSION=CODE"),
        (ROWS, ["--nonsense"], "--nonsense"),
        (ROWS, ["-o", "no/where/out.csv"], "nothing was written"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    content: str, options: list[str], says: str, folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Nothing is written, and no value of the data is shown."""
    (folder / "people.csv").write_text(content)
    before = sorted(p.name for p in folder.rglob("*"))
    options = options if "-o" in options else [*options, "-o", "out.csv"]
    assert cli.run(["tabulate", "people.csv", "--codebook", "people.toml", "--by", "county,sex", *options]) == 2
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert says in err.decode()
    assert err.count(b"\n") == 1
    assert b"XSECRETX" not in err
    assert sorted(p.name for p in folder.rglob("*")) == before


def test_a_ready_table_of_cells(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What discreet wrote, or any CSV of cells; totals are checked."""
    whole = ["tabulate", "people.csv", "--codebook", "people.toml", "--by", "county,sex"]
    cli.run([*whole, "-o", "t.csv"])
    cli.run([*whole, "--value", "pay", "-o", "v.csv"])
    capfdbinary.readouterr()
    for name in ("t.csv", "v.csv"):
        assert cli.run(["tabulate", name, "--ready", "--codebook", "people.toml"]) == 0
        assert capfdbinary.readouterr().out == (folder / name).read_bytes()
    (folder / "own.csv").write_text("sex;n\nf;3\nm;1\nTotal;5\n")
    assert cli.run(["tabulate", "own.csv", "--ready", "--count", "n"]) == 2
    assert b"sex=Total" in capfdbinary.readouterr().err
    for wrong in ("", "a,b\n1,2,3\n4\n"):
        (folder / "own.csv").write_text(wrong)
        assert cli.run(["tabulate", "own.csv", "--ready", "--count", "b"]) == 2
    assert cli.run(["tabulate", "people.csv"]) == 2


def test_a_missing_file_and_a_broken_codebook(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The file and the line are named."""
    assert cli.run(["tabulate", "nobody.csv", "--by", "sex"]) == 2
    assert b"nobody.csv" in capfdbinary.readouterr().err
    (folder / "people.toml").write_text(CODEBOOK.replace("codes =", "cdoes ="))
    assert cli.run(["tabulate", "people.csv", "--codebook", "people.toml", "--by", "sex"]) == 2
    assert b"people.toml, line 9" in capfdbinary.readouterr().err


def test_a_fault_of_ours_shows_no_data(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unexpected exception may carry a value in its message, so only its kind and place are told."""

    def fail(*_: object, **__: object) -> None:
        raise KeyError("XSECRETX")

    monkeypatch.setattr("discreet.tables.tabulation.tabulate", fail)
    assert cli.run(["tabulate", "people.csv", "--by", "sex"]) == cli.FAULT
    err = capfdbinary.readouterr().err
    assert b"KeyError" in err
    assert b"XSECRETX" not in err


def test_show_draws_the_table(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Codes or labels; a file that is no table is refused."""
    cli.run(["tabulate", "people.csv", "--codebook", "people.toml", "--by", "county,sex", "-o", "t.csv"])
    assert cli.run(["show", "t.csv"]) == 0
    assert cli.run(["show", "t.csv", "--codebook", "people.toml", "--rows", "2"]) == 0
    assert "4 more rows" in capfdbinary.readouterr().out.decode()
    Path("words.csv").write_text("county,sex,remark\n1,f,moved\n2,m,stayed\n")
    assert cli.run(["show", "words.csv"]) == 2
    assert b"no table was found" in capfdbinary.readouterr().err


def test_a_written_table_reads_back(folder: Path) -> None:
    """Release.read_csv gives the cells that to_csv wrote."""
    cli.run(
        ["tabulate", "people.csv", "--codebook", "people.toml", "--by", "county,sex", "--value", "pay", "-o", "t.csv"]
    )
    release = Release.read_csv("t.csv", total={"county": "All"})
    assert release.to_csv() == Path("t.csv").read_bytes()
    assert release.dimensions[1] == Dimension.flat("sex", ["f", "m"])
    Path("t.csv").write_text("a,b,status\n1,2\n")
    with pytest.raises(InputError, match="line 2: 2 fields"):
        Release.read_csv("t.csv")


def test_datasets_are_listed_and_written(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Microdata with a codebook beside them, printed tables as CSV."""
    assert cli.run(["datasets"]) == 0
    assert b"psd14_travel" in capfdbinary.readouterr().out
    assert cli.run(["datasets", "business", "-n", "50", "-o", "firms.csv"]) == 0
    assert cli.run(["tabulate", "firms.csv", "--codebook", "firms.toml", "--by", "region", "--value", "turnover"]) == 0
    assert cli.run(["datasets", "census", "-n", "50", "--seed", "3", "-o", "c.parquet"]) == 0
    assert cli.run(["tabulate", "c.parquet", "--codebook", "c.toml", "--by", "sex"]) == 0
    capfdbinary.readouterr()
    assert cli.run(["datasets", "injuries"]) == 0
    assert b"Serious,17," in capfdbinary.readouterr().out
    for wrong in (["injurys"], ["census"], ["census", "-o", "c.xyz"], ["injuries", "-n", "3"]):
        assert cli.run(["datasets", *wrong]) == 2
    assert b"did you mean 'injuries'" in capfdbinary.readouterr().err


@pytest.mark.parametrize("command", ["tabulate", "show", "datasets"])
def test_help_has_an_example(command: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Every command shows how it is used."""
    assert cli.run([command, "--help"]) == 0
    assert f"discreet {command} " in capfdbinary.readouterr().out.decode().partition("Example:")[2]
