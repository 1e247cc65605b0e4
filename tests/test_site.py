"""The documentation as a site: built without a warning, whole, and at rest without a network.

Screenshots go to the folder that DISCREET_SCREENSHOTS names, else to a temporary one.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from PIL import Image
from playwright.sync_api import Browser, Page, expect

import discreet
from discreet.methods import HOMES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
LOOKED_AT = ["index.html", "tutorials/notebook.html", "how-to/choose-a-method.html", "methods/cell-key.html",
             "risk.html", "coming-from/gausssuppression.html", "api/rules.html", "glossary.html",
             "benchmarks.html", "notebooks/business.html", "gallery.html", "faq.html"]  # fmt: skip
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data"),
          ("video", "src"), ("audio", "src"), ("embed", "src"), ("img", "srcset"), ("use", "href")}  # fmt: skip


@dataclass
class Read(HTMLParser):
    """What a page has: the names of its places, its links, what it loads, and how many equations."""

    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    equations: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")
            if tag == "a" and name == "href":
                self.links.append(value or "")
            if (tag, name) in LOADED and not (tag == "link" and ("rel", "canonical") in attrs):
                self.loads.append(value or "")
        self.equations += tag == "math"


def read(page: Path) -> Read:
    made = Read()
    made.feed(page.read_text(encoding="utf-8"))
    return made


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make site` does, elsewhere."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "WARNING" not in said, said
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Read]:
    """Every page but the one for addresses that do not exist, which has absolute links."""
    return {page: read(page) for page in sorted(site.rglob("*.html")) if page.name != "404.html"}


def test_a_renamed_page_leads_to_the_new_one(site: Path, pages: dict[Path, Read]) -> None:
    """By itself, and by a link."""
    old = site / "how-to" / "audit-what-is-out.html"
    assert pages[old].links == ["audit-published-tables.html"]
    assert 'content="0; url=audit-published-tables.html"' in old.read_text(encoding="utf-8")


def test_a_new_user_finds_the_way() -> None:
    """Install, a spreadsheet as the first tutorial, questions, troubleshooting, roadmap and changelog are named."""
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("!!python/name:", ""))["nav"]
    parts = {name: content for one in navigation for name, content in one.items()}
    assert list(parts)[:3] == ["Home", "Install", "Tutorials"]
    assert parts["Install"] == "install.md"
    assert parts["Tutorials"][:2] == ["tutorials/index.md", "tutorials/spreadsheet.md"]
    help_pages = [path for one in parts["Help"] for path in one.values()]
    assert help_pages == ["faq.md", "troubleshooting.md", "roadmap.md", "changelog.md"]


def test_every_page_of_the_folder_is_in_the_navigation() -> None:
    """No page is forgotten, and none is named that is not there."""

    def named(part: Any) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        else:
            for inner in part.values() if isinstance(part, dict) else part:
                yield from named(inner)

    found = list(named(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert len(found) == len(set(found))
    assert set(found) == {str(p.relative_to(DOCS)) for kind in ("*.md", "*.ipynb") for p in DOCS.rglob(kind)}


def test_every_link_leads_to_a_place(site: Path, pages: dict[Path, Read]) -> None:
    """Links between pages, with the places behind #, and everything that a page loads."""
    lost = []
    for page, has in pages.items():
        for link in has.links + has.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if target.is_dir():
                target /= "index.html"
            known = pages[target].places if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in {"", *known}):
                lost.append(f"{page.relative_to(site)}: {link}")
    assert not lost


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Read]) -> None:
    """Scripts, styles, fonts, pictures: all of the site itself."""
    for page, has in pages.items():
        assert not [one for one in has.loads if urlsplit(one).netloc], page
    for style in site.rglob("*.css"):
        addresses = re.findall(r"url\(\s*['\"]?(https?:|//)[^)]*\)|@import\s+['\"]?(https?:|//)", style.read_text())
        assert not addresses, style


def test_the_index_of_the_search_is_there(site: Path) -> None:
    """As a script too, because a page opened from a disk may not fetch."""
    assert (site / "search" / "search_index.json").stat().st_size > 100_000
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")


def test_equations_are_markup(site: Path, pages: dict[Path, Read]) -> None:
    """Every equation of the sources is MathML in the page, so that no script is needed to draw it."""
    assert sum(has.equations for has in pages.values()) > 60
    for source in DOCS.rglob("*.md"):
        prose = re.sub(r"^```.*?^```", "", source.read_text(), flags=re.M | re.S)
        page = site / source.relative_to(DOCS).with_suffix(".html")
        assert pages[page].equations >= prose.count("$$") // 2, source
        assert "arithmatex" not in page.read_text(encoding="utf-8"), source


def test_no_sign_of_an_equation_is_left(site: Path, pages: dict[Path, Read]) -> None:
    """A dollar outside code is one of an equation that the Markdown did not understand, as a block within a list."""
    for path in pages:
        article = re.search(r"<article.*?</article>", path.read_text(encoding="utf-8"), re.S)
        prose = re.sub(
            r"<(pre|code|script|style|math)\b.*?</\1>|<[^>]+>", " ", article[0] if article else "", flags=re.S
        )
        assert "$" not in prose, path.name


