"""Marks of an edition: changes are counted from them, and they tell nothing without the secret."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.codebook import Codebook
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.policy.pretabular import cube_of
from discreet.server.editions.edition_marks import EditionMarks, SeriesMarks

SECRET = b"sixteen bytes of secret"
SEX, AGE = Dimension.flat("sex", ["f", "m"]), Dimension.flat("age", ["1", "2", "3"])
BOOK = Codebook(dimensions=(SEX, AGE))
PEOPLE = st.lists(st.tuples(st.sampled_from(SEX.leaves), st.sampled_from(AGE.leaves)), min_size=1, max_size=30)


def marks(people: list[tuple[str, str]], book: Codebook = BOOK, secret: bytes = SECRET) -> EditionMarks:
    columns = {"sex": [one[0] for one in people], "age": [one[1] for one in people]}
    return EditionMarks.of(cube_of(Microdata.read(pa.table(columns), book)), secret)


def changed_records(one: EditionMarks, other: EditionMarks) -> int:
    (changes,) = SeriesMarks.of(one).changed_records(other)
    return changes


@given(before=PEOPLE, after=PEOPLE)
def test_the_fewest_changes_between_two_lists_of_people(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    """People without an equal on the other side, whichever side has more of them; the order does not count."""
    common = sum(min(before.count(one), after.count(one)) for one in set(before))
    assert changed_records(marks(before), marks(after[::-1])) == max(len(before), len(after)) - common


def test_order_labels_and_further_codes_do_not_make_other_marks() -> None:
    """Marks go by names: a codebook that orders or labels them otherwise, or has one code more, has the same."""
    people = [("f", "1"), ("f", "1"), ("m", "3")]
    turned = Codebook(dimensions=(Dimension.flat("age", ["0", "3", "2", "1"]), replace(SEX, labels={"f": "women"})))
    assert marks(people).records.tolist() == marks(people, turned).records.tolist()
    assert changed_records(marks(people), marks(people, secret=b"another sixteen bytes")) == 3


@pytest.mark.parametrize(("weights", "changes"), [([1.0, 2.0, 4.0], 0), ([1.0, 2.0, 5.0], 1), ([2.0, 1.0, 5.0], 1)])
def test_changed_weights_are_changed_records(weights: list[float], changes: int) -> None:
    """Of a cell that keeps its count and has another sum at least one record is another."""

    def of(numbers: list[float]) -> EditionMarks:
        people = pa.table({"sex": ["f", "f", "m"], "age": ["1", "1", "3"], "w": numbers})
        return EditionMarks.of(cube_of(Microdata.read(people, replace(BOOK, weight="w"))), SECRET)

    assert changed_records(of([1.0, 2.0, 4.0]), of(weights)) == changes


def test_marks_tell_nothing_by_themselves() -> None:
    """Of two secrets they have nothing in common, and equal people have marks of their own."""
    people = [("f", "1")] * 50
    one, other = marks(people).records, marks(people, secret=b"another sixteen bytes").records
    assert len(np.unique(one)) == 50
    assert not np.intersect1d(one, other).size
