"""The table server of JOS15 sections 2.1, 2.3 and 6, by enumeration and from the outside."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.cli import run
from discreet.policy import GuardRules, Policy, Query
from discreet.server import auth, create_app
from discreet.server.counting import cube
from discreet.server.counting.counting import CubeCounting
from discreet.server.guarding.guard import Earlier, Guard
from discreet.server.record.record_lines import export
from tests import servers

CODES = "abcde"
PARTS = {"X": "ab", "Y": "cde"}
OTHER = {"P": "a", "Q": "bcd", "R": "e"}
FEWEST = 10

# -- section 6: several queries of one user ---------------------------------------------------------------------

# a query in words, and the sets of finest codes that its table shows
FILTERS = {
    "sex where area=" + "|".join(some): list(some) for n in range(1, 6) for some in itertools.combinations(CODES, n)
}
GROUPS = {
    "sex where area=" + "|".join(some): [held[name] for name in some]
    for held in (PARTS, OTHER)
    for n in range(1, len(held) + 1)
    for some in itertools.combinations(held, n)
}
TABLES = {
    "sex": [CODES], "area": [*CODES, *PARTS.values(), *OTHER.values(), CODES],
    "area:level 1": [*PARTS.values(), CODES], "area:hierarchy 2 level 1": [*OTHER.values(), CODES],
}  # fmt: skip
SHOWN = FILTERS | GROUPS | TABLES


def bits(codes: Iterable[str]) -> np.ndarray:
    return np.array([code in set(codes) for code in CODES], int)


def sums(sets: list[np.ndarray]) -> set[tuple[int, ...]]:
    """All unions of sets without a common element: what is told by adding."""
    found = {tuple([0] * len(CODES))}
    for one in sets:
        found |= {tuple(np.array(x) + one) for x in found if not (np.array(x) & one).any()}
    return found


def gives_away(people: np.ndarray, *queries: str) -> bool:
    """Whether a set of few people follows by adding and subtracting, that no sum of shown sets is: linear algebra."""
    shown = [bits(s) for query in queries for s in SHOWN[query]]
    told, matrix = sums(shown), np.array(shown)
    rank = np.linalg.matrix_rank(matrix)
    for x in itertools.product((0, 1), repeat=len(CODES)):
        few = any(x) and x not in told and np.array(x) @ people < FEWEST
        if few and np.linalg.matrix_rank(np.vstack([matrix, x])) == rank:
            return True
    return False


def guarded(people: np.ndarray) -> Guard:
    parents = [
        {code: group for group, held in groups.items() for code in held if held != code} for groups in (PARTS, OTHER)
    ]
    parents[1] |= {"a": "P", "e": "R"}
    area = dc.Dimension.from_parents("area", *parents, total="All")
    table = dc.Table.of(np.array([people // 2, people - people // 2]).T, [area, dc.Dimension.flat("sex", ["f", "m"])])
    rules = GuardRules(action="refuse", min_difference=FEWEST, max_overlaps=1000)
    return Guard(CubeCounting(table), Policy(publish="as it is", guard=rules))


def query(words: str) -> Query:
    variables, _, where = words.partition(" where ")
    return Query.of(variables, where=where or None)


@pytest.mark.parametrize("people", [[300, 300, 300, 300, 4], [4, 300, 300, 5, 300], [300, 6, 300, 300, 300]])
def test_every_union_that_two_queries_tell_about_is_seen(people: list[int]) -> None:
    """All pairs of all queries on a variable with two hierarchies: flagged if and only if somebody is singled out."""
    counts = np.array(people)
    guard = guarded(counts)
    geometry = {words: guard.geometry(query(words)) for words in SHOWN}
    wrong = [
        (new, old)
        for new, old in itertools.product(SHOWN, repeat=2)
        if (guard.check(geometry[new], Earlier([geometry[old]]).rows()) is not None) != gives_away(counts, new, old)
    ]
    assert wrong == []


def test_several_earlier_tables_are_taken_together() -> None:
    """Everybody, less the codes of three earlier tables: all triples and quadruples of single codes and everybody."""
    counts = np.array([300, 300, 300, 300, 4])
    guard = guarded(counts)
    single = [f"sex where area={code}" for code in CODES]
    for n in (2, 3, 4):
        for some in itertools.permutations(["sex", *single], n + 1):
            if len(some) > 4 and some != tuple(sorted(some)):
                continue  # the order of many tells nothing new
            new, *before = some
            earlier = Earlier(guard.geometry(query(words)) for words in before)
            flag = guard.check(guard.geometry(query(new)), earlier.rows())
            assert (flag is not None) == gives_away(counts, *some), some


def test_a_query_of_several_codes_and_everybody(tmp_path: Path) -> None:
    """The example of the review, through the server: whichever of the two is asked second is refused."""
    text = servers.policy_text(query="nested_only = false", guard="refuse")
    most, everybody = {"variables": "sex", "where": "citizenship=NAT+EU+EUR+OTH"}, {"variables": "sex"}
    for asked in itertools.permutations([most, everybody]):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        with servers.client(folder, text) as client:
            replies = [client.get("/api/table", params=one) for one in asked]
        assert [reply.status_code for reply in replies] == [200, 403]
        assert replies[1].json()["rule"] == "guard_difference"


# -- section 4.2: property (e), and section 5: Table 4 ----------------------------------------------------------


def after_rounding(before: np.ndarray, after: np.ndarray, weights: tuple[float, ...] = (0.1, 0.7, 0.1, 0.1)) -> float:
    """The risk after random rounding to base 3, written out for one table: cells to 6 are small, multiplier 1/3."""
    f, g = before.ravel(), after.ravel()
    chance = {0: {0: 1.0}, 1: {0: 2 / 3, 3: 1 / 3}, 2: {0: 1 / 3, 3: 2 / 3}}
    total = {j: sum(i * chance[i % 3].get(int(j - (i - i % 3)), 0.0) for i in f.tolist()) for j in set(g.tolist())}
    spread = np.array([total[j] / (g == j).sum() for j in g.tolist()])
    zero, shown = f == 0, g == 0
    both, either = (zero & shown).sum(), (zero | shown).sum()
    first = (zero.mean() ** (either / both)) if both else 0.0
    return weights[0] * first + sum(
        w * concentration(spread[at]) / 3 for w, at in zip(weights[1:3], (g <= 6, g > 6), strict=True)
    )


def concentration(values: np.ndarray) -> float:
    """1 - H / log K of some cells; 1 for a single one, 0 for none and for all zero."""
    k, n = len(values), values.sum()
    if k < 1 or n <= 0:
        return 0.0
    p = values[values > 0] / n
    return 1.0 if k == 1 else float(1 + (p * np.log(p)).sum() / np.log(k))


def test_a_csv_states_the_utility_by_choice(tmp_path: Path) -> None:
    """Section 2.3 step 5: beside the CSV, in metadata that the answer names, or in lines above it."""
    where = "variables=sex,age&where=region=R1"
    with servers.client(tmp_path, servers.policy_text()) as client:
        plain = client.get(f"/api/table.csv?{where}")
        link = plain.headers["link"].split(">")[0].removeprefix("<")
        about = client.get(f"/api/{link}")
        above = client.get(f"/api/table.notes.csv?{where}")
        assert client.get(f"/api/{about.json()['url']}").content == plain.content
        assert client.get("/api/table.csv?variables=sex").headers["link"] != plain.headers["link"]
    stated = [note for note in about.json()["dc:description"] if note.startswith("Expected quality: ")]
    assert len(stated) == 1
    assert b"Expected quality" not in plain.content
    assert f"# note: {stated[0]}\r\n".encode() in above.content
    assert above.content.endswith(plain.content)
    (tmp_path / "t.notes.csv").write_bytes(above.content)
    (tmp_path / "t.csv").write_bytes(plain.content)
    read, same = dc.Release.read_csv(tmp_path / "t.notes.csv"), dc.Release.read_csv(tmp_path / "t.csv")
    assert read.to_csv() == same.to_csv() == plain.content


def test_a_csv_of_the_library_and_of_the_command_line(tmp_path: Path) -> None:
    """The file beside it names it; a format that has its words within needs none."""
    release = dc.protect(dc.Table.of([[3, 9], [6, 4]], ["# of rooms", "sex"]), dc.Round(3)).release(
        notes=["Good, status"]
    )
    dc.write(release, tmp_path / "t.csv", metadata=True)
    about = json.loads((tmp_path / "t.csv-metadata.json").read_text())
    assert about["url"] == "t.csv"
    assert about["dc:description"] == ["Good, status"]
    with pytest.raises(dc.InputError, match="beside format 'csv'"):
        dc.write(release, tmp_path / "t.xlsx", metadata=True)
    assert not (tmp_path / "t.xlsx").exists()
    assert dc.Release.read_csv(tmp_path / "t.csv").to_csv() == release.to_csv(), "a head may begin like a note"
    dc.datasets.write("injuries", tmp_path / "i.csv")
    out = tmp_path / "o.csv"
    arguments = ["protect", str(tmp_path / "i.csv"), "--ready", "--method", "round", "-P", "base=3"]
    assert run([*arguments, "-o", str(out), "--metadata"]) == 0
    assert json.loads((tmp_path / "o.csv-metadata.json").read_text())["url"] == "o.csv"
    assert run([*arguments, "--metadata"]) == 2


def test_property_e_may_fail() -> None:
    """The example of the page: the product reports what the paper's formula gives, above the risk before."""
    before, after = np.array([[7, 7], [7, 0]]), np.array([[9, 9], [6, 0]])
    risk = dc.risk.jos15_after(before, after, dc.Transition.rounding(3), multiplier=1 / 3)
    assert float(risk.value) > float(dc.risk.jos15_risk(before).value)
    size = risk.terms["size"] * 0.1
    assert float(risk.value) - size == pytest.approx(after_rounding(before, after))


