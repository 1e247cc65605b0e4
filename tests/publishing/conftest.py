"""Persons and their codebook in a folder."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.persons import microdata, persons


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records and their codebook."""
    monkeypatch.chdir(tmp_path)
    records = persons(300)
    pq.write_table(records, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(microdata(records).codebook.to_toml())
    return tmp_path
