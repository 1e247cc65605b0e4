"""What is said of a policy at every start: no attack is known, it is unknown what all answers give away, or they do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import run
from discreet.cli.store import open_store
from discreet.errors import InputError
from discreet.policy import read_policy
from discreet.policy.attacks.attack_report import Attack, Attacked
from discreet.policy.attacks.claims import Claimed
from discreet.server.attack_standing import NEVER, OTHER_RECORDS, attack_reports, attack_standing, served_records
from discreet.server.counting import cube
from discreet.server.record.server_key import with_key
from discreet.server.running.workers import preload
from discreet.server.settings import Settings
from tests import servers
from tests.server.editions.test_editions import RECORDS, edited


@pytest.fixture(name="site", params=["with the policy", "without it"])
def _site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A cube of 2,000 people and the policy that is served."""
    monkeypatch.setenv("DISCREET_TEST_SECRET", servers.SECRET)
    made = servers.settings(tmp_path, cube=str(tmp_path / "cube"))
    cube.build(edited(0), tmp_path / "cube", read_policy(made.policy) if request.param == "with the policy" else None)
    return made


def report(site: Settings, right: int = 10, **more: Any) -> Attack:
    """A report of everything, in which so many of 20 claims are right, and of the model's 10."""
    policy = read_policy(site.policy)
    claimed = Claimed(probability=0.8, claims=20, right=right, baseline=10, expected=float(right))
    population = Attacked(name="sex = F", people=30, claimed=(claimed,), covered=(0.1,), mixed=True)
    parts: dict[str, Any] = {"records": served_records(site, policy), "populations": (population,), **more}
    parts |= dict.fromkeys(("refused", "hidden", "conflicts", "left_out"), 0)
    return Attack(policy=policy.digest, mechanism="", requests=1, tables=1, cells=1, secrets=1, counts=(), **parts)


def preloaded(site: Settings) -> None:
    with open_store(site.store) as store:
        preload(with_key(site), store)


def given(site: Settings, made: Attack, folder: Path) -> Settings:
    file = folder / "report.json"
    file.touch(0o600)
    file.write_text(made.to_json())
    return replace(site, attack_report=str(file))


def test_a_policy_of_which_no_attack_is_known_says_so_at_every_start(
    site: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(attack_standing(site)) == [NEVER]
    for _ in range(2):
        preloaded(site)
        assert f"discreet: warning: {NEVER}" in capsys.readouterr().err


def test_nothing_is_said_of_a_policy_that_holds(site: Settings, tmp_path: Path) -> None:
    assert report(site).verdict.ok
    assert list(attack_standing(given(site, report(site), tmp_path))) == []


def test_one_that_does_not_hold_is_served_by_name_only(site: Settings, tmp_path: Path) -> None:
    failed = given(site, report(site, right=20), tmp_path)
    with pytest.raises(InputError, match="--despite-attack"):
        preloaded(failed)
    (words,) = attack_standing(replace(failed, despite_attack=True))
    assert "does not hold, and it is served all the same" in words


@pytest.mark.parametrize("records", ["", "0123456789abcdef"])
def test_a_report_of_other_records_leaves_it_unknown(site: Settings, tmp_path: Path, records: str) -> None:
    other = given(site, report(site, records=records), tmp_path)
    (words,) = attack_standing(other)
    assert "unknown" in words
    assert OTHER_RECORDS in words
    assert not attack_reports(other)["public"].verdict.ok  # on the methodologist's page, too
    with pytest.raises(InputError, match="does not hold"):  # what failed on others is no better here
        list(attack_standing(given(site, report(site, right=20, records=records), tmp_path)))


def test_of_another_policy_no_attack_is_known(site: Settings, tmp_path: Path) -> None:
    assert list(attack_standing(given(site, replace(report(site), policy="other"), tmp_path))) == [NEVER]


def test_what_was_left_out_is_said(site: Settings, tmp_path: Path) -> None:
    (words,) = attack_standing(given(site, report(site, omitted=("differences of editions",)), tmp_path))
    assert words == "the attack on this policy left out: differences of editions"


def test_records_that_are_published_as_they_are_are_not_attacked(tmp_path: Path) -> None:
    assert list(attack_standing(servers.settings(tmp_path, 'publish = "as it is"\n'))) == []


def test_the_command_names_the_records(site: Settings, tmp_path: Path) -> None:
    """A report that `discreet attack` writes is known again by the server of the cube, whoever built it how."""
    import pyarrow.parquet as pq

    from discreet.datasets import census_codebook

    pq.write_table(RECORDS, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(census_codebook().to_toml())
    few = ["--most", "1", "--targets", "0", "--no-editions", "--effort", "quick", "--time-limit", "0.1"]
    asked = [str(tmp_path / "people.parquet"), "--codebook", str(tmp_path / "people.toml"), "--policy", site.policy]
    assert run(["attack", *asked, "--json", str(tmp_path / "report.json"), *few]) == 1
    found = attack_reports(replace(site, attack_report=str(tmp_path / "report.json")))["public"]
    assert found.records == served_records(site, read_policy(site.policy))
    assert OTHER_RECORDS not in found.unjudged
