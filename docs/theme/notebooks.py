"""Notebooks become pages while the site is built: text as it is, code as blocks, tables, prints and pictures below.

Nothing is run here. What a page shows is what the notebook holds, and the tests hold that to a fresh run.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File, Files

SUFFIX = ".ipynb"
STYLE = re.compile(r"<style.*?</style>\s*", re.S)
LOOKS = re.compile(r' (?:border|class|style)="[^"]*"')  # the theme has its own


class Notebook(File):
    """A file that the site treats as a page, so that links to it work in both."""

    def is_documentation_page(self) -> bool:
        return True


def on_files(files: Files, config: Any) -> Files:
    """Every notebook is a page."""
    for one in [f for f in files if f.src_uri.endswith(SUFFIX)]:
        files.remove(one)
        files.append(Notebook(one.src_uri, config.docs_dir, config.site_dir, config.use_directory_urls))
    return files


def on_page_read_source(page: Any, config: Any) -> str | None:
    """The Markdown of a notebook; other pages are read as ever."""
    path = Path(page.file.abs_src_path)
    return markdown(path) if path.suffix == SUFFIX else None


def on_post_build(config: Any) -> None:
    """The notebooks themselves lie beside their pages, for whoever wants to run them."""
    for path in sorted(Path(config.docs_dir).rglob(f"[!.]*{SUFFIX}")):
        place = Path(config.site_dir) / path.relative_to(config.docs_dir)
        if place.with_suffix(".html").is_file():
            shutil.copyfile(path, place)


def markdown(path: Path) -> str:
    """A whole notebook; below its title stands where to get it."""
    cells = nbformat.read(path, as_version=4).cells
    get = f'<a href="{path.name}" download>Download this page as a notebook</a>'
    title, _, rest = cells[0].source.partition("\n")
    return "\n\n".join([title, get, rest.strip(), *(part for cell in cells[1:] for part in parts(cell))]) + "\n"


def parts(cell: Any) -> list[str]:
    """A cell's text, or its code and what came of it."""
    if cell.cell_type != "code":
        return [cell.source]
    alt = cell.metadata.get("alt", "")
    return [f"```python\n{cell.source}\n```", *(shown(output, alt) for output in cell.outputs)]


def shown(output: Any, alt: str) -> str:
    """One output: a picture, a table, or plain text."""
    found = {"text/plain": output.text} if output.output_type == "stream" else output.data
    if "image/png" in found:
        return f"![{alt}](data:image/png;base64,{''.join(found['image/png'].split())})"
    if "text/html" in found:
        table = LOOKS.sub("", STYLE.sub("", found["text/html"]))
        return "\n".join(line for line in table.splitlines() if line.strip())
    return f"```text\n{found['text/plain'].rstrip()}\n```"