def test_the_share_of_small_cells_that_are_perturbed() -> None:
    """Table 4 on a small census: what the study prints, counted cell by cell."""
    import importlib.util

    place = Path(__file__).parents[2] / "benchmarks" / "jos15.py"
    spec = importlib.util.spec_from_file_location("jos15_study", place)
    assert spec is not None
    assert spec.loader is not None
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    made = study.cubes(dc.datasets.census(20_000))
    found = study.small_cells(made)
    true = made[""].array()
    small = [at for at in np.ndindex(true.shape) if true[at] in (1, 2)]
    assert found[""][0] == len(small)
    for label in ("RS", "RR", "SP"):
        changed = made[label].array()
        assert found[label][0] == pytest.approx(100 * sum(changed[at] != true[at] for at in small) / len(small))
    assert set(found["RR"]) == {100.0}, "rounding to base 3 leaves no cell of 1 or 2"
    assert found["RS"][3] == 0.0, "swapping regions changes nothing in a table without region"


# -- section 6: less protection for approved users --------------------------------------------------------------

LESS = """secret = { env = "DISCREET_TEST_SECRET" }
[query]
max_dimensions = 4
[guard]
action = "off"
[[method]]
name = "cell-key"
d = 1
v = 0.2
"""


def numbers(answer: Any) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    return np.array([float(line.split(",")[-2]) for line in answer.text.splitlines()[1:]])


