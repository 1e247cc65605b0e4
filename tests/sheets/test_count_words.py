"""Counts that sentences and labels state in the languages of statistical offices."""

from __future__ import annotations

import pytest

from discreet.sheets.counts_in_words import counts_in, states_one

TELLING = (
    *("quattro uomini a Torino", "vier mannen in Utrecht", "quatro homens", "fyra män i Solna", "čtyři muži"),
    *("czterech mężczyzn", "cztery osoby", "neljä miestä", "dört erkek", "négy férfi", "четверо мужчин"),
    *(
        "四人",
        "4人",
        "\uff14人",
        "男性4人",
        "4名",
        "4명",
        "men: \u2463",
        "4men",
        "4 uomini",
        "4 mannen",
        "4 osoby",
        "4 män",
    ),
)
INNOCENT = (
    *(
        "Quelle: Destatis, Fachserie 4",
        "Tabulka 4",
        "Kapitel 4",
        "第4表",
        "2024年",
        "4月",
        "Anexo 4",
        "B4",
        "4th edition",
    ),
    *("Services to children", "Fire deaths", "Cases due to falls", "2022 fall semester", "Sex, patients"),
)


@pytest.mark.parametrize("text", TELLING)
def test_a_count_is_found_in_many_languages(text: str) -> None:
    assert states_one(text, {4.0})


@pytest.mark.parametrize("text", INNOCENT)
def test_numbers_that_are_no_counts_are_not(text: str) -> None:
    assert not [one for one in counts_in(text) if one.number in (2.0, 4.0, 6.0) or one.named]


@pytest.mark.parametrize(
    "label",
    ["Beacon (4)", "Beacon \u2013 4", "Beacon/4", "Beacon {4}", "札幌\uff084人\uff09", "Beacon (vier)", "Torino: 4"],
)
def test_a_number_that_stands_apart_from_a_label_is_told(label: str) -> None:
    assert any(one.number == 4 and (one.apart or one.named) for one in counts_in(label))


@pytest.mark.parametrize("label", ["Ward 4", "Abbey-4", "Beacon4", "65-74", "Type 2 diabetes"])
def test_a_number_that_is_part_of_a_label_is_none(label: str) -> None:
    assert not any(one.apart or one.named for one in counts_in(label))
