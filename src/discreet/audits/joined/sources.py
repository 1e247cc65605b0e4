"""From files, releases and frames to publications under common names."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audits.joined.mapping import NameMapping
from discreet.audits.joined.mean_columns import with_mean_columns, with_units
from discreet.audits.joined.other_names import under_common_names
from discreet.audits.joined.percentages import with_percentages
from discreet.audits.joined.publication import Publication, Rounding
from discreet.audits.joined.same_labels import plain_name
from discreet.audits.joined.sheet_releases import sheet_releases
from discreet.base.kinds import told
from discreet.errors import InputError, nearest
from discreet.release import Protected, Release
from discreet.sheets.sources.by_kind import SUFFIXES
from discreet.tables.column_sums import column_doubts
from discreet.tables.flat_parts import is_doubt_of
from discreet.tables.published import knows_some, nested_dimension, of_raw, read_published
from discreet.tables.reading.by_suffix import DELIMITED, raw_table
from discreet.tables.reading.number_cells import PLAIN_SIGNS, NumberSigns
from discreet.tables.reading.raw_table import OtherLayoutError, SeveralColumnsError
from discreet.tables.totals import Totals

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook

UNNAMED = ("column", "row")  # what a dimension is called that a sheet gives no name


def publications(
    released: Any,
    mapping: NameMapping,
    *,
    codebook: Codebook | None = None,
    total: Totals = None,
    rounding: Mapping[str, Rounding] | None = None,
) -> list[Publication]:
    """Tables that are out, each under a name of its own: the file's, the title, or its number.

    ``released``: a list of releases, Protected tables, paths and frames, or a dict of them by name.
    """
    pairs = list(released.items()) if isinstance(released, Mapping) else [("", one) for one in released]
    if not pairs:
        raise InputError("nothing to audit; give a release or a file, or several")
    known_sums = all(isinstance(one, (Release, Protected)) for _, one in pairs)
    if known_sums and (codebook is not None or total is not None):
        raise InputError("codebook and total say how a file is read; a Protected and a Release know their sums")
    tables: dict[str, Release | Protected] = {}
    for name, (_, one) in zip(_names(pairs), pairs, strict=True):
        if isinstance(one, Release) and any(is_doubt_of(text, d.name) for text in one.doubts for d in one.dimensions):
            tables[name] = _with_sums(name, one, mapping)
        elif isinstance(one, (Release, Protected)):
            tables[name] = one
        else:
            tables |= _read(one, codebook, total, mapping, name, mapping.rounding(name) or (rounding or {}).get(name))
    mapping.check_tables(list(tables))
    plain = []
    for name, release in tables.items():
        known = mapping.rounding(name) or (rounding or {}).get(name)
        published = Publication.of(name, release, known)
        in_order = published.release.in_order or mapping.in_order(name)
        plain.append(replace(published, release=replace(published.release, in_order=in_order)))
    check_said(total, codebook, [p.release for p in plain])
    mapping.check_names({p.name: p.release for p in plain})
    said = {*mapping.dimensions, *mapping.dimensions.values(), *mapping.crossing}
    for own in mapping.tables.values():
        said |= {*own.get("dimensions", {}), *own.get("dimensions", {}).values()}
    return under_common_names(_alike(_apart([_composed(mapping.applied(p)) for p in plain])), said)


def read_release(
    path: str | Path,
    codebook: Codebook | None = None,
    total: Totals = None,
    *,
    mapping: NameMapping | None = None,
    name: str = "",
    measures: int | None = None,
    signs: NumberSigns = PLAIN_SIGNS,
    rounding: Rounding | None = None,
) -> Release:
    """A file, with the codebook where it knows one of its dimensions and with what is said of totals it has.

    ``mapping`` says which of its codes are sums of others, where the file does not; ``name`` is what it calls the file.
    """
    own = signs if mapping is None else mapping.signs(name, signs)
    raw = raw_table(Path(path), measures, own)
    if mapping is not None:
        raw = replace(raw, children={**mapping.children(name, raw.names), **raw.children})
    known = codebook if codebook is not None and knows_some(raw, codebook) else None
    said = {name: code for name, code in total.items() if name in raw.names} if isinstance(total, Mapping) else total
    loose = _allowance(rounding, raw.words)
    published = of_raw(raw, known, said or None, zeros_hidden=own.marks.zero_or_less, rounding=loose)
    release = Release.of_file(replace(published, doubts=(*published.doubts, *column_doubts(raw, loose))))
    release = release if mapping is None else with_percentages(name, release, mapping.percent)
    return with_mean_columns(name, release, {} if mapping is None else mapping.units, rounded=loose > 0)


def check_said(total: Totals, codebook: Codebook | None, releases: Sequence[Release]) -> None:
    """Refuse totals and a codebook of dimensions that no table has."""
    held = list(dict.fromkeys(d.name for release in releases for d in release.dimensions))
    for name in total if isinstance(total, Mapping) else ():
        if name not in held:
            raise InputError(f"total: no table has the dimension {name!r}; {nearest(name, held)}")
    known = [] if codebook is None else [d.name for d in codebook.dimensions]
    if known and not {*map(plain_name, known)} & {*map(plain_name, held)}:
        raise InputError(f"no table has a dimension that the codebook knows; {nearest(held[0], known)}")


def of_codebook(
    path: str | Path, codebook: Codebook, total: Totals, measures: int | None, signs: NumberSigns = PLAIN_SIGNS
) -> Release:
    """A file with the codebook of its dimensions, which must know one of them."""
    return Release.of_file(read_published(Path(path), codebook, measures, total, signs=signs))


def read_releases(
    path: str | Path,
    codebook: Codebook | None = None,
    total: Totals = None,
    *,
    mapping: NameMapping,
    name: str,
    measures: int | None = None,
    signs: NumberSigns = PLAIN_SIGNS,
    sheet: Mapping[str, Any] | None = None,
    rounding: Rounding | None = None,
) -> dict[str, Release]:
    """The tables of a file by name: one that discreet wrote, or a list of cells; else every table on its sheets.

    ``sheet``: what is said of a layout of its own (see ``discreet.read_table``); ``rounding``: that of its numbers.
    """
    if not sheet:
        how: Mapping[str, Any] = {"mapping": mapping, "name": name, "measures": measures, "rounding": rounding}
        try:
            return {name: read_release(path, codebook, total, signs=signs, **how)}
        except SeveralColumnsError as question:
            wide = _wide(Path(path), total, mapping.signs(name, signs), rounding, question)
            return _named(name, path, wide, mapping)
        except OtherLayoutError:
            if measures is not None or codebook is not None or Path(path).suffix.lower() not in SUFFIXES:
                raise
    try:
        releases = sheet_releases(Path(path), total, mapping.signs(name, signs), sheet, rounding=rounding)
    except InputError as error:
        if Path(path).suffix.lower() not in DELIMITED:
            raise
        counting = f"discreet tabulate {Path(path).name} --by ..."
        raise InputError(f"{error}; if its lines are records, count them first: {counting}") from None
    return _named(name, path, releases, mapping)


def _named(name: str, path: str | Path, releases: Mapping[str, Release], mapping: NameMapping) -> dict[str, Release]:
    """The tables of a file under the name that it goes by, with what a mapping says of them."""
    named = {name + own.removeprefix(Path(path).name): release for own, release in releases.items()}
    file = name if len(named) > 1 else ""
    return {
        own: replace(with_units(_with_sums(own, release, mapping), mapping.units), file=file)
        for own, release in named.items()
    }


def _with_sums(name: str, release: Release, mapping: NameMapping) -> Release:
    """A table of a sheet with the sums that a mapping says of its codes, where the sheet shows none but the total."""
    below = mapping.children(name, [d.name for d in release.dimensions])
    dims, codes = list(release.dimensions), np.array(release.codes)
    for axis, old in enumerate(release.dimensions):
        flat = not old.groups and old.total is not None and old.name in below
        new = nested_dimension(old.name, old.codes, below[old.name], old.total, old.labels) if flat else None
        if new is not None:
            dims[axis] = new
            codes[:, axis] = np.array([new.position[code] for code in old.codes])[codes[:, axis]]
    doubts = tuple(text for text in release.doubts if not any(is_doubt_of(text, dim) for dim in below))
    return replace(release, dimensions=tuple(dims), codes=codes, doubts=doubts)


def _allowance(rounding: Rounding | None, words: Mapping[str, str]) -> float:
    """How far each number may have been rounded, as it is said or as the file says of its method."""
    known = rounding or Rounding.of_words(words.get("method", ""))
    return 0.0 if known is None else known.allowance


def _wide(
    path: Path, total: Totals, signs: NumberSigns, rounding: Rounding | None, question: InputError
) -> dict[str, Release]:
    """Columns of numbers side by side that add up to one of them; the question is asked where they do not.

    Where labels group one population in several ways there is a table for each. What keeps a cross-table from being
    read is said as well, since the columns may be its own and not measures.
    """
    try:
        releases = sheet_releases(path, total, signs, rounding=rounding)
    except InputError as error:
        raise InputError(f"{question}; if they are the columns of one cross-table: {error}") from None
    if any(release.dimensions[-1].total is None for release in releases.values()):
        raise question from None
    return releases


def _read(
    one: Any,
    codebook: Codebook | None,
    total: Totals,
    mapping: NameMapping,
    name: str,
    rounding: Rounding | None,
) -> dict[str, Release]:
    if isinstance(one, (str, Path)):
        return read_releases(one, codebook, total, mapping=mapping, name=name, rounding=rounding)
    if hasattr(one, "columns"):
        return {name: Release.of_frame(one, codebook=codebook, total=total)}
    raise InputError(
        f"{told('a table to audit', one)}: give a Release, a Protected, a path or a frame; protect a Table first: "
        "protect(table, method)"
    )


def names_of_files(files: Sequence[str | Path]) -> list[str]:
    """Files by their last names; those of which there are several by their paths.

    >>> names_of_files(["x/a.csv", "y/a.csv", "y/b.csv"])
    ['x/a.csv', 'y/a.csv', 'b.csv']
    """
    short = [Path(file).name for file in files]
    names = [last if short.count(last) == 1 else str(file) for file, last in zip(files, short, strict=True)]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"{twice[0]!r} is given twice; give each file once")
    return names


def _names(pairs: Sequence[tuple[str, Any]]) -> list[str]:
    """A name for every table, none twice."""
    names: list[str] = []
    files = iter(names_of_files([one for _, one in pairs if isinstance(one, (str, Path))]))
    for k, (name, one) in enumerate(pairs, 1):
        if isinstance(one, (str, Path)):
            name = name or next(files)
        elif not name:
            title = one.title if isinstance(one, Release) else one.table.title if isinstance(one, Protected) else ""
            name = title or f"table {k}"
        number = sum(other == name or other.startswith(f"{name} (") for other in names)
        names.append(f"{name} ({number + 1})" if number else name)
    return names


def _apart(each: Sequence[Publication]) -> list[Publication]:
    """Dimensions without a name of their own (a sheet's "column") under different names where no code is in two."""
    renamed = list(each)
    for name in UNNAMED:
        held = [(k, d) for k, p in enumerate(each) for d in p.release.dimensions if d.name == name]
        for k, d in held[1:]:
            if not any({*d.leaves} & {*other.leaves} for j, other in held if j != k):
                renamed[k] = renamed[k].renamed({name: f"{name} of {renamed[k].name}"}, {})
    return renamed


def _composed(publication: Publication) -> Publication:
    """A publication whose codes have their letters composed (NFC), as one file may write an accent as another sign."""
    codes: dict[str, dict[str, str]] = {}
    for dimension in publication.release.dimensions:
        composed = {code: unicodedata.normalize("NFC", code) for code in dimension.codes}
        if len({*composed.values()}) == len(composed):
            codes[dimension.name] = {code: text for code, text in composed.items() if code != text}
    return publication.renamed({}, codes) if any(codes.values()) else publication


def _alike(each: Sequence[Publication]) -> list[Publication]:
    """Dimensions whose names differ by case and signs alone, as formats change them, under the first such name."""
    first: dict[str, str] = {}
    for p in each:
        for name in (*(d.name for d in p.release.dimensions), *p.fixed):
            first.setdefault(plain_name(name), name)
    renamed = []
    for p in each:
        own = {d.name: first[plain_name(d.name)] for d in p.release.dimensions}
        fixed = {first[plain_name(name)]: code for name, code in p.fixed.items()}
        apart = len(set(own.values())) == len(own)
        renamed.append(replace(p.renamed(own, {}), fixed=fixed) if apart else p)
    return renamed
