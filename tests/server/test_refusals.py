"""Every refusal is in the record, however it was told; the live line says what asking would say, and spends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests import servers

FORM = {"sex": "v_sex=1", "young": "v_sex=1&only_age=0-4", "many": "v_sex=1&v_age=1&v_region=1&v_activity=1"}


def recorded(client: TestClient) -> list[tuple[str, str]]:
    """Outcome and rule of the lines of the record, oldest first."""
    lines: list[Any] = client.app.state.service.store.last_answers(100)[::-1]  # type: ignore[attr-defined]
    return [(line["outcome"], line["rule"]) for line in lines]


def test_every_refusal_is_recorded(tmp_path: Path) -> None:
    """By the codebook and by the table, by the API, the page and the live line, the first time and again."""
    text = servers.policy_text("[table]\nmin_population = 100", guard="off")
    small = "variables=sex&where=citizenship=STL"
    many = "variables=sex,age,region,activity"
    with servers.client(tmp_path, text) as client:
        for query in (small, many):
            for path in ("/api/table.csv", "/table"):
                assert [client.get(f"{path}?{query}").status_code for _ in range(2)] == [403, 403]
        for _ in range(2):
            assert "Fewer than 100" in client.get("/verdict?v_sex=1&only_citizenship=STL").text
            assert "are allowed" in client.get(f"/verdict?{FORM['many']}").text
        assert client.get(f"/api/check?{many}").json()["allowed"] is False  # asks the codebook only, and is no answer
        lines = recorded(client)
    assert lines[:4] == [("refused", "min_population")] * 4
    assert lines[4:8] == [("refused", "max_dimensions")] * 4
    assert lines[8:] == [("refused", "min_population"), ("refused", "max_dimensions")] * 2


@pytest.mark.parametrize("action", ["refuse", "budget", "warn"])
def test_the_live_line_asks_the_guard(tmp_path: Path, action: str) -> None:
    """It says no where asking would be refused, and what it lets through is not counted as told."""
    text = servers.policy_text("min_difference = 100000\nbudget = 1", guard=action)
    with servers.client(tmp_path, text, tables=100) as client:

        def live(name: str) -> bool:
            return "single out" not in client.get(f"/verdict?{FORM[name]}").text

        assert live("young")
        assert live("sex")  # nothing was told so far
        assert client.get("/api/table?variables=sex").status_code == 200
        asked: list[bool] = []
        for age in ("0-4", "5-9"):
            said = "single out" not in client.get(f"/verdict?v_sex=1&only_age={age}").text
            asked.append(said)
            assert said == (client.get(f"/api/table?variables=sex&where=age={age}").status_code == 200)
        assert asked == {"refuse": [False, False], "budget": [True, False], "warn": [True, True]}[action]
        refusals = [line for line in recorded(client) if line[0] == "refused"]
        assert len(refusals) == 2 * asked.count(False)
