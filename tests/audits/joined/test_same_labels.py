"""Labels as they are compared: letters composed or not, capitals and spaces."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from discreet import Dimension
from discreet.audits.joined.same_labels import NamedLabels, labels_alike, plain_name, same_dimensions
from discreet.cli import run
from discreet.data.plain_labels import plain_label

NAMES = ["Besançon", "Évry", "Orléans"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_with_accents_are_the_same_however_they_are_written(form: Literal["NFC", "NFD"]) -> None:
    there = Dimension.flat("ville", [unicodedata.normalize(form, name) for name in NAMES], total=None)
    here = Dimension.flat("Région", NAMES, total="Ensemble")
    assert labels_alike(here, there)
    assert same_dimensions([NamedLabels.of(here)], [NamedLabels.of(there)]) == [(0, 0)]
    assert plain_name(unicodedata.normalize(form, "Région")) == plain_name("Région")
    assert plain_label(unicodedata.normalize(form, "Évry ")) == "évry"


def test_two_files_of_the_same_towns_are_one_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hidden count that another file shows is found, though that file writes its accents as signs of their own."""
    hidden = "ville,f,m,Total\nBesançon,*,12,*\nÉvry,20,31,51\nOrléans,9,14,23\n"
    shown = "ville,f,m,Total\nBesançon,3,12,15\nÉvry,20,31,51\nOrléans,9,14,23\n"
    (tmp_path / "a.csv").write_text(hidden, encoding="utf-8")
    (tmp_path / "b.csv").write_text(unicodedata.normalize("NFD", shown), encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    assert run(["audit", *paths, "--suppressed", "*"]) == 1
    assert "2 exact, 0 narrow, 0 open" in capsys.readouterr().err
