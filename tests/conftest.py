"""One way of running for everybody: no time limits on single examples, the same examples in every CI run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from discreet import methods
from tests import engine_kinds
from tests.database import database

collect_ignore = ["bare"]  # what stands there takes signals and fork away from whoever imports it

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# without the second line it looks for its maker's servers at every start
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip

settings.register_profile(
    "discreet", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("discreet")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a module sets up for all its tests, a server or a site, is set up once: by one worker."""
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
        if any(one[-1].scope == "module" for one in fixtures) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """In a process in which Spark has run, its open sockets are no mistake of the test that happens to run."""
    if "pyspark" in sys.modules:
        item.add_marker(engine_kinds.LEFT_OPEN)
    return (yield)


@pytest.fixture(autouse=True)
def _methods_of_one_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that a test or a page registers is forgotten behind it."""
    monkeypatch.setattr(methods, "_registered", dict(methods._registered))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL of our own."""
    with database() as made:
        yield made.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium")
    assert found, "these tests need a browser: apt-get install chromium"
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield made
        made.close()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on a cluster of two workers. Where all is tested (CI is set), a machine without Java is a failure."""
    if shutil.which("java") is None and not os.environ.get("CI"):
        pytest.skip("Apache Spark needs Java: apt-get install default-jre-headless")
    with engine_kinds.spark() as session:
        yield session


@pytest.fixture(scope="session", params=engine_kinds.KINDS)
def make(request: pytest.FixtureRequest) -> engine_kinds.Make:
    """What makes an engine from records."""
    place = {"ibis on postgresql": "postgresql", "ibis on spark": "spark"}.get(request.param)
    return engine_kinds.Make(request.param, None if place is None else request.getfixturevalue(place))
