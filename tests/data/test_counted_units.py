"""What the records are: a key of the codebook, kept, checked, and said wherever numbers are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dc
from discreet.data.codebook import parse_codebook
from discreet.errors import InputError, Refused
from discreet.server.counting import cube
from tests import servers

TEXT = 'counted = { en = "holdings", de = "Betriebe", fr = "exploitations" }\n'
AREA = '[[dimension]]\nname = "area"\ncodes = ["N", "S"]\n[[dimension]]\nname = "kind"\ncodes = ["a", "b", "c"]\n'
POLICY = '[[method]]\nname = "random-round"\nseed = 18446744073709551629\n[table]\nmin_population = {least}\n'


def holdings(text: str = TEXT) -> dc.Microdata:
    """Four hundred holdings."""
    rows = {"area": ["N", "S"] * 200, "kind": ["a", "b", "c", "a"] * 100}
    return dc.Microdata.read(pa.table(rows), parse_codebook(text + AREA))


def test_the_codebook_keeps_it() -> None:
    """Written and read again it is the same; a word alone is English."""
    book = parse_codebook(TEXT + AREA)
    assert parse_codebook(book.to_toml()) == book
    assert book.dimension("area").description.counted == {"en": "holdings", "de": "Betriebe", "fr": "exploitations"}
    assert parse_codebook('counted = "households"\n' + AREA).counted == {"en": "households"}
    assert parse_codebook(AREA).counted == {}


@pytest.mark.parametrize(
    "wrong",
    [
        'counetd = "x"',
        'counted = ""',
        'counted = { de = "Betriebe" }',
        'counted = { en = "x", dee = "y" }',
        "counted = 3",
        'counted = " two  words"',
    ],
)
def test_a_typo_is_an_error(wrong: str) -> None:
    """Of the key, of a language, and what is no word."""
    with pytest.raises(InputError):
        parse_codebook(f"{wrong}\n{AREA}")


def test_answers_and_refusals_speak_of_it() -> None:
    """Notes name it; a minimum population is one of holdings; without the key all is as before."""
    release = dc.policy.answer(holdings(), "area", dc.policy.parse_policy(POLICY.format(least=10)))
    assert release.notes[0] == "Counted: holdings."
    with pytest.raises(Refused, match="fewer than 1,000 holdings"):
        dc.policy.answer(holdings(), "area", dc.policy.parse_policy(POLICY.format(least=1000)))
    with pytest.raises(Refused, match="fewer than 1,000 people"):
        dc.policy.answer(holdings(""), "area", dc.policy.parse_policy(POLICY.format(least=1000)))


def test_the_server_speaks_of_it(tmp_path: Path) -> None:
    """Form, table, about, refusal, downloads and metadata, in languages that have a word and in one that has none."""
    cube.build(holdings(), tmp_path / "cube")
    with servers.client(tmp_path, POLICY.format(least=150), cube=str(tmp_path / "cube")) as client:
        assert "150 holdings" in client.get("/about").text
        assert "mindestens 150 Betriebe umfassen" in client.get("/about?lang=de").text
        assert "Nombre : exploitations" in client.get("/table?variables=area&lang=fr").text
        assert "Número: holdings" in client.get("/table?variables=area&lang=es").text
        small = "/table?variables=area&where=kind=b"
        assert "Fewer than 150 holdings" in client.get(f"{small}&lang=en").text
        assert "Weniger als 150 Betriebe" in client.get(f"{small}&lang=de").text
        assert "Moins de 150 exploitations" in client.get(f"{small}&lang=fr").text
        for path in ("/", "/about", "/table?variables=area", small):
            assert "of people" not in client.get(f"{path}{'&' if '?' in path else '?'}lang=en").text
        assert client.get("/api/metadata").json()["counted"] == {
            "en": "holdings",
            "de": "Betriebe",
            "fr": "exploitations",
        }
        assert "Counted: holdings." in client.get("/api/table.notes.csv?variables=area").text
        assert "holdings" in client.get("/catalogue.jsonld").text