def test_approved_users_may_get_less_protection(tmp_path: Path) -> None:
    """Each role its policy: other noise, other limits, another edition; the public and closed accounts keep theirs."""
    (tmp_path / "approved.toml").write_text(LESS)
    asked = "/api/table.csv?variables=sex,age,region"
    wide = "/api/table.csv?variables=sex,age,region,education"
    table, _ = cube.read_cube(servers.small_cube())
    truth = dc.answer(table, "sex, age, region", dc.policy.parse_policy('publish = "as it is"')).values["count"]
    with servers.client(tmp_path, roles={"approved": str(tmp_path / "approved.toml")}) as client:
        store = client.app.state.service.store  # type: ignore[attr-defined]
        head = {}
        for role in ("approved", "methodologist", "public"):
            auth.new_user(store, role, role, None)
            head[role] = {"authorization": f"Bearer {auth.new_token(store, role)}"}
        public, stranger = numbers(client.get(asked, headers=head["public"])), client.get(asked)
        approved = client.get(asked, headers=head["approved"])
        assert (numbers(stranger) == public).all()
        assert 0 < np.abs(numbers(approved) - truth).max() <= 1 < np.abs(public - truth).max()
        assert (numbers(client.get(asked, headers=head["methodologist"])) == numbers(approved)).all()
        assert approved.headers["etag"] != stranger.headers["etag"]
        assert "private" in approved.headers["cache-control"]
        assert "private" in stranger.headers["cache-control"]
        same = client.get(asked, headers=head["approved"] | {"if-none-match": stranger.headers["etag"]})
        assert same.status_code == 200, "the public's answer is not the approved user's"
        assert client.get(wide).json()["rule"] == "max_dimensions"
        assert client.get(wide, headers=head["approved"]).status_code == 200
        limits = [client.get("/api/metadata", headers=h).json()["limits"] for h in ({}, head["approved"])]
        assert [limit["max_dimensions"] for limit in limits] == [3, 4]
        record = tmp_path / "record.jsonl"
        record.write_text("".join(line + "\n" for line in export(store)))
        version = client.app.state.service.version  # type: ignore[attr-defined]
    policies = [dc.policy.read_policy(tmp_path / name) for name in ("policy.toml", "approved.toml")]
    found = list(dc.policy.replay(record, table, policies, version=version))
    assert {line.found for line in found} == {"same"}
    assert {line.entry.policy for line in found} == {policy.digest for policy in policies}
    alone = list(dc.policy.replay(record, table, policies[0], version=version))
    assert {line.found for line in alone} == {"same", "another policy"}


