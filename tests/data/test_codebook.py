"""Codebooks: what is read, what is written reads back equal, and where a message points."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from discreet.data.code_groups import Group
from discreet.data.codebook import Codebook, Magnitude, codebook_schema, parse_codebook, read_codebook
from discreet.data.dimension import Dimension
from discreet.errors import InputError

EXAMPLE = """\
title = "Persons"
unit = "id"
holding = "group"
weight = "w"
key = "rkey"

[[dimension]]
name = "region"
column = "nuts"
total = "All"
codes = ["N", "S"]
labels = { N = "North" }
missing = "Unknown"

[[dimension]]
name = "year"
total = false
codes = [2020, 2021]

[[dimension]]
name = "area"
parents = { N1 = "N", N2 = "N", S1 = "S" }
groups = [
  { code = "coast", plus = ["N1", "S1"], label = "By the sea" },
  { code = "rest", plus = ["N"], minus = ["N1"] },
]

[[dimension]]
name = "geo"
parents = [ { a = "A", b = "A", c = "C" }, { a = "X", b = "Y", c = "Y" } ]

[[dimension]]
name = "nace"
prefix = { codes = ["A01", "A02", "B05"], lengths = [1] }

[[magnitude]]
name = "turnover"
column = "t"
decimals = 2
unit = "EUR"
"""


def test_everything_is_read() -> None:
    """Each part lands where the library looks for it."""
    book = parse_codebook(EXAMPLE)
    assert (book.title, book.unit, book.holding, book.weight, book.key) == ("Persons", "id", "group", "w", "rkey")
    assert book.columns == {"region": "nuts", "year": "year", "area": "area", "geo": "geo", "nace": "nace"}
    assert book.missing == {"region": "Unknown"}
    region, year, area, geo, nace = book.dimensions
    assert region.codes == ("All", "N", "S", "Unknown")
    assert region.label("N") == "North"
    assert (year.total, year.leaves) == (None, ("2020", "2021"))
    assert area.leaves_of("rest") == {"N2": 1}
    assert area.label("coast") == "By the sea"
    assert geo.leaves_of("Y") == {"b": 1, "c": 1}
    assert nace.codes == ("Total", "A", "A01", "A02", "B", "B05")
    assert book.magnitudes == (Magnitude("turnover", "t", 2, "EUR"),)
    assert parse_codebook(book.to_toml()) == book


def test_files_are_found_beside_the_codebook(tmp_path: Path) -> None:
    """A tau-ARGUS file, a parent list and a list of codes."""
    (tmp_path / "r.hrc").write_text("N\n#N1\n#N2\nS\n")
    (tmp_path / "p.csv").write_text("code,parent,label\nN1,N,One\nN2,N,\n")
    (tmp_path / "c.csv").write_text("code,label\n01,One\n02,\n")
    (tmp_path / "book.toml").write_text(
        '[[dimension]]\nname = "r"\nhrc = "r.hrc"\nleader = "#"\n'
        '[[dimension]]\nname = "p"\nparents = "p.csv"\n'
        '[[dimension]]\nname = "c"\nfile = "c.csv"\n'
    )
    book = read_codebook(tmp_path / "book.toml")
    assert book.dimension("r").leaves == ("N1", "N2", "S")
    assert (book.dimension("p").total, book.dimension("p").label("N1")) == ("N", "One")
    assert book.dimension("c").labels == {"01": "One"}
    assert parse_codebook(book.to_toml()) == book


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@st.composite
def dimensions(draw: st.DrawFn, name: str) -> Dimension:
    codes = draw(st.lists(words, min_size=4, max_size=9, unique=True))
    leaves = draw(st.permutations(codes[2:]))
    total = draw(st.sampled_from(["Total", None, "T*"]).filter(lambda t: t not in codes))
    made = Dimension.flat(name, leaves, total=total, labels={leaves[0]: draw(words)})
    if draw(st.booleans()):
        made = Dimension(name, made.leaves, (Group(codes[0], tuple((c, 1) for c in leaves[:2])),), total, made.labels)
        minus = leaves[:1] if draw(st.booleans()) else []
        made = made.with_group(codes[1], [codes[0]], minus, label=draw(st.none() | words))
    return made


@st.composite
def codebooks(draw: st.DrawFn) -> Codebook:
    names = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    optional = st.none() | words
    return Codebook(
        dimensions=tuple(draw(dimensions(name)) for name in names),
        columns={names[0]: draw(words)},
        missing={names[-1]: "not known"} if draw(st.booleans()) else {},
        unit=draw(optional),
        holding=draw(optional),
        weight=draw(optional),
        key=draw(optional),
        magnitudes=tuple(
            Magnitude(n, draw(words), draw(st.none() | st.integers(0, 12)), draw(optional)) for n in names
        ),
        title=draw(st.just("") | words),
    )


@settings(max_examples=60, deadline=None)
@given(book=codebooks())
def test_what_is_written_reads_back_equal(book: Codebook) -> None:
    """Any text may be a code, a name or a label."""
    assert parse_codebook(book.to_toml()) == book


def test_level_names_survive() -> None:
    """Levels keep the names of the columns they came from."""
    import pandas as pd

    frame = pd.DataFrame({"county": ["N1", "N2", "S1"], "region": ["N", "N", "S"]})
    book = Codebook(dimensions=(Dimension.nested(frame, ["county", "region"]),))
    assert parse_codebook(book.to_toml()).dimensions[0].levels == book.dimensions[0].levels


def test_the_schema_is_a_schema() -> None:
    """It is valid itself."""
    Draft202012Validator.check_schema(codebook_schema())


HEAD = '[[dimension]]\nname = "a"\ncodes = ["x"]\n\n[[dimension]]\nname = "b"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            HEAD + 'codes = ["x"]\nlables = {}\n',
            "b.toml, line 8: unknown key 'lables' in dimension 2; did you mean 'labels'?",
        ),
        (HEAD + 'codes = ["x"\n', "b.toml, line 7: not valid TOML: Unclosed array"),
        (HEAD, "b.toml, line 5: dimension 2 says nothing about its codes; give exactly one of 'codes', 'hrc'"),
        (HEAD + 'codes = ["x"]\nfile = "f.csv"\n', "b.toml, line 5: dimension 2 has 'codes', 'file'; give exactly one"),
        (HEAD + "codes = 3\n", "b.toml, line 7: 'codes' in dimension 2 must be a list"),
        (HEAD + "codes = []\n", "b.toml, line 7: 'codes' in dimension 2 must not be empty"),
        (
            HEAD + "codes = [1.5]\n",
            "b.toml, line 7: 'codes' in dimension 2 must be text or a whole number or true or false",
        ),
        (HEAD + 'codes = ["x", "x"]\n', "b.toml, line 5: dimension 'b': duplicate codes 'x'"),
        (HEAD + 'hrc = "none.hrc"\n', "b.toml, line 5: cannot read 'none.hrc'"),
        (HEAD + 'codes = ["x"]\ntotal = true\n', "b.toml, line 8: 'total' in dimension 2 has a form that is not known"),
        (
            HEAD + 'codes = ["x"]\nmissing = "Total"\n',
            "b.toml, line 5: dimension 'b': missing values cannot get 'Total'",
        ),
        (HEAD.replace('"b"', '"a"') + 'codes = ["x"]\n', "b.toml, line 5: more than one dimension is called 'a'"),
        (
            HEAD + 'codes = ["x"]\n[dimension.labels]\ny = "Y"\n',
            "b.toml, line 5: dimension 'b': label for unknown code 'y'",
        ),
        (
            HEAD + 'codes = ["x"]\n[[magnitude]]\nname = "t"\ndecimals = 20\n',
            "b.toml, line 10: 'decimals' in magnitude 1 must be",
        ),
        (HEAD + 'codes = ["x"]\n[[magnitude]]\nunit = "EUR"\n', "b.toml, line 8: magnitude 1 has no 'name'"),
        (
            'wieght = "w"\n' + HEAD + 'codes = ["x"]\n',
            "b.toml, line 1: unknown key 'wieght' in the codebook; did you mean 'weight'?",
        ),
        ('title = "x"\n', "b.toml, line 1: the codebook has no 'dimension'"),
        ("unit = 3\n" + HEAD + 'codes = ["x"]\n', "b.toml, line 1: 'unit' must be text"),
    ],
)
def test_messages_name_the_line(text: str, says: str, tmp_path: Path) -> None:
    """File, line, what is wrong and what is known."""
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_codebook(tmp_path / "b.toml")
    assert str(caught.value).startswith(says)


def test_what_is_not_there() -> None:
    """Names are suggested."""
    with pytest.raises(InputError, match="codebook not found"):
        read_codebook("none.toml")
    book = parse_codebook(EXAMPLE)
    with pytest.raises(InputError, match="unknown dimension 'regoin'; did you mean 'region'"):
        book.dimension("regoin")
    with pytest.raises(InputError, match="unknown magnitude 'turnovr'; did you mean 'turnover'"):
        book.magnitude("turnovr")
    with pytest.raises(InputError, match="none is declared"):
        Codebook(dimensions=book.dimensions).magnitude("x")
    with pytest.raises(InputError, match="columns names the unknown dimension 'aera'; did you mean 'area'"):
        Codebook(dimensions=book.dimensions, columns={"aera": "x"})
