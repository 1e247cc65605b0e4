"""Tables in frames of other sites: nowhere unless the settings name who may, and never the pages with forms."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.server import Settings
from tests import servers

QUERY = "variables=age,sex&where=region=R1"


def test_nobody_frames_a_page_unless_the_settings_say_so(tmp_path: Path) -> None:
    """There is no such page then."""
    with servers.client(tmp_path) as client:
        assert client.get(f"/embed?{QUERY}").status_code == 404
        answer = client.get(f"/table?{QUERY}")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert "Embed this table" not in answer.text


def test_those_who_may_are_named_for_the_table_alone(tmp_path: Path) -> None:
    """The numbers are those of the table; forms and sign-in stay out of frames, and no cookie is set."""
    with servers.client(tmp_path, embed=("https://news.example", "https://*.office.example")) as client:
        framed = client.get(f"/embed?{QUERY}")
        assert framed.status_code == 200
        policy = framed.headers["content-security-policy"]
        assert policy.endswith("frame-ancestors https://news.example https://*.office.example")
        assert "default-src 'none'; script-src 'self'" in policy
        assert "x-frame-options" not in framed.headers
        assert "set-cookie" not in framed.headers
        assert "<form" not in framed.text
        page = client.get(f"/table?{QUERY}")
        assert framed.text.partition("<tbody>")[2].partition("</tbody>")[0] in page.text
        assert "/embed?variables=age,sex&amp;where=region=R1" in page.text
        for path in ("/", f"/table?{QUERY}", "/login", "/about", "/embed?variables=sexx", "/api/metadata"):
            assert client.get(path).headers["x-frame-options"] == "DENY", path


def test_a_refusal_is_one_in_a_frame_too(tmp_path: Path) -> None:
    """And recorded."""
    text = servers.policy_text("[table]\nmin_population = 100", guard="off")
    with servers.client(tmp_path, text, embed=("https://news.example",)) as client:
        assert client.get("/embed?variables=sex&where=citizenship=STL").status_code == 403
        lines = client.app.state.service.store.last_answers(10)  # type: ignore[attr-defined]
        assert [line["rule"] for line in lines] == ["min_population"]


@pytest.mark.parametrize(
    "origin", ["*", "news.example", "https://a.b/c", "https://a b", "'self'", "https://a;script-src *"]
)
def test_what_is_no_origin_is_an_error(origin: str) -> None:
    """So that nothing else gets into the header."""
    with pytest.raises(dc.InputError, match="embed is an origin"):
        Settings(policy="policy.toml", cube="cube", embed=(origin,))


def test_recent_tables_are_forgotten(tmp_path: Path) -> None:
    """By a form of our own, and by no other."""
    with servers.client(tmp_path) as client:
        client.get(f"/table?{QUERY}")
        page = client.get("/").text
        assert "Age × Sex · Region: Region 1" in page
        assert client.post("/forget", data={"token": "x"}).status_code == 403
        token = page.partition('name="token" value="')[2].partition('"')[0]
        assert client.post("/forget", data={"token": token}).status_code == 303
        assert "Region: Region 1" not in client.get("/").text