def test_a_policy_for_a_role_fails_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown role, a policy that is wrong, and another secret for the same data are refused at the start."""
    with pytest.raises(dc.InputError, match="did you mean 'approved'"):
        servers.settings(tmp_path, roles={"aproved": "x.toml"})
    with pytest.raises(dc.InputError, match="no role 'public'"):
        servers.settings(tmp_path, roles={"public": "x.toml"})
    (tmp_path / "wrong.toml").write_text("[[method]]\nname = 'cell-kex'\n")
    data = [str(servers.small_cube()), "--policy", str(tmp_path / "policy.toml"), "--port", "0"]
    for given in ("approved", "approved=wrong.toml", f"approved={tmp_path}/wrong.toml"):
        assert run(["serve", *data, "--policy-for", given]) == 2
    (tmp_path / "other.toml").write_text(LESS.replace("TEST_SECRET", "OTHER_SECRET"))
    monkeypatch.setenv("DISCREET_OTHER_SECRET", "another secret of many characters")
    settings = servers.settings(tmp_path, roles={"approved": str(tmp_path / "other.toml")})
    with pytest.raises(dc.InputError, match="under another secret"):
        create_app(settings)


def test_questions_of_a_user_are_one_past_whatever_the_role(tmp_path: Path) -> None:
    """What somebody was told as a member of the public counts when approved later."""
    (tmp_path / "approved.toml").write_text(LESS.replace('"off"', '"refuse"'))
    text = servers.policy_text(query="nested_only = false", guard="refuse")
    with servers.client(tmp_path, text, roles={"approved": str(tmp_path / "approved.toml")}) as client:
        store = client.app.state.service.store  # type: ignore[attr-defined]
        auth.new_user(store, "ada", "public", None)
        head = {"authorization": f"Bearer {auth.new_token(store, 'ada')}"}
        most = client.get("/api/table?variables=sex&where=citizenship=NAT%2BEU%2BEUR%2BOTH", headers=head)
        assert most.status_code == 200
        store.change_user("ada", role="approved")
        client.app.state.gate._checked.clear()  # type: ignore[attr-defined]  # a token is believed for half a minute
        assert client.get("/api/table?variables=sex", headers=head).json()["rule"] == "guard_difference"
