"""No option is dropped without a word: given twice, beside one that decides, or over a file that people edit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from discreet import cli
from discreet.cli.application import app, refuse_repeated
from discreet.errors import InputError

ROWS = "county,sex\n01,f\n01,m\n02,f\n02,m\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(ROWS)
    return tmp_path


def commands(group: click.Command = app, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command, and the groups themselves, with the words that call it."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


OPTIONS = [
    pytest.param(command, option, id=" ".join((*path, option.opts[0])))
    for path, command in commands()
    for option in command.params
    if isinstance(option, click.Option)
]


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_an_option_given_twice_is_kept_twice_or_refused(command: click.Command, option: click.Option) -> None:
    """Of every command; a plain flag says the same again."""
    value = [] if option.is_flag else ["a"]
    names = [option.opts[0], (option.secondary_opts or option.opts)[-1]]
    arguments = [names[0], *value, names[1], *value]
    context = click.Context(command)
    if option.multiple or (option.is_flag and not option.secondary_opts):
        refuse_repeated(command, context, arguments)
        return
    with pytest.raises(InputError, match=f"{option.opts[0]}.* twice"):
        refuse_repeated(command, context, arguments)
    refuse_repeated(command, context, arguments[: len(arguments) // 2])


def test_every_command_refuses() -> None:
    """The check is part of how a command reads its arguments, of groups as well."""
    assert all(type(command).__module__ == "discreet.cli.application" for _, command in commands())
    assert cli.run(["--log-level", "info", "--log-level", "debug", "datasets"]) == 2
    assert cli.run(["policy", "init", "-o", "a.toml", "--output", "b.toml"]) == 2


def test_dimensions_may_be_named_one_by_one(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The same table as with a comma; with only one of two names it would have another head."""
    assert cli.run(["tabulate", "people.csv", "--by", "county,sex"]) == 0
    at_once = capfdbinary.readouterr().out
    assert cli.run(["tabulate", "people.csv", "--by", "county", "--by", "sex"]) == 0
    assert capfdbinary.readouterr().out == at_once
    assert at_once.startswith(b"county,sex,count")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--method", "random-round", "-P", "base=3", "-P", "base=5"], "'base' twice"),
        (["--rule", "threshold(n=3)", "-P", 'rule="threshold(n=9)"'], "by -P and by --rule"),
        (["--rule", "threshold(n=3)", "--who", "me"], "--who"),
        (["--rule", "threshold(n=3)", "--ready", "--where", "sex=f"], "'--where'"),
        (["--rule", "threshold(n=3)", "--ready", "--missing", "none"], "'--missing'"),
        (["--rule", "threshold(n=3)", "--count", "sex"], "--count"),
        (["--rule", "threshold(n=3)", "--ready", "--total", "sex=a", "--total", "sex=b"], "twice"),
        *(
            (["--policy", "policy.toml", name, value], f"leave out '{name}'")
            for name, value in (
                ("--method", "suppress"), ("-P", "base=3"), ("--rule", "threshold(n=3)"), ("--marks", "m.csv"),
                ("--levels", "l.csv"), ("--top", "2"), ("--confidential", "c.csv"),
            )
        ),
    ],
)  # fmt: skip
def test_what_would_be_dropped_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    """With the name of what is too many."""
    assert cli.run(["policy", "init", "-o", "policy.toml"]) == 0
    assert cli.run(["protect", "people.csv", "--by", "county,sex", *more, "-o", "out.csv"]) == 2
    assert says in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


def test_files_that_people_edit_are_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy, and the codebook beside a dataset; written again as they are they may be, and by --force."""
    for arguments, file in (
        (["policy", "init", "-o", "policy.toml"], folder / "policy.toml"),
        (["datasets", "census", "-n", "10", "-o", "census.csv"], folder / "census.toml"),
    ):
        assert cli.run(arguments) == 0
        assert cli.run(arguments) == 0
        made = file.read_text()
        file.write_text("# mine\n" + made)
        assert cli.run(arguments) == 2
        assert "--force" in capsys.readouterr().err
        assert file.read_text().startswith("# mine\n")
        assert cli.run([*arguments, "--force"]) == 0
        assert file.read_text() == made


def shown(out: str) -> set[str]:
    """Everything between the lines of a drawn table."""
    return {cell.strip() for line in out.splitlines() if line.startswith("│") for cell in line.split("│")[1:-1]}


@pytest.mark.parametrize("width", [30, 60, 80, 400])
def test_a_number_is_never_cut(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """However narrow the terminal: each number that is drawn is one of the table, and what is left out is counted."""
    monkeypatch.setenv("COLUMNS", str(width))
    codes = [f"a category with a long name {k}" for k in range(9)]
    counts = {(r, c): 1_234_567 + 1000 * i + 10 * j for i, r in enumerate("xyz") for j, c in enumerate(codes)}
    lines = [f"{r},{c},{n}" for (r, c), n in counts.items()]
    (folder / "cells.csv").write_text("\n".join(["row,column,count", *lines]) + "\n")
    assert cli.run(["tabulate", "cells.csv", "--ready", "--by", "row,column", "-o", "t.csv"]) == 0
    true = {f"{int(line.rsplit(',', 2)[-2]):,}" for line in (folder / "t.csv").read_text().splitlines()[1:]}
    capsys.readouterr()
    assert cli.run(["show", "t.csv"]) == 0
    out = capsys.readouterr().out
    drawn = {text for text in shown(out) if text[:1].isdigit()}
    assert drawn
    assert drawn <= true
    assert drawn == true or "more column" in out
    assert cli.run(["risk", "cells.csv", "--ready", "--by", "row,column"]) == 0
    out = capsys.readouterr().out
    assert not any("…" in text for text in shown(out) if text[:1].isdigit())
    assert {text for text in shown(out) if text.startswith("1,2")} <= {f"{n:,}" for n in counts.values()}
    released = ["row,column,count,status"]
    for line in (folder / "t.csv").read_text().splitlines()[1:]:
        row, column, _, _ = line.split(",")
        hide = row in ("x", "y") and column in codes[:2]
        released.append(f"{row},{column},,c" if hide else line)
    (folder / "released.csv").write_text("\n".join(released) + "\n")
    cli.run(["audit", "released.csv"])
    out = capsys.readouterr().out
    assert len({text for text in shown(out) if text[:1].isdigit()}) >= 3
    assert not any("…" in text for text in shown(out) if text[:1].isdigit())
    assert width > 80 or "more column" in out


def test_codes_in_brackets_are_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are no markup."""
    (folder / "t.csv").write_text("a,count,status\nTotal,3,\n[red],1,\n[b],2,\n")
    assert cli.run(["show", "t.csv"]) == 0
    assert "[red]" in capsys.readouterr().out


