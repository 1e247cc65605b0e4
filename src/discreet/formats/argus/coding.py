"""What an ``.rda`` says of the codes of a table that is read from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from discreet.base.arguments import checked
from discreet.data.codebook import Codebook
from discreet.errors import InputError, nearest
from discreet.formats.argus.description import read_description
from discreet.formats.argus.fields import dimension


@checked
def read_codebook(description: str | Path, held: Mapping[str, Sequence[str]]) -> Codebook | None:
    r"""The hierarchies and code lists of an ``.rda`` for a table whose dimensions hold the codes of ``held``.

    None if it says nothing of their codes: they are then those that the table holds.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "area.hrc").write_text("North\n@N1\n@N2\nSouth\n")
    ...     about = 'Area 1 5\n<RECODEABLE>\n<HIERARCHICAL>\n<HIERCODELIST> "area.hrc"\n<HIERLEADSTRING> "@"\n'
    ...     size = Path(folder, "people.rda").write_text(about)
    ...     book = read_codebook(f"{folder}/people.rda", {"Area": ["N1", "N2", "South"]})
    >>> book.dimension("Area").codes
    ('Total', 'North', 'N1', 'N2', 'South')
    """
    import pyarrow as pa

    try:
        about = read_description(description)
    except InputError:  # that of a table has no widths; what both lack is said of it
        about = read_description(description, table=True)
    categories = about.of_kind("category")
    named = [v for v in categories if v.name in held]
    if not named:
        known = nearest(next(iter(held), ""), [v.name for v in categories])
        raise InputError(f"{about.path.name}: no <RECODEABLE> variable is a dimension of the table; {known}")
    cells = replace(about, table=True)  # groups and totals stand among the codes
    dims = [dimension(cells, v, pa.array(list(held[v.name]), pa.string())) for v in named if not v.from_data]
    return Codebook(dimensions=tuple(dims)) if dims else None