def test_every_public_name_is_in_the_reference(pages: dict[Path, Read]) -> None:
    """What can be imported from the package and from its public modules."""
    places = set().union(*(has.places for page, has in pages.items() if page.parent.name == "api"))
    wanted = {f"discreet.{n}" for n in discreet.__all__ if not isinstance(getattr(discreet, n), ModuleType)}
    for module in ("audits", "risk", "population", "policy", "publishing", "server"):
        names = importlib.import_module(f"discreet.{module}").__all__
        known = [n for n in names if n not in discreet.__all__ and not n.isupper() and not n.endswith("_WEIGHTS")]
        wanted |= {f"discreet.{module}.{n}" for n in known}
    assert not sorted(wanted - places)


def test_every_method_has_a_page_with_equation_picture_and_limits() -> None:
    """One page a method; both ways to suppress with few cells share theirs."""
    named = {"suppress": "suppress.md", "optimal": "optimal.md", "modular": "optimal.md"}
    for name in HOMES:
        if name == "publish":  # does nothing
            continue
        text = (DOCS / named.get(name, f"methods/{name}.md")).read_text()
        assert "$$" in text, name
        assert re.search(r"!\[.+\]\(.*pictures/.+\)", text), name
        assert re.search(r"^## .*[Ll]imits", text, re.M), name


EARLY = re.compile(r"Invalid query: |/workers/search\.")
"""What the search says of a letter that is typed before its index is loaded; the letters after it are answered."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A reader without a network, who is told of every fault and every request to elsewhere."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    made, faults = context.new_page(), []
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda line: faults.append(line.text) if line.type in ("error", "warning") else None)
    made.on("request", lambda one: faults.append(one.url) if not one.url.startswith(("file:", "data:")) else None)
    made.on("requestfailed", lambda one: faults.append(f"failed: {one.url}"))
    yield made
    context.close()
    assert not [fault for fault in faults if not EARLY.search(fault)]


def test_pages_from_a_disk_are_whole_and_quiet(site: Path, page: Page, tmp_path: Path) -> None:
    """No fault, no request to elsewhere, pictures and equations drawn, nothing wider than the window."""
    folder = Path(os.environ.get("DISCREET_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    for name in LOOKED_AT:
        page.goto((site / name).as_uri())
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)"), name
        sizes = page.evaluate("[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().width)")
        assert all(width > 3 for width in sizes), name
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (name, width)
        page.set_viewport_size({"width": 1280, "height": 900})
        picture = page.screenshot(path=folder / f"site-{name.replace('/', '-')}.png")
        drawn = Image.open(io.BytesIO(picture)).convert("L")
        assert drawn.size == (1280, 900)
        assert len(drawn.getcolors(256) or range(256)) > 50, f"{name} is nearly blank"


def test_pages_are_accessible(site: Path, page: Page) -> None:
    """No serious or critical violation that axe-core knows of."""
    for name in (
        "index.html",
        "methods/cell-key.html",
        "coming-from/tau-argus.html",
        "api/rules.html",
        "notebooks/sample.html",
    ):
        page.goto((site / name).as_uri())
        page.add_style_tag(content="* { transition: none !important; animation: none !important }")
        page.evaluate(f"() => {{ {AXE} }}")
        found = page.evaluate("() => axe.run({ preload: false })")
        bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
        assert not bad, [(name, v["id"], [n["html"] for n in v["nodes"]][:3]) for v in bad]


def test_the_search_works_from_a_disk(site: Path, page: Page) -> None:
    """Typing a word finds pages, and the first leads there."""
    page.goto((site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").click()
    page.keyboard.type("controlled rounding")
    first = page.locator(".md-search-result__link").first
    expect(first).to_be_visible()
    expect(first).to_contain_text(re.compile("rounding", re.I))
    first.click()
    expect(page.locator("article h1")).to_contain_text(re.compile("round", re.I))


def test_the_reader_can_choose_the_dark(site: Path, browser: Browser) -> None:
    """The page follows what the reader's system prefers."""
    context = browser.new_context(color_scheme="dark", offline=True)
    shown = context.new_page()
    shown.goto((site / "index.html").as_uri())
    colour = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    context.close()
    assert sum(int(n) for n in re.findall(r"\d+", colour)[:3]) < 3 * 80


def test_docstrings_become_markdown() -> None:
    """Equations, roles, papers and examples, whatever stands around them."""
    spec = importlib.util.spec_from_file_location("discreet_docstrings", DOCS / "theme" / "docstrings.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    text = "One of [Ant16]_.\n\n.. math:: a = b\n\nSee :func:`r1`, :math:`x_1`.\n\n>>> print(1)\n1\n\nEnd."
    found = made.to_markdown(text)
    assert found == (
        "One of [Ant16][ant16].\n\n$$\na = b\n$$\n\n\nSee `r1`, $x_1$.\n\n```pycon\n>>> print(1)\n1\n```\n\nEnd."
    )
    several = made.to_markdown(".. math::\n\n   a = b \\\\\n   c = d\n\nEnd.")
    assert several == "$$\na = b \\\\\nc = d\n$$\n\n\nEnd."
