"""Records, never copied and never shown: a source, its codebook, and what makes record keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.base.arguments import checked
from discreet.base.kinds import told
from discreet.data.codebook import Codebook, Magnitude, read_codebook
from discreet.data.dimension import Dimension
from discreet.engines.frames import declared_codes
from discreet.engines.ibis.source import elsewhere
from discreet.engines.protocol import SECRET_BYTES, CountedGroups, Engine, Grouping, Hmac, Key
from discreet.engines.remote import fetched, is_remote
from discreet.errors import InputError, headings, listed, nearest

ENGINES = ("duckdb", "ibis")


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """Records with a codebook. Make one with ``Microdata.of`` or ``Microdata.read``.

    A record's key is the codebook's key column, else the first 64 bits of HMAC-SHA256(secret, unit id).

    >>> import pandas as pd
    >>> Microdata.of(pd.DataFrame({"area": ["N", "S", "S"], "sex": ["f", "m", "f"]}), dimensions=["area", "sex"])
    Microdata(DuckDB(the data frame: 2 columns), dimensions 'area', 'sex')
    """

    engine: Engine
    codebook: Codebook
    secret: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        dimensions: Iterable[Dimension | str],
        unit: str | None = None,
        holding: str | None = None,
        weight: str | None = None,
        key: str | None = None,
        magnitudes: Iterable[Magnitude | str] = (),
        secret: bytes | str | None = None,
        missing: str | Mapping[str, str] | None = None,
        columns: Mapping[str, str] | None = None,
        table: str | None = None,
        memory: str | None = None,
        engine: str | None = None,
    ) -> Microdata:
        """From a data frame or a file (see ``DuckDB.of``), or from a table in another place (see ``Ibis.of``).

        A dimension given by name is flat and gets the categories its column declares (pandas Categorical, polars Enum,
        Arrow dictionary), else the codes that it holds: a category that happens to be empty is then unknown, so prefer
        a Dimension or a codebook. ``missing`` gives missing values a category, in every
        dimension or in those named; otherwise they are refused. ``columns`` maps dimensions to columns of other names.
        ``memory`` is what grouping the records may use, "1.5GB" unless another amount is given. ``engine`` is "duckdb"
        (in this process) or "ibis" (where the records are); the source says which, unless it is named.

        >>> import pandas as pd
        >>> people = pd.DataFrame({"region": ["N", "S", None], "sex": ["f", "m", "f"]})
        >>> named = {"dimensions": ["area", "sex"], "columns": {"area": "region"}}
        >>> data = Microdata.of(people, **named, missing={"area": "unknown"})
        >>> data.n, data.dimension("area").codes
        (3, ('Total', 'N', 'S', 'unknown'))
        """
        counting = _engine(source, table, memory, engine)
        columns = dict(columns or {})

        def held(name: str) -> tuple[str, ...]:
            return _categories(source, counting, name, columns.get(name, name), missing)

        dims = tuple(d if isinstance(d, Dimension) else _dimension_of(d, held(d)) for d in dimensions)
        category = {d.name: missing for d in dims} if isinstance(missing, str) else dict(missing or {})
        codebook = Codebook(
            dimensions=dims,
            columns=columns,
            missing=category,
            unit=unit,
            holding=holding,
            weight=weight,
            key=key,
            magnitudes=tuple(m if isinstance(m, Magnitude) else Magnitude(m) for m in magnitudes),
        )
        return cls(counting, codebook, _secret(secret))

    @classmethod
    def read(
        cls,
        source: Any,
        codebook: str | Path | Codebook,
        *,
        secret: bytes | str | None = None,
        missing: str | Mapping[str, str] | None = None,
        table: str | None = None,
        memory: str | None = None,
        engine: str | None = None,
    ) -> Microdata:
        """From a source and its codebook (a TOML file or a Codebook); ``missing`` as in ``of``, over the codebook's.

        >>> import pandas as pd
        >>> book = Codebook(dimensions=(Dimension.flat("area", ["N", "S", "W"]),), unit="person")
        >>> Microdata.read(pd.DataFrame({"person": [1, 2], "area": ["N", "S"]}), book).dimension("area").leaves
        ('N', 'S', 'W')
        """
        book = codebook if isinstance(codebook, Codebook) else read_codebook(codebook)
        if missing is not None:
            category = {d.name: missing for d in book.dimensions} if isinstance(missing, str) else missing
            book = replace(book, missing={**book.missing, **category})
        return cls(_engine(source, table, memory, engine), book, _secret(secret))

    def __post_init__(self) -> None:
        if not isinstance(self.engine, Engine):
            raise InputError(f"{told('engine', self.engine)}: give an engine; Microdata.of and .read make one of data")
        book = self.codebook
        if self.secret is not None and book.unit is None:
            raise InputError("a secret makes record keys from unit ids: name the unit column (unit=)")
        if self.secret is not None and book.key is not None:
            raise InputError("give either a record key column (key=) or a secret, not both")
        known = self.engine.columns()
        named = {
            **{f"dimension {name!r}": column for name, column in book.columns.items()},
            **{f"magnitude {m.name!r}": m.column for m in book.magnitudes},
            **{what: getattr(book, what) for what in ("unit", "holding", "weight", "key") if getattr(book, what)},
        }
        faults = [
            f"column {column!r} ({what}) is not in the data; {headings(known, column)}"
            for what, column in named.items()
            if column not in known
        ]
        if faults:
            raise InputError("; ".join(faults))

    def __repr__(self) -> str:
        return f"Microdata({self.engine!r}, dimensions {listed(d.name for d in self.dimensions)})"

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """All dimensions, in the codebook's order."""
        return self.codebook.dimensions

    def dimension(self, name: str) -> Dimension:
        """The dimension of that name.

        >>> import pandas as pd
        >>> data = Microdata.of(pd.DataFrame({"area": ["N", "S", "S"]}), dimensions=["area"])
        >>> data.dimension("area")
        Dimension('area': 2 leaves, 3 codes, total 'Total')
        """
        return self.codebook.dimension(name)

    @property
    def n(self) -> int:
        """How many records there are."""
        return self.engine.rows()

    def check(self) -> None:
        """Refuse records without a unit id and units that occur more than once.

        >>> import pandas as pd
        >>> twice = pd.DataFrame({"person": [1, 2, 2], "area": ["N", "S", "S"]})
        >>> Microdata.of(twice, dimensions=["area"], unit="person").check()
        Traceback (most recent call last):
        ...
        discreet.errors.InputError: unit column 'person': 1 unit occurs more than once; keep one record per unit
        """
        if self._unit_faults:
            raise InputError("; ".join(self._unit_faults))

    @cached_property
    def _unit_faults(self) -> list[str]:
        unit = self.codebook.unit
        if unit is None:
            return []
        repeated, missing = self.engine.duplicates(unit)
        faults = []
        if repeated:
            verb = "unit occurs" if repeated == 1 else "units occur"
            faults.append(f"unit column {unit!r}: {repeated} {verb} more than once; keep one record per unit")
        if missing:
            verb = "record has" if missing == 1 else "records have"
            faults.append(f"unit column {unit!r}: {missing} {verb} no unit id; correct the data")
        return faults

    def key(self, name: str) -> Key:
        """A dimension as an engine sees it.

        >>> import pandas as pd
        >>> data = Microdata.of(pd.DataFrame({"region": ["N", "S"]}), dimensions=["area"], columns={"area": "region"})
        >>> data.key("area").column, data.key("area").codes
        ('region', ('N', 'S'))
        """
        dimension = self.dimension(name)
        return Key(
            name=name,
            column=self.codebook.columns[name],
            codes=dimension.leaves,
            missing=self.codebook.missing.get(name),
        )

    def base_cells(
        self,
        by: Sequence[str],
        *,
        value: str | None = None,
        top: int = 0,
        where: Mapping[str, str | Sequence[str]] | None = None,
    ) -> CountedGroups:
        """The non-empty inner cells of a cross-classification.

        ``value`` names a magnitude, ``top`` is how many of its largest contributions to keep per cell, ``where`` keeps
        the records of a population: {dimension: code or codes}, where a group stands for its finest codes.

        >>> import pandas as pd
        >>> people = pd.DataFrame({"area": ["N", "S", "S"], "sex": ["f", "m", "m"]})
        >>> data = Microdata.of(people, dimensions=["area", "sex"])
        >>> cells = data.base_cells(["area", "sex"])
        >>> cells.codes.tolist(), cells.count.tolist()
        ([[0, 0], [1, 1]], [1, 2])
        """
        by = [by] if isinstance(by, str) else list(by)
        if repeated := [name for name in dict.fromkeys(by) if by.count(name) > 1]:
            raise InputError(f"dimension {listed(repeated)} is named more than once")
        magnitude = None if value is None else self.codebook.magnitude(value)
        grouping = Grouping(
            keys=tuple(self.key(name) for name in by),
            magnitude=None if magnitude is None else magnitude.column,
            decimals=None if magnitude is None else magnitude.decimals,
            weight=self.codebook.weight,
            record_key=self._record_key,
            contributor=self.codebook.holding,
            top=top,
            where=tuple((self.key(name), self.finest(name, codes)) for name, codes in (where or {}).items()),
        )
        self.check()
        return self.engine.base_cells(grouping)

    @property
    def _record_key(self) -> str | Hmac | None:
        if self.secret is None or self.codebook.unit is None:
            return self.codebook.key
        return Hmac(unit=self.codebook.unit, secret=self.secret)

    def finest(self, name: str, codes: str | Sequence[str]) -> tuple[str, ...]:
        """The finest codes that some codes of a dimension stand for, as a filter.

        >>> import pandas as pd
        >>> area = Dimension.from_prefix("area", ["N1", "N2", "S1"], [1])
        >>> Microdata.of(pd.DataFrame({"area": ["N1", "S1"]}), dimensions=[area]).finest("area", "N")
        ('N1', 'N2')
        """
        dimension = self.dimension(name)
        finest: dict[str, None] = {}
        for code in [codes] if isinstance(codes, str) else codes:
            finest.update(dict.fromkeys(_positive(dimension, code)))
        return tuple(finest)


