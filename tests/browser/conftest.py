"""A server and a visitor for the tests of the pages. Screenshots go to the folder that DISCREET_SCREENSHOTS names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from discreet.server import auth
from discreet.server.counting import cube
from discreet.server.record.store import Store
from tests import servers
from tests.browser import villages
from tests.browser.looking import PASSWORD

QUERY = "[table]\nmin_population = 100\nmax_small_share = 0.9"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own process, with a methodologist."""
    folder = tmp_path_factory.mktemp("browser")
    store = Store(f"sqlite:///{folder}/discreet.db")
    auth.new_user(store, "ada", "methodologist", PASSWORD)
    store.close()
    with servers.running(folder, servers.policy_text(query=QUERY, guard="warn")) as found:
        yield found


@pytest.fixture(scope="module")
def villages_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of data with a variable of 600 categories on three levels, of which several can be picked."""
    folder = tmp_path_factory.mktemp("villages")
    cube.build(villages.records(), folder / "cube")
    with servers.running(folder, villages.POLICY, data=folder / "cube") as found:
        yield found


def is_fault(line: ConsoleMessage) -> bool:
    """Whether the console tells of something wrong: not that a page was refused, which the browser notes by itself."""
    return line.type in ("error", "warning") and not re.search("status of (401|403|404|413|422)", line.text)


@contextmanager
def visiting(browser: Browser, address: str, **more: Any) -> Iterator[Page]:
    """A fresh visitor, who is told of every error in the console and every request to elsewhere."""
    screen: dict[str, Any] = {"viewport": {"width": 1200, "height": 900}, "base_url": address, **more}
    context = browser.new_context(**screen)
    faults: list[str] = []
    made = context.new_page()
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda line: faults.append(line.text) if is_fault(line) else None)
    made.on("request", lambda one: faults.append(one.url) if not one.url.startswith((address, "data:")) else None)
    yield made
    context.close()
    assert not faults


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A visitor of the census."""
    with visiting(browser, address) as made:
        yield made


@pytest.fixture
def villages_page(browser: Browser, villages_address: str) -> Iterator[Page]:
    """A visitor of the data with many categories."""
    with visiting(browser, villages_address) as made:
        yield made


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept."""
    folder = Path(os.environ.get("DISCREET_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
