"""Measures in the page: chosen in the form, kept in the address, named in words, and given as the API gives them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from discreet.policy import parse_policy
from discreet.server import Settings, create_app
from discreet.server.counting import cube
from discreet.server.views.page_measures import form_value, from_form_value, measure_options
from tests.policy.test_statistics import COUNTS, HOURS, PAY, SECRET, workers

POLICY = 'secret = { env = "MEASURE_SECRET" }\n[guard]\naction = "refuse"\n' + COUNTS + PAY + HOURS


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server of pay and hours."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    (tmp_path / "p.toml").write_text(POLICY)
    cube.build(workers(1500), tmp_path / "cube", parse_policy(POLICY))
    settings = Settings(
        policy=str(tmp_path / "p.toml"), cube=str(tmp_path / "cube"), store=f"sqlite:///{tmp_path}/s.db"
    )
    with TestClient(create_app(settings)) as made:
        yield made


def test_the_form_offers_what_the_policy_serves(client: TestClient) -> None:
    """Counts first and chosen; every statistic of every measure in words."""
    page = client.get("/").text
    assert '<input type="radio" name="measure" value="" checked> <span>Number of people</span>' in page
    for words in ("pay: mean", "pay: median", "pay: percentile 90", "pay per hours"):
        assert f"<span>{words}</span>" in page
    assert "<span>pay : moyenne</span>" in client.get("/?lang=fr").text


def test_a_chosen_measure_is_in_the_address_and_in_the_numbers(client: TestClient) -> None:
    """The form leads to an address, which shows the bytes of the API, under a heading that says what they are."""
    to = client.get("/go?v_area=1&measure=mean+pay", follow_redirects=False).headers["location"]
    assert to == "/table?variables=area&measure=pay&statistic=mean"
    page = client.get(to).text
    assert "pay: mean; area" in page
    assert 'data-source="/api/table.view.json?variables=area&amp;measure=pay&amp;statistic=mean"' in page
    assert '<input type="radio" name="measure" value="mean pay" checked>' in page
    view = client.get("/api/table.view.json?variables=area&measure=pay&statistic=mean").json()
    assert view["measure"]["decimals"] == 4
    assert 100 <= max(one for one in view["values"] if one is not None) < 1000
    assert f">{view['values'][0]:,.2f}</td>" in page  # five digits of the greatest number can be read
    german = client.get(f"{to}&lang=de").text
    assert f">{view['values'][0]:.2f}</td>".replace(".", ",") in german
    rate = client.get("/table?variables=sex&statistic=rate-area&where=area=B&lang=en").text
    assert "Number of people: per 1,000 of the total of area" in rate


def test_rates_of_a_restricted_population_are_offered(client: TestClient) -> None:
    """Per 1,000 of the total of the variable that restricts it, and of no other; the one that is chosen stands once."""
    page = client.get("/table?variables=sex&where=area=B").text
    offered = '<input type="radio" name="measure" value="rate-area count"'
    assert page.count(offered) == 1
    assert "rate-sex count" not in page
    assert "rate-area" not in client.get("/table?variables=sex").text
    assert "rate-area" not in client.get("/").text
    to = client.get("/go?v_sex=1&only_area=B&measure=rate-area+count", follow_redirects=False).headers["location"]
    assert to == "/table?variables=sex&where=area=B&statistic=rate-area"
    chosen = client.get(to).text
    assert chosen.count(offered) == chosen.count(f"{offered} checked") == 1


def test_the_live_line_and_what_is_possible_know_the_measure(client: TestClient) -> None:
    """Medians come from bands, so that these cannot be in the table; an unknown measure is an error, not a count."""
    options = client.get("/choices?v_sex=1&measure=median+pay").json()["variables"]
    assert [name for name, one in options.items() if all(one["levels"].values())] == ["band"]
    assert "This table can be made." in client.get("/verdict?v_sex=1&measure=median+pay").text
    assert "cannot be asked" in client.get("/verdict?v_sex=1&v_band=1&measure=median+pay").text
    refused = client.get("/verdict?v_sex=1&measure=mean+hours").text
    assert "not published" in refused
    assert "Number of people instead" in refused
    assert "cannot be asked" in client.get("/verdict?v_sex=1&measure=mean+wages").text
    assert client.get("/go?v_sex=1&measure=pay").status_code == 422


def test_rates_are_offered_while_one_chooses(client: TestClient) -> None:
    """With the words of the form, as soon as there is a population; and the live line judges them as the table."""
    assert client.get("/choices?v_sex=1").json()["rates"] == []
    assert client.get("/choices").json()["rates"] == []
    assert "Rates per 1,000 can be chosen here" in client.get("/").text
    alone = client.get("/choices?only_area=B").json()["rates"]  # before a variable is chosen
    assert "Choose at least one variable" in client.get("/verdict?only_area=B&measure=rate-area+count").text
    rates = client.get("/choices?v_sex=1&only_area=B").json()["rates"]
    assert rates == alone == [{"value": "rate-area count", "words": "Number of people: per 1,000 of the total of area"}]
    assert "This table can be made." in client.get("/verdict?v_sex=1&only_area=B&measure=rate-area+count").text
    assert client.get("/table?variables=sex&where=area=B&statistic=rate-area").status_code == 200
    assert "cannot be asked" in client.get("/verdict?v_sex=1&measure=rate-area+count").text


def test_a_median_with_too_many_variables_says_that_its_bands_count(tmp_path: Path, client: TestClient) -> None:
    """In the live line, on the page, for programs and beside what is closed, in every language."""
    asked = "v_sex=1&v_area=1&v_age=1&measure=median+pay"
    most = client.get("/choices").json()["most"]
    line = client.get(f"/verdict?{asked}").text
    assert (
        f"4 variables are asked, {most} are allowed; the bands that a median or quantile is read from (&#39;band&#39;) "
        "count too." in line
    )
    assert "count too" not in client.get("/verdict?v_sex=1&v_area=1&v_age=1&v_band=1").text
    closed = client.get("/choices?v_sex=1&v_area=1&measure=median+pay").json()["variables"]["age"]["levels"]
    too = "; the bands that a median or quantile is read from ('band') count too."
    assert set(closed.values()) == {f"More than {most} variables are not allowed{too}"}
    for language, words in (("de", "zählen mit"), ("fr", "comptent aussi"), ("es", "también cuentan")):
        assert words in client.get(f"/table?variables=sex,area,age&measure=pay&statistic=median&lang={language}").text


def test_a_slip_in_a_measure_leads_to_the_nearest(client: TestClient) -> None:
    """As slips in variables do."""
    page = client.get("/table?variables=sex&measure=pai&statistic=meen", headers={"Accept": "text/html"})
    assert page.status_code == 422
    assert "/table?variables=sex&amp;measure=pay&amp;statistic=mean" in page.text


def test_fields_of_the_form_are_read_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a policy serves, weighted counts too."""
    monkeypatch.setenv("MEASURE_SECRET", SECRET)
    for one in measure_options(parse_policy(POLICY), [], "de", weighted=True):
        assert from_form_value(form_value(one.measure, one.statistic)) == (one.measure, one.statistic)
        assert one.words


def test_the_permanent_link_can_be_copied_without_script(client: TestClient) -> None:
    """It has scheme and host."""
    page = client.get("/table?variables=area").text
    assert '<input readonly value="http://testserver/table?variables=area" id="permalink">' in page