def _positive(dimension: Dimension, code: str) -> Iterable[str]:
    leaves = dimension.leaves_of(code)
    if any(sign < 0 for sign in leaves.values()):
        raise InputError(f"dimension {dimension.name!r}: {code!r} takes codes away, so it is not a population")
    return leaves


def _engine(source: Any, table: str | None, memory: str | None, engine: str | None) -> Engine:
    if engine not in {None, *ENGINES}:
        raise InputError(f"unknown engine {engine!r}; {nearest(str(engine), ENGINES)}")
    if is_remote(source):
        source = fetched(source)
    there = elsewhere(source)
    lazy = hasattr(source, "collect_schema")  # a polars frame, which would be asked for its columns
    own = source if not there and not lazy and isinstance(source, Engine) else None
    if memory is not None and (own is not None or there or engine == "ibis"):
        raise InputError("memory= is for data that DuckDB groups in this process; set it where the engine is made")
    if own is not None:
        if engine is not None:
            raise InputError("engine= is for data; this is an engine already")
        return own
    if there and engine == "duckdb":
        raise InputError("data in another place are grouped there, by engine 'ibis'; DuckDB reads files and frames")
    if there or engine == "ibis":
        from discreet.engines.ibis.engine import Ibis

        return Ibis.of(source, table=table)
    from discreet.engines.duckdb.engine import DuckDB

    return DuckDB.of(source, table=table, memory=memory)


def _dimension_of(name: str, codes: Iterable[str]) -> Dimension:
    return replace(Dimension.flat(name, codes), observed=True)


def _categories(
    source: Any, engine: Engine, name: str, column: str, missing: str | Mapping[str, str] | None
) -> tuple[str, ...]:
    known = engine.columns()
    if column not in known:
        raise InputError(f"column {column!r} (dimension {name!r}) is not in the data; {headings(known, column)}")
    declared = declared_codes(source, column)
    codes = engine.categories(column) if declared is None else declared
    if not codes and missing is None:
        raise InputError(f"column {column!r} (dimension {name!r}) holds no values")
    return codes or tuple([missing] if isinstance(missing, str) else [(missing or {}).get(name, "")])


def _secret(secret: bytes | str | None) -> bytes | None:
    if secret is None:
        return None
    secret = secret.encode() if isinstance(secret, str) else bytes(secret)
    if len(secret) < SECRET_BYTES:
        raise InputError(f"the secret has {len(secret)} bytes; give at least {SECRET_BYTES}")
    return secret
