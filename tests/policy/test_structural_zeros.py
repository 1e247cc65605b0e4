"""Combinations that the codebook says cannot exist are zero in every table, whatever adds noise, and no secret."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet import InputError, Microdata
from discreet.data.codebook import Codebook, parse_codebook
from discreet.methods import contract, method, method_names, parameters
from discreet.parts import Parts
from discreet.policy import Query, answer, parse_policy
from discreet.policy.attacks.answers import Truth, collect
from discreet.policy.attacks.equal_sets import equal_sets
from discreet.policy.attacks.two_way import TwoWayModel
from discreet.policy.pretabular import cube_of
from discreet.server.counting import cube as cubes
from discreet.server.counting.counting import CubeCounting
from discreet.tables.tabulation import tabulate

BOOK = """
key = "rkey"

[[dimension]]
name = "age"
codes = ["0-14", "15-64", "65+"]

[[dimension]]
name = "status"
codes = ["single", "married", "widowed"]

[[dimension]]
name = "area"
codes = ["n", "s"]

[[structural]]
age = "0-14"
status = ["married", "widowed"]
"""
POLICIES = {
    "cell-key": '[[method]]\nname = "cell-key"\nd = 5\nv = 3\nzeros = 0.5\n',
    "synthetic": '[[before]]\nname = "synthetic"\nv = 3\nseed = 1\n',
    "discrete-gaussian": '[[before]]\nname = "discrete-gaussian"\nrho = 0.5\nseed = 1\n',
    "stochastic": '[[before]]\nname = "stochastic"\nstay = 0.5\nseed = 1\n',
}
OTHERS = ("redesign", "cell-key-magnitude", "same-margins")  # another table, no counts, small tables only
NOISY = [n for n in method_names() if contract(n).acts_on == "table" and not contract(n).rule and n not in OTHERS]


def people(book: Codebook | None = None, n: int = 900) -> Microdata:
    """Persons of three variables; children are single."""
    rng = np.random.default_rng(5)
    age = rng.choice(["0-14", "15-64", "65+"], n)
    status = np.where(age == "0-14", "single", rng.choice(["single", "married", "widowed"], n))
    frame = pd.DataFrame({"age": age, "status": status, "area": rng.choice(["n", "s"], n)})
    frame["rkey"] = rng.integers(0, 2**63, n, dtype=np.uint64)
    return Microdata.read(frame, book or parse_codebook(BOOK))


def test_a_codebook_keeps_them() -> None:
    """Written and read back; they concern tables that have all of their variables."""
    book = parse_codebook(BOOK)
    assert book.structural == ({"age": ("0-14",), "status": ("married", "widowed")},)
    assert parse_codebook(book.to_toml()) == book
    assert book.structural_zeros(["age", "area"]) is None
    assert book.structural_zeros(["age", "area", "status"]) == list(book.structural)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[structural]]\nage = "0-14"\n', "structural"),
        ('[[structural]]\nage = "0-14"\nstate = "married"\n', "unknown dimension 'state'"),
        ('[[structural]]\nage = "0-15"\nstatus = "married"\n', "'0-15' is not a code"),
    ],
)
def test_a_wrong_declaration_is_an_error_with_its_line(text: str, words: str) -> None:
    head = BOOK.partition("[[structural]]")[0]
    with pytest.raises(InputError, match=words) as caught:
        parse_codebook(head + text)
    assert "line" in str(caught.value)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_gives_them_as_zero(name: str, tmp_path: Path) -> None:
    """From records and from a cube that was written and read, as rows, as sums and by a filter."""
    policy = parse_policy(POLICIES[name])
    cubes.build(people(), tmp_path / "cube", policy if policy.before else None)
    for data in (people(), cubes.read_cube(tmp_path / "cube")[0]):
        for query in ("age, status", "age, status, area"):
            frame = answer(data, query, policy).cells
            gone = (frame.age == "0-14") & frame.status.isin(["married", "widowed"])
            assert gone.sum() in (2, 6)
            assert (frame["count"][gone] == 0).all()
            assert (frame["count"][~gone] > 0).all()
        one = answer(data, Query.of("status", where="age=0-14"), policy).cells
        assert one.set_index("status")["count"][["married", "widowed"]].tolist() == [0, 0]


def test_without_the_declaration_noise_would_fill_them() -> None:
    """The same records, nothing declared: then they are zeros like others."""
    head = BOOK.partition("[[structural]]")[0]
    frame = answer(people(parse_codebook(head)), "age, status, area", parse_policy(POLICIES["cell-key"])).cells
    gone = (frame.age == "0-14") & frame.status.isin(["married", "widowed"])
    assert (frame["count"][gone] > 0).any()


@pytest.mark.parametrize("name", NOISY)
def test_no_method_on_tables_moves_them(name: str) -> None:
    """Each method with its usual parameters."""
    table = tabulate(people(), by=["age", "status", "area"])
    seeded = {"seed": 1} if "seed" in parameters(name) else {}
    needed = {"steps": [{"name": "random-round", "base": 5}, {"name": "round", "base": 5}]} if name == "chain" else {}
    shown = method(name, **seeded, **needed)(table).published["count"]
    assert table.structural.sum() == 6
    assert (np.asarray(shown)[table.structural] == 0).all()


def test_a_record_in_one_is_an_error() -> None:
    """The data or the declaration is wrong."""
    head = BOOK.partition("[[structural]]")[0]
    book = parse_codebook(head + '[[structural]]\nage = "65+"\nstatus = "single"\n')
    with pytest.raises(InputError, match="records lie in cells declared structural zeros"):
        tabulate(people(book), by=["age", "status"])


def test_tables_in_parts_say_that_they_cannot_know_them() -> None:
    with pytest.raises(InputError, match="structural zeros of age x status"):
        Parts.of(people(), ["age", "status"])
    assert len(Parts.of(people(), ["age", "area"])) == 12


def test_a_server_counts_people_around_them() -> None:
    """Sums of a cube of fewer variables are those of the records."""
    counting = CubeCounting(cube_of(people()))
    wanted = {"age": [0, 1], "status": [0, 1]}
    count = counting.people(wanted)["count"]
    data = tabulate(people(), by=["age", "status"]).array()
    assert count.tolist() == [data[:2, :2].sum()]


def test_what_cannot_be_otherwise_is_no_finding() -> None:
    """All children are single: no group of them that shows so counts as disclosed."""
    small = people(n=60)
    answers = collect(small, parse_policy(POLICIES["cell-key"]))
    truth = Truth.of(small)
    assert not truth.can_exist((0, 1))[1, 2:].any()
    assert truth.can_exist((0, 1))[2:].all()
    declared = equal_sets(answers, truth, TwoWayModel.of(answers))
    plain = equal_sets(answers, Truth(truth.dimensions, truth.counts), TwoWayModel.of(answers))
    assert (declared.cases if declared else 0) <= (plain.cases if plain else 0)
