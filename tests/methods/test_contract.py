"""What a method says of itself: every one of ours says it and does it, and one of ten lines passes by the same door."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import discreet as dc
from discreet import methods
from discreet.methods import HOMES, contract, method_class, registered_name
from discreet.methods.contract import SaysIdle, SaysUntouched, check_class, contract_of, transition_of
from discreet.policy import answer_in_parts, parse_policy
from discreet.publishing.compare.consistency import check
from discreet.publishing.compare.published_table import Shown
from tests.persons import microdata, persons

TABLE = dc.Table.of([[3, 0, 7], [1, 2, 11]], ["area", "sex"])


@dataclass(frozen=True)
class Floor:
    """Every count cut down to a multiple of ``base``."""

    contract: ClassVar[dc.Contract] = dc.Contract(acts_on="table", truthful=False, cellwise=True, transition=True)
    base: int = 5

    def __call__(self, table: dc.Table) -> dc.Protected:
        shown = table.count // self.base * self.base
        room = dc.Room(lower=shown, upper=shown + self.base - 1)
        status = np.full(len(table), "s")
        return dc.Protected(table, {"count": shown}, status, f"cut to multiples of {self.base}", room=room)

    def transition(self, table: dc.Table | None = None) -> dc.Transition:
        return dc.Transition([[1, *[0] * (self.base - 1)]] * self.base, period=self.base)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The method under a name, for one test."""
    monkeypatch.setattr(methods, "_registered", {})
    dc.register("floor", Floor)


def mute(table: dc.Table) -> dc.Protected:
    """A method that says nothing of itself."""
    return Floor()(table)


def made(name: str) -> Any:
    """A method of ours with some parameters."""
    given: dict[str, dict[str, Any]] = {
        "redesign": {"merge": {"area": {"12": ["1", "2"]}}},
        "swap": {"geography": "area"},
        "pram": {"variable": "age"},
        "global-recode": {"variable": "area", "groups": {"s": ["s1", "s2"]}},
        "sample": {"fraction": 0.5},
    }
    if contract(name).rule:
        given[name] = {"rule": "threshold(n=3)"}
    seed = {"seed": 1} if "seed" in methods.parameters(name) else {}
    return method_class(name)(**given.get(name, {}), **seed)


# -- ours -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOMES)
def test_every_method_of_ours_says_what_it_does(name: str) -> None:
    """The class itself says it, and passes the check that a user's class must pass; what is said is what is done."""
    check_class(method_class(name))
    assert registered_name(made(name)) == name
    said = contract(name)
    if said.acts_on == "records":
        assert isinstance(made(name)(microdata(persons(60))), dc.Microdata)
        return
    if name == "cell-key-magnitude":
        return  # it needs a magnitude; ``truthful`` is that of all methods that ``perturbed`` hands back
    done = dc.protect(TABLE, made(name))
    assert done.truthful is said.truthful
    true = {measure: done.table.statistic(measure).values for measure in done.published}
    same = all(np.array_equal(values[~done.hidden], true[m][~done.hidden]) for m, values in done.published.items())
    assert same or not said.truthful
    assert said.protects or (same and not done.hidden.any())
    matrix = transition_of(made(name), TABLE)
    assert (matrix is not None) == said.transition
    if matrix is not None and name != "stochastic":  # its rows are those of the table as a whole
        inner = np.flatnonzero(TABLE.is_inner)
        for was, now in zip(TABLE.count[inner].tolist(), done.published["count"][inner].tolist(), strict=True):
            assert now in dict(matrix.outcomes(was))


def test_what_looks_at_one_cell_gives_it_the_same_in_any_table() -> None:
    """A cellwise method shows a cell of a part as it shows it in the whole, and its matrix needs no table."""
    data = microdata(persons(200))
    whole = dc.tabulate(data, by=["area", "age"])
    part = dc.tabulate(data, by=["area"])
    for name in methods.cellwise():
        given = {"secret": "sixteen letters and more"} if "secret" in methods.parameters(name) else {}
        method = method_class(name)(**given)
        alone = dc.protect(part, method).published["count"]
        at = whole.layout.find({"age": whole.dimensions[1].total})
        assert np.array_equal(dc.protect(whole, method).published["count"][at], alone, equal_nan=True)
        assert (transition_of(method) is None) == (not contract(name).transition)


