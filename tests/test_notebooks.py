"""The notebooks of docs/: run from the first cell to the last by a fresh kernel, they show what is stored in them."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PICTURE = 60_000  # bytes at most


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"discreet_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


run = load(FOLDER / "run.py")


def outputs(notebook: Any) -> list[list[dict[str, Any]]]:
    """What each cell of code shows; of pictures only that they are there, because fonts differ between machines."""

    def plain(one: Any) -> dict[str, Any]:
        if one.output_type == "stream":
            return {one.name: one.text}
        return {kind: "a picture" if kind == "image/png" else text for kind, text in one.data.items()}

    return [[plain(one) for one in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_three() -> None:
    """A business survey, a census, a sample survey."""
    assert [path.stem for path in NOTEBOOKS] == ["business", "census", "sample"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_fresh_run_shows_what_is_stored(path: Path, tmp_path: Path) -> None:
    """No error, nothing on stderr, and every text and table the same: ``docs/notebooks/run.py`` stores them anew."""
    stored, fresh = nbformat.read(path, as_version=4), run.executed(path, tmp_path)
    assert outputs(fresh) == outputs(stored)
    assert not [one for cell in outputs(fresh) for one in cell if "stderr" in one]
    assert list(tmp_path.glob("*.xlsx")) or path.stem == "sample"  # what is written is written there


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_nothing_of_the_machine_is_stored(path: Path) -> None:
    """No paths, times or numbers of runs: only text, code and what is shown."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata == run.METADATA
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"alt"}
        if cell.cell_type == "code":
            assert cell.execution_count is None
            assert all(one.get("metadata", {}) == {} for one in cell.outputs)
            assert all(one.get("execution_count") is None for one in cell.outputs)
    kept = json.dumps([[cell.source, cell.get("metadata")] for cell in notebook.cells]) + json.dumps(outputs(notebook))
    assert not re.search(r"/(work|home|root|tmp|usr)/| at 0x[0-9a-f]+", kept)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_pictures_are_small_and_described(path: Path) -> None:
    """Every picture has words for those who cannot see it."""
    pictures = 0
    for cell in nbformat.read(path, as_version=4).cells:
        for one in cell.get("outputs", []):
            if "image/png" in one.get("data", {}):
                pictures += 1
                assert len(base64.b64decode(one.data["image/png"])) < PICTURE
                assert len(cell.metadata.get("alt", "")) > 20
    assert pictures >= 1


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_links_lead_somewhere(path: Path) -> None:
    """Links in the text to pages and to other notebooks."""
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert targets
    assert not [target for target in targets if not (path.parent / target).exists()]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_page_of_the_site_has_everything(path: Path) -> None:
    """Code, prints, tables and pictures of the notebook, in order, and a way to get the notebook."""
    page = load(FOLDER.parent / "theme" / "notebooks.py").markdown(path)
    assert page.startswith("# ")
    assert f'<a href="{path.name}" download>' in page
    place = 0
    for cell in nbformat.read(path, as_version=4).cells[1:]:
        place = page.index(cell.source, place)
    shown = [one for cell in outputs(nbformat.read(path, as_version=4)) for one in cell]
    assert page.count("](data:image/png;base64,") == sum("image/png" in one for one in shown)
    assert page.count("<table>") == sum("<table" in one.get("text/html", "") for one in shown)
    assert page.count("```text\n") == sum("text/html" not in one and "image/png" not in one for one in shown)
    assert "<style" not in page


def test_a_cell_that_fails_is_an_error(tmp_path: Path) -> None:
    """The run stops there: nothing is stored."""
    path = tmp_path / "broken.ipynb"
    cells = [nbformat.v4.new_markdown_cell("# Broken"), nbformat.v4.new_code_cell("1 / 0")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    before = path.read_bytes()
    with pytest.raises(Exception, match="ZeroDivisionError"):
        run.main([str(path.with_suffix(""))])
    assert path.read_bytes() == before