def test_an_audit_of_a_whole_table_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rather than an empty box."""
    (folder / "t.csv").write_text("a,count,status\nTotal,3,\nx,1,\ny,2,\n")
    assert cli.run(["audit", "t.csv"]) == 1  # and no rule says whether it should
    out, err = capsys.readouterr()
    assert "nothing is hidden" in err
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tabulate", "people.csv", "--by", "sex", "--where", "county=01"], ["county", "add it to --by", "--codebook"]),
        (["tabulate", "cells.csv", "--ready", "--by", "a"], ["--count COLUMN", "--value COLUMN"]),
        (
            ["protect", "cells.csv", "--ready", "--by", "a", "--value", "n", "--rule", "threshold(n=3)"],
            ["--count COLUMN", "rule"],
        ),
        (
            ["protect", "cells.csv", "--ready", "--by", "a", "--value", "n", "--rule", "dominance(n=1, k=75)"],
            ["--value and --top"],
        ),
    ],
)
def test_a_mistake_is_told_in_options(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: list[str]
) -> None:
    """What to type, not what to write in Python."""
    (folder / "cells.csv").write_text("a,n\nx,4\ny,5\nTotal,9\n")
    assert cli.run(arguments) == 2
    err = capsys.readouterr().err
    assert all(text in err for text in says)
    assert "=..." not in err.replace("county=...", "")


@pytest.mark.parametrize(
    "arguments",
    [
        "protect people.csv --by county,sex --method round -o t.csv --confidential t.csv",
        "protect people.csv --by county,sex --method round -o t.csv --confidential ./sub/../t.csv",
        "protect people.csv --by county,sex --method round -o people.csv",
        "protect people.csv --by county,sex --method round -o link.csv",
        "protect people.csv --by county,sex --method round --confidential people.csv -o t.csv",
        "audit people.csv -o people.csv",
        "audit people.csv --confidential c.csv -o c.csv",
        "search people.csv --by county,sex --try round --resume people.csv",
        "search people.csv --by county,sex --try round --resume a.png --plot a.png",
        "risk people.csv --by county,sex --html people.csv",
        "tabulate people.csv --by county,sex -o people.csv",
    ],
)
def test_no_file_is_written_over_another_of_the_command(
    folder: Path, arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused before anything is read or written, whatever name the file goes by."""
    (folder / "sub").mkdir()
    (folder / "link.csv").symlink_to(folder / "people.csv")
    before = sorted(folder.iterdir())
    assert cli.run(arguments.split()) == 2
    assert "are the same file" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before
    assert (folder / "people.csv").read_text() == ROWS


def test_files_that_differ_are_written(folder: Path) -> None:
    """The release and the true table each in its own."""
    arguments = "protect people.csv --by county,sex --method round -P base=3 -o t.csv --confidential c.csv"
    assert cli.run(arguments.split()) == 0
    assert (folder / "t.csv").read_text() != (folder / "c.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        *(
            (f"audit x.jj {option}", option.split()[0])
            for option in (
                "--confidential c.csv", "--codebook c.toml", "--measure a", "--measures 1", "--total T", "--negative",
            )
        ),
        ("audit x.csv --primary-only", "--primary-only"),
        ("protect people.csv --by sex --policy p.toml --who ada", "--who"),
        ("protect people.csv --by sex --policy p.toml --data-version 1", "--data-version"),
        ("protect people.csv --by sex --method round --top 2", "--top"),
        ("protect people.csv --by sex --value x --ready --method round --top 2", "--top"),
    ],
)  # fmt: skip
def test_an_option_that_would_change_nothing_is_refused(
    folder: Path, arguments: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its name, before any file is looked for."""
    assert cli.run(arguments.split()) == 2
    said = capsys.readouterr().err
    assert named in said
    assert "no such file" not in said.lower()