def test_restored_margins_are_neither_true_nor_changed() -> None:
    """The same class says another thing where its parameters make it do another."""
    plain, kept = dc.Stochastic(seed=1), dc.Stochastic(seed=1, restore=["area"])
    assert (contract_of(plain).truthful, contract_of(kept).truthful) == (False, None)
    assert dataclasses.replace(kept, restore=()).contract == plain.contract
    assert dc.protect(TABLE, kept).release().truthful is None


def test_knowledge_of_a_method_stands_in_its_class() -> None:
    """Which parameters protect nothing, and which tables stay as they are, is said by the method, not of it."""
    says = {name: isinstance(made(name), SaysIdle) for name in HOMES}
    assert {name for name in HOMES if isinstance(made(name), SaysUntouched)} == {
        "stochastic", "swap", "pram", "global-recode",
    }  # fmt: skip
    assert says["round"]
    assert says["swap"]
    assert not says["suppress"]


# -- a method of the user's -------------------------------------------------------------------------------------


def test_ten_lines_are_enough(registered: None, tmp_path: Path) -> None:
    """Protected, audited, mapped, asked for by name, in a policy, and in parts."""
    done = dc.protect(TABLE, Floor(5))
    assert done.published["count"].tolist() == (TABLE.count // 5 * 5).tolist()
    assert done.release().truthful is False
    assert dc.audit(done).upper.max() > 0
    methods: dict[str, Any] = {**dc.grid("floor", base=[3, 5]), "as it is": dc.Publish()}
    frame: Any = dc.ru_map(TABLE, methods, measure="jos15").cells
    assert (frame["note"] == "").all()
    assert frame.loc["floor(base=5)", "risk"] < frame.loc["as it is", "risk"]
    policy = parse_policy('[[method]]\nname = "floor"\nbase = 5\n')
    data = microdata(persons(300))
    release = dc.answer(data, "area", policy)
    assert release.method == "cut to multiples of 5"
    assert (np.nan_to_num(release.values["count"]) % 5 == 0).all()
    none = parse_policy('utility = "none"\n[[method]]\nname = "floor"\nbase = 5\n')
    path = answer_in_parts(data, "area", none, tmp_path / "t.csv", cells=2)
    assert path.read_bytes() == dc.answer(data, "area", none).to_csv()
    with pytest.raises(dc.InputError, match="did you mean 'base'"):
        parse_policy('[[method]]\nname = "floor"\nbass = 5\n')


def test_a_policy_looks_at_its_effect_by_its_own_matrix(registered: None) -> None:
    """Base 1 changes no count: the matrix says so, and the policy is none."""
    with pytest.raises(dc.InputError, match="method 'floor' with these parameters changes almost nothing"):
        parse_policy('[[method]]\nname = "floor"\nbase = 1\n')


def test_what_publishes_the_truth_is_no_protection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under whatever name: a method that says so is refused as `publish` is."""

    @dataclass(frozen=True)
    class Plain:
        contract: ClassVar[dc.Contract] = dc.Publish.contract

        def __call__(self, table: dc.Table) -> dc.Protected:
            return dc.Publish()(table)

    monkeypatch.setattr(methods, "_registered", {})
    dc.register("plain", Plain)
    with pytest.raises(dc.InputError, match="method 'plain' publishes tables as they are"):
        parse_policy('[[method]]\nname = "plain"\n')


def test_what_is_not_said_is_an_error_that_names_the_cure(tmp_path: Path) -> None:
    """A plain function may be tried out; nothing that hangs on what it does takes it."""
    tried = dc.protect(TABLE, mute)
    cure = r"mute does not state what it does.*contract = Contract\(acts_on"
    data = microdata(persons(60))
    with pytest.raises(dc.InputError, match=cure):
        dc.ru_map(TABLE, {"mine": mute})
    with pytest.raises(dc.InputError, match=cure):
        dc.protect_in_parts(data, ["area"], mute, tmp_path / "t.csv")
    with pytest.raises(dc.InputError, match="Bare does not state what it does"):
        dc.register("bare", dataclass(frozen=True)(type("Bare", (), {"__call__": mute})))
    book = dc.Codebook(dimensions=TABLE.dimensions)
    own = Shown.of(tried.release(), book, {}, name="own")
    other = Shown.of(dc.protect(TABLE, Floor()).release(), book, {}, name="other")
    found = [f for f in check([own, other]) if f.level == "error"]
    assert [(f.kind, f.tables) for f in found] == [("not judged", ("own",))]
    assert "truthful=True or False in its Contract" in found[0].text
    assert not [f for f in check([other]) if f.level == "error"]


def test_a_method_is_held_to_what_it_says() -> None:
    """A value shown as true that is not, and a table that contradicts the contract, are errors."""

    @dataclass(frozen=True)
    class Liar(Floor):
        contract: ClassVar[dc.Contract] = dataclasses.replace(Floor.contract, truthful=True)

    with pytest.raises(dc.InputError, match=r"says that the values it shows are the true ones.*truthful=False"):
        dc.protect(TABLE, Liar())
    with pytest.raises(dc.InputError, match="the true ones"):  # at the barrier, too, whoever calls the method
        dataclasses.replace(Floor()(TABLE), truthful=True)

    def torn(table: dc.Table) -> dc.Protected:
        return dataclasses.replace(Floor()(table), truthful=False)

    torn.contract = dc.Hide.contract  # type: ignore[attr-defined]
    with pytest.raises(dc.InputError, match="torn says truthful=True in its contract and truthful=False"):
        dc.protect(TABLE, torn)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transition": None}, r"has no method transition\(table\)"),
        ({"transition": lambda self, table: None}, r"transition\(self, table=None\)"),
        ({"contract": dataclasses.replace(Floor.contract, transition=False)}, "has a method transition"),
        ({"contract": dataclasses.replace(Floor.contract, rule="cells")}, "a field rule and governing_rule"),
        ({"contract": dataclasses.replace(Floor.contract, step="counts", words="cut")}, "give it 'variables'"),
    ],
)
def test_registration_looks_at_the_class(change: dict[str, Any], message: str) -> None:
    """What a contract promises must be there."""
    with pytest.raises(dc.InputError, match=message):
        dc.register("other", type("Other", (Floor,), change))


def test_registration_looks_at_the_name(registered: None) -> None:
    """A name stands for one thing; the same class may come again, as it does in a notebook."""
    dc.register("floor", Floor)
    with pytest.raises(dc.InputError, match="a method 'round' already"):
        dc.register("round", Floor)
    with pytest.raises(dc.InputError, match=r"a method 'floor' already \(Floor\)"):
        dc.register("floor", dc.Round)
    with pytest.raises(dc.InputError, match="small letters"):
        dc.register("My method", Floor)
    with pytest.raises(dc.InputError, match=r"put @dataclass\(frozen=True\)"):
        dc.register("plain", type("Plain", (), {"__call__": mute}))
    with pytest.raises(dc.InputError, match=r"can change after it is made"):
        dc.register("loose", dataclass(type("Loose", (), {"__call__": mute})))


FOUR: dict[str, Any] = {"acts_on": "table", "truthful": False, "cellwise": False, "transition": False}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"truthful": False, "cellwise": False, "transition": False}, "needs 'acts_on'"),
        (FOUR | {"acts_on": "rows"}, "'records', 'table'"),
        (FOUR | {"acts_on": "records", "cellwise": True}, "has no cells"),
        (FOUR | {"acts_on": "records"}, "words="),
        (FOUR | {"protects": False}, "truthful=True"),
        (FOUR | {"step": "places", "words": "moved"}, "a step moves"),
        (FOUR | {"step": "counts", "words": "moved"}, "transition=True"),
    ],
)
def test_a_contract_does_not_contradict_itself(said: dict[str, Any], message: str) -> None:
    """Four things must be said, and some go with others."""
    with pytest.raises(dc.InputError, match=message):
        dc.Contract(**said)


def test_room_is_no_detail() -> None:
    """What an audit goes by has a place of its own, with one number a cell."""
    shown, status = TABLE.count, np.full(len(TABLE), "s")
    with pytest.raises(dc.InputError, match=r"room=Room\(lower=\.\.\.\)"):
        dc.Protected(TABLE, {"count": shown}, status, "", {"lower": shown, "upper": shown})
    with pytest.raises(dc.InputError, match="one number for each of the 12 cells"):
        dc.Protected(TABLE, {"count": shown}, status, "", room=dc.Room(lower=shown[:2], upper=shown[:2]))
    with pytest.raises(dc.InputError, match="together, or neither"):
        dc.Room(lower=shown)
    with pytest.raises(dc.InputError, match="3 arrays of levels"):
        dc.Room(levels=(shown, shown))


# -- who goes by it ---------------------------------------------------------------------------------------------


def test_the_page_explains_a_method_by_what_it_says(registered: None) -> None:
    """What hides is not called changed, whichever way its secondary cells are found; nor the other way round."""
    from discreet.server.pages.messages import HIDDEN, OTHERWISE, TRUE, explained

    rule = '[[rule]]\nrule = "threshold"\nn = 3\n'
    for name in ("suppress", "optimal", "modular"):
        assert explained(parse_policy(f'[[method]]\nname = "{name}"\n{rule}')) == HIDDEN
    assert explained(parse_policy(f'[[method]]\nname = "cta"\n{rule}')) == OTHERWISE
    assert explained(parse_policy('[[method]]\nname = "floor"\n')) == OTHERWISE
    merged = '[[method]]\nname = "redesign"\n[method.merge.area]\n"1+2" = ["1", "2"]\n'
    assert explained(parse_policy(merged)) == TRUE


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(lambda table: dc.Table.of([[3, 0], [1, 2]], ["region", "sex"]), id="other dimensions"),
        pytest.param(lambda table: dc.Table.of(table.array() + 1, ["area", "sex"]), id="other values"),
        pytest.param(
            lambda table: dc.Table.of(table.array(), ["area", "sex"], margins=[{"area": ["Total"], "sex": ["Total"]}]),
            id="fewer cells",
        ),
    ],
)
def test_what_comes_back_is_of_the_table_that_was_given(other: Any) -> None:
    """Cells and true values; a method may add codes (Redesign), and may give back an equal table."""
    table = dc.Table.of([[3, 0], [1, 2], [4, 4]], ["area", "sex"])
    with pytest.raises(dc.InputError, match="of another table than the one it was given"):
        dc.protect(table, lambda given: dc.Round(3)(other(given)))
    same = dc.protect(table, lambda given: dc.Round(3)(dc.Table.of(given.array(), ["area", "sex"])))
    assert same.release().to_csv() == dc.protect(table, dc.Round(3)).release().to_csv()
    assert len(dc.protect(table, dc.Redesign({"area": {"1+2": ["1", "2"]}})).release()) == 9


def test_a_name_stands_for_one_class(registered: None) -> None:
    """Another class of the same name does not take the place of the first; the same text may be run again."""
    text = """
@dataclass(frozen=True)
class Cut:
    contract: ClassVar[dc.Contract] = dc.Contract(acts_on="table", truthful=False, cellwise=False, transition=False)
    base: int = 5
    def __call__(self, table): return dc.Round(3)(table)
"""
    for source, refused in ((text, False), (text, False), (text.replace("3", "5"), True)):
        names = dict(globals())
        exec(source, names)
        if refused:
            with pytest.raises(dc.InputError, match=r"a method 'cut' already \(Cut\)"):
                dc.register("cut", names["Cut"])
        else:
            dc.register("cut", names["Cut"])
    with pytest.raises(dc.InputError, match=r"a method 'floor' already \(Floor\)"):
        dc.register("floor", dataclass(frozen=True)(type("Floor", (Floor,), {})))
    assert methods.method_class("floor") is Floor


@dataclass(frozen=True)
class OpenStep:
    """A step that says that it moves counts, and shows them as they are."""

    contract: ClassVar[dc.Contract] = dc.Contract(
        acts_on="table", truthful=False, cellwise=True, transition=True, step="counts", words="counts moved"
    )
    variables: ClassVar[tuple[str, ...]] = ()

    def __call__(self, table: dc.Table) -> dc.Protected:
        return dc.Publish()(table)

    def transition(self, table: dc.Table | None = None) -> dc.Transition:
        return dc.Transition.rounding(3)


def test_a_step_before_counting_is_held_to_its_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a method is: what says that it changes counts, and calls them true, answers nothing."""
    monkeypatch.setattr(methods, "_registered", {})
    dc.register("open-step", OpenStep)
    policy = parse_policy('[[before]]\nname = "open-step"\n')
    with pytest.raises(dc.InputError, match="make them agree"):
        dc.answer(dc.datasets.census(n=300), "sex", policy)
