"""Folders of machine code: private ones only, and one is found without a home and beside a read-only install."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from discreet.base.cache_folder import cache_folders, only_ours


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source file in a folder of its own, a home, and a folder for temporary files."""
    for name in ("package", "home", "temporary"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    file = tmp_path / "package" / "loop.py"
    file.write_text("")
    return file


def unwritable(folder: Path) -> None:
    """Let nobody make a folder of this name, the administrator neither: there is a file."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("")


def test_the_first_place_is_beside_the_source(source: Path) -> None:
    """As for byte code; nothing is made for a look alone."""
    assert cache_folders(source) == []
    (folder,) = cache_folders(source, create=True)
    assert folder.path == source.parent / "__pycache__"
    assert folder.writable


def test_a_read_only_install_keeps_code_in_the_users_folder(source: Path, tmp_path: Path) -> None:
    """The user's folder for caches, made for him alone."""
    unwritable(source.parent / "__pycache__")
    (folder,) = cache_folders(source, create=True)
    assert folder.path == tmp_path / "home" / ".cache" / "discreet"
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_without_a_home_it_is_a_private_temporary_folder(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No HOME, and no home by the list of users either."""
    unwritable(source.parent / "__pycache__")
    unwritable(tmp_path / "nowhere")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "nowhere")
    (folder,) = cache_folders(source, create=True)
    assert folder.path == tmp_path / "temporary" / f"discreet-{os.getuid()}"
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700

    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folders(source, create=True) == [folder]


def test_what_comes_with_the_install_is_read_and_more_is_kept_elsewhere(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image is warmed up by the administrator; whoever runs it later cannot write there."""
    installed = source.parent / "__pycache__"
    installed.mkdir(mode=0o755)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != installed and access(path, mode))
    first, second = cache_folders(source, create=True)
    assert (first.path, first.writable) == (installed, False)
    assert (second.path, second.writable) == (tmp_path / "home" / ".cache" / "discreet", True)


def test_a_folder_that_others_can_write_to_is_not_used(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in it would be run; neither beside the source nor where NUMBA_CACHE_DIR says, nor through a link."""
    for mode in (0o777, 0o775, 0o1777):
        open_to_all = source.parent / "__pycache__"
        open_to_all.mkdir(exist_ok=True)
        open_to_all.chmod(mode)
        assert open_to_all not in [folder.path for folder in cache_folders(source, create=True)]
        link = source.parent / f"link{mode:o}"
        link.symlink_to(open_to_all)
        for name in (open_to_all, link):
            monkeypatch.setenv("NUMBA_CACHE_DIR", str(name))
            assert cache_folders(source, create=True) == []
        monkeypatch.delenv("NUMBA_CACHE_DIR")


def test_a_folder_that_others_can_replace_is_not_used(source: Path) -> None:
    """It stands in a folder where anybody can rename anything; the sticky bit forbids that."""
    folder = source.parent / "__pycache__"
    folder.mkdir(mode=0o700)
    source.parent.chmod(0o777)
    assert not only_ours(folder, source)
    source.parent.chmod(0o1777)
    assert only_ours(folder, source)


def test_a_folder_of_somebody_else_is_not_used(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Private, but another's: neither ours, nor the administrator's, nor the owner's of the source."""
    folder = source.parent / "__pycache__"
    folder.mkdir(mode=0o700)
    us = os.geteuid()
    assert only_ours(folder, source)
    if us == 0:
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: us + 1)
        source = source.parent / "elsewhere.py"
    assert not only_ours(folder, source)


def test_only_the_stated_folder_counts(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NUMBA_CACHE_DIR is made if it is not there; where it cannot be, nothing is kept."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "stated" / "deep"))
    (folder,) = cache_folders(source, create=True)
    assert folder.path == tmp_path / "stated" / "deep"
    unwritable(tmp_path / "file")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "in"))
    assert cache_folders(source, create=True) == []
