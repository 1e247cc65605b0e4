"""A key decides the order of cells, weights and decoys: the same key the same bytes, and no audit suffers by it."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet.methods.keys import Secret
from discreet.methods.suppress.model.keyed_draw import drawn
from discreet.methods.suppress.model.roles import roles_of
from discreet.methods.suppress.model.tuning import KeyTuning
from discreet.policy import parse_policy
from discreet.publishing.spec import How

RULE = dc.Threshold(3)
METHODS = ["gauss", dc.Optimal(time=20), dc.Modular(time=20)]


def key(number: int) -> bytes:
    """A secret of its own for each number."""
    return b"a secret of sixteen bytes and %d" % number


def counts(seed: int, shape: tuple[int, ...] = (4, 5)) -> dc.Table:
    """Small counts."""
    random = np.random.default_rng(seed)
    return dc.Table.of(random.poisson(4 * random.lognormal(0, 0.8, shape)), ["a", "b", "c"][: len(shape)])


@pytest.mark.parametrize("method", METHODS, ids=["gauss", "optimal", "modular"])
def test_same_key_same_bytes_and_every_audit_passes(method: object) -> None:
    """Byte for byte the same release with the same key, whatever the method, and nothing exactly known."""
    for seed in range(4):
        table = counts(seed)
        first, second = (dc.protect(table, dc.Suppress(RULE, method=method, key=key(seed))) for _ in range(2))
        assert first.status.tolist() == second.status.tolist()
        assert first.release().to_csv() == second.release().to_csv()
        assert dc.audit(first).ok
        assert (first.hidden | ~RULE(table)).all()


def test_another_key_another_order() -> None:
    """Of twenty keys several patterns come about, and all of them hold."""
    table = counts(1)
    patterns = {dc.protect(table, dc.Suppress(RULE, key=key(k))).hidden.tobytes() for k in range(20)}
    assert len(patterns) > 3
    bare = {dc.protect(table, dc.Suppress(RULE)).hidden.tobytes() for _ in range(2)}
    assert len(bare) == 1


def test_draws_depend_on_codes_and_not_on_values() -> None:
    """A cell's factor is the same whatever is counted in it, and in a table with the dimensions the other way round."""
    one, other = counts(1), counts(2)
    parameters = [dc.Suppress(RULE, key=key(1)).parameters for _ in range(2)]
    draws = [
        drawn(Secret(key(1)), t, roles_of(p, t), KeyTuning()) for p, t in zip(parameters, (one, other), strict=True)
    ]
    assert np.array_equal(draws[0].factor, draws[1].factor)
    turned = dc.Table.of(one.layout.dense(one.statistic("count").inner).T, ["b", "a"])
    swapped = drawn(Secret(key(1)), turned, roles_of(parameters[0], turned), KeyTuning()).factor
    by_codes = dict(zip(map(tuple, one.layout.codes.tolist()), draws[0].factor, strict=True))
    assert all(by_codes[b, a] == f for (a, b), f in zip(turned.layout.codes.tolist(), swapped, strict=True))


def test_decoys_are_few_and_never_forced_or_empty() -> None:
    """As many decoys on average as are asked for; what must be published or is empty is never one."""
    table = counts(3, (4, 4, 3))
    forced = np.flatnonzero(table.is_inner & ~RULE(table) & (table.count > 0))[:3]
    tuning, decoys = KeyTuning(), []
    for k in range(300):
        parameters = dc.Suppress(RULE, key=key(k), forced=forced).parameters
        roles = roles_of(parameters, table)
        draw = drawn(Secret(key(k)), table, roles, tuning)
        assert not (draw.decoys & (roles.forced | roles.empty | roles.primary)).any()
        decoys.append(draw.decoys.sum())
    wanted = tuning.decoys + tuning.decoy_share * RULE(table).sum()
    assert abs(np.mean(decoys) - wanted) < 4 * np.sqrt(wanted / 300)


def test_key_is_in_no_release_text_or_pickle() -> None:
    """Neither the secret nor what follows from it leaves with a release, a repr or a message."""
    method = dc.Suppress(RULE, key=key(7))
    done = dc.protect(counts(1), method)
    release = done.release()
    for text in (repr(method), repr(done), release.method, release.to_csv(), repr(pickle.dumps(release))):
        assert "sixteen bytes" not in str(text)
        assert "decoy" not in str(text)
    with pytest.raises(dc.InputError, match="at least 16"):
        dc.Suppress(RULE, key=b"short")


def test_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "env:NAME" names the variable, read when the method is called."""
    table = counts(2)
    method = dc.Suppress(RULE, key="env:ORDER_OF_CELLS")
    with pytest.raises(dc.InputError, match="ORDER_OF_CELLS"):
        dc.protect(table, method)
    monkeypatch.setenv("ORDER_OF_CELLS", key(3).decode())
    assert dc.protect(table, method).status.tolist() == dc.protect(table, dc.Suppress(RULE, key=key(3))).status.tolist()


def test_decoys_that_cannot_be_protected_are_given_up() -> None:
    """Where marks leave no room for a decoy the table is protected without; a refusal names true sensitive cells."""
    table = dc.Table.of([[20, 5, 9], [4, 30, 8], [7, 6, 12]], ["a", "b"])
    forced = table.where(a="Total") | table.where(b="Total") | table.where(b="3")
    for k in range(12):
        done = dc.protect(table, dc.Suppress(dc.Threshold(5), forced=forced, key=key(k)))
        assert dc.audit(done).ok
        assert not done.hidden[forced].any()
    everything = dc.Suppress(dc.Threshold(5), forced=~dc.Threshold(5)(table), key=key(1))
    with pytest.raises(dc.Refused, match="2/1"):
        dc.protect(table, everything)


def test_policy_and_programme_use_their_secret() -> None:
    """A policy with a secret keys its suppression; one without says that it does not."""
    text = '[[rule]]\nrule = "threshold"\nn = 3\n[[method]]\nname = "suppress"\n'
    bare = parse_policy(text)
    assert "key" in bare.unkeyed
    assert vars(bare.make(0))["key"] is None
    keyed = replace(bare, secret=key(1))
    assert not keyed.unkeyed
    assert vars(keyed.make(0))["key"] is not None
    assert How(rule="threshold(n=3)").unkeyed
    how = How(rule="threshold(n=3)", parameters={"secret": "env:ORDER_OF_CELLS"})
    assert not how.unkeyed
    assert how.build(["a"]).key == "env:ORDER_OF_CELLS"
    with pytest.raises(dc.InputError, match="is not written in a programme"):
        How(rule="threshold(n=3)", parameters={"key": "sixteen bytes or more"}).build(["a"])
