"""Record keys under a policy: from a key column, or from unit ids and the policy's secret; else nothing is made."""

from __future__ import annotations

import hmac
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.data.codebook import Codebook
from discreet.data.dimension import Dimension
from discreet.data.microdata import Microdata
from discreet.errors import InputError
from discreet.policy import Policy, Query, answer, parse_policy
from discreet.policy.attacks.answers import collect
from discreet.policy.pretabular import check_unweighted
from discreet.server.counting import cube

SECRET = b"a secret of the policy alone"
KEYS = '[[method]]\nname = "cell-key"\nd = 3\nv = 1\n'
SWAPPED = f'[[before]]\nname = "swap"\ngeography = "region"\nrate = 0.1\nseed = 1\n{KEYS}'
QUERY = Query.of("sex, region")
BOOK = Codebook(dimensions=(Dimension.flat("sex", ["F", "M"]), Dimension.flat("region", ["N", "S", "W"])))


def records() -> pa.Table:
    rng = np.random.default_rng(4)
    ids = [f"p{k}" for k in range(600)]
    under = hmac.digest(SECRET, b"discreet record keys", "sha256")[:16]
    keys = [int.from_bytes(hmac.digest(under, one.encode(), "sha256")[:8], "big") for one in ids]
    return pa.table(
        {
            "sex": rng.choice(["F", "M"], 600),
            "region": rng.choice(["N", "S", "W"], 600),
            "id": ids,
            "key": pa.array(keys, pa.uint64()),
        }
    )


def with_secret(text: str) -> Policy:
    return replace(parse_policy(text), secret=SECRET)


def test_units_and_the_secret_of_the_policy_make_keys(tmp_path: Path) -> None:
    """Records, cube and the worst case answer alike, and as from a column that holds the same HMACs."""
    policy = with_secret(KEYS)
    by_unit = Microdata.read(records(), replace(BOOK, unit="id"))
    by_column = Microdata.read(records(), replace(BOOK, key="key"))
    wanted = answer(by_column, QUERY, policy).to_csv()
    assert answer(by_unit, QUERY, policy).to_csv() == wanted
    cube.build(by_unit, tmp_path, policy)
    assert answer(cube.read_cube(tmp_path)[0], QUERY, policy).to_csv() == wanted
    worst = [collect(data, policy).frames for data in (by_unit, by_column)]
    assert all(np.array_equal(values, worst[1][frame]) for frame, values in worst[0].items())
    assert answer(by_unit, QUERY, replace(policy, secret=b"another secret, 16 bytes")).to_csv() != wanted


def test_keys_go_through_a_step_before_counting(tmp_path: Path) -> None:
    """Swapped records keep the keys of their units."""
    policy = with_secret(SWAPPED)
    by_unit = Microdata.read(records(), replace(BOOK, unit="id"))
    cube.build(by_unit, tmp_path, policy)
    assert answer(cube.read_cube(tmp_path)[0], QUERY, policy).to_csv() == answer(by_unit, QUERY, policy).to_csv()


@pytest.mark.parametrize("unit", [None, "id"])
def test_a_cube_of_which_nothing_could_be_asked_is_not_written(tmp_path: Path, unit: str | None) -> None:
    """Neither keys nor both of unit and secret: refused before anything is written, with what to do."""
    policy = parse_policy(KEYS) if unit else with_secret(KEYS)
    data = Microdata.read(records(), replace(BOOK, unit=unit))
    with pytest.raises(InputError, match=r"'cell-key' needs record keys.*\(key\).*\(unit\) and a secret"):
        cube.build(data, tmp_path / "cube", policy)
    assert not (tmp_path / "cube").exists()


def test_weights_and_a_step_on_counts_do_not_go_together() -> None:
    """The codebook and the policy alone tell it; with either left out there is nothing to say."""
    book = Codebook(dimensions=(Dimension.flat("sex", ["f", "m"]),), weight="w")
    step = parse_policy('[[before]]\nname = "synthetic"\nv = 3\nseed = 1')
    with pytest.raises(InputError, match=r"weight = 'w'.*instead of \[\[before\]\] synthetic"):
        check_unweighted(book, step)
    check_unweighted(Codebook(dimensions=book.dimensions), step)
    check_unweighted(book, parse_policy('[[method]]\nname = "cell-key"\nd = 5\nv = 3\nseed = 1'))
