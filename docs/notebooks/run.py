"""Run the notebooks anew and store what they show: ``python docs/notebooks/run.py [name ...]``.

Only text, tables and pictures are stored: no times, no paths, no numbers of runs. ``tests/test_notebooks.py`` holds
what is stored to a fresh run.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

HERE = Path(__file__).parent
KINDS = ("text/plain", "text/html", "image/png")
INLINE = "module://matplotlib_inline.backend_inline"  # figures become pictures below their cell
COMPILING = "discreet: compiling for this processor"  # said or not, as others have run before
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(path: Path, folder: Path, *, timeout: int = 300) -> Any:
    """The notebook after a run by a fresh kernel that works in ``folder``; a cell that fails is an error.

    Kernel and client talk over sockets in a folder that nobody else can read, and no profile of the user is read.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="nb-") as private:  # a short name: sockets allow some hundred characters
        kernel = {"transport": "ipc", "connection_file": f"{private}/kernel.json"}
        client = NotebookClient(
            notebook,
            timeout=timeout,
            coalesce_streams=True,  # how prints are cut up depends on the time
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            config=Config({"AsyncKernelManager": kernel}),
        )
        client.execute(env={**os.environ, "IPYTHONDIR": private, "MPLBACKEND": INLINE})
    return stripped(notebook)


def stripped(notebook: Any) -> Any:
    """What of a notebook is kept."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({k: v for k, v in cell.metadata.items() if k == "alt"})
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_output(one) for one in cell.outputs if not _of_compiling(one)]
    return notebook


def _of_compiling(one: Any) -> bool:
    stream = one.output_type == "stream" and one.name == "stderr"
    return stream and all(line.startswith(COMPILING) for line in one.text.splitlines())


def _output(one: Any) -> Any:
    if one.output_type == "stream":
        return nbformat.v4.new_output("stream", name=one.name, text=one.text)
    data = {kind: one.data[kind] for kind in KINDS if kind in one.data}
    if "image/png" in data:
        del data["text/plain"]  # the repr of a figure
    if one.output_type == "execute_result":
        return nbformat.v4.new_output("execute_result", data=data)
    return nbformat.v4.new_output("display_data", data=data)


def main(names: list[str]) -> None:
    """Each named notebook, or all of them."""
    for path in [HERE / f"{name}.ipynb" for name in names] or sorted(HERE.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)


if __name__ == "__main__":
    main(sys.argv[1:])
