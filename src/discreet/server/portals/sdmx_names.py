"""What SDMX calls a data set, its variables and their codes: identifiers with letters, digits and few other signs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from discreet.errors import InputError, Refused
from discreet.formats.sdmx import identifiers
from discreet.policy import Query
from discreet.server.portals.portal_table import PortalTable, missing_name

AGENCY, VERSION_OF_STRUCTURES = "DISCREET", "1.0"
MEASURE_DIMENSION = "MEASURE"
BETWEEN = "-"  # between the name of a data set and those of the variables of a smaller dataflow
MOST_PAIRED = 20  # variables of which all pairs are listed as dataflows


def code_identifiers(codes: Iterable[str]) -> dict[str, str]:
    """An SDMX identifier for every code, none twice.

    >>> code_identifiers(["Total", "0-4", "100+", "100 "])
    {'Total': 'Total', '0-4': '0-4', '100+': '100_', '100 ': '100__'}
    """
    given: dict[str, str] = {}
    taken: set[str] = set()
    for code in codes:
        identifier = re.sub(r"[^A-Za-z0-9@$-]", "_", code)
        while identifier in taken:
            identifier += "_"
        given[code] = identifier
        taken.add(identifier)
    return given


def set_identity(name: str) -> str:
    """The SDMX identifier of a data set, which has no hyphen: that separates variables.

    >>> set_identity("at-2021"), set_identity("2021")
    ('AT_2021', 'D_2021')
    """
    identity = re.sub("[^A-Z0-9]", "_", name.upper())
    return identity if identity[:1].isalpha() else f"D_{identity}"


@dataclass(frozen=True)
class SdmxSet:
    """A data set with the identifiers of everything in it."""

    table: PortalTable

    @property
    def identity(self) -> str:
        """The identifier of the data set."""
        return set_identity(self.table.identity)

    @cached_property
    def dimensions(self) -> dict[str, str]:
        """The identifier of every variable."""
        names = list(self.table.variables)
        return dict(zip(names, identifiers(names), strict=True))

    @cached_property
    def codes(self) -> dict[str, dict[str, str]]:
        """The identifiers of the codes of every variable."""
        return {name: code_identifiers(d.codes) for name, d in self.table.variables.items()}

    @cached_property
    def measures(self) -> dict[str, str]:
        """The identifiers of the measures."""
        return code_identifiers(self.table.measures)

    def codelist(self, name: str) -> str:
        """The identifier of the list of codes of a variable."""
        return f"CL_{self.identity}_{self.dimensions[name]}"

    @property
    def measure_codelist(self) -> str:
        """The identifier of the list of measures."""
        return f"CL_{self.identity}_{MEASURE_DIMENSION}"

    @property
    def concepts(self) -> str:
        """The identifier of the concepts."""
        return f"CS_{self.identity}"

    def flow(self, identity: str) -> Flow:
        """The dataflow of an identifier: of all variables, or of those whose identifiers follow the data set's."""
        first, *parts = identity.split(BETWEEN)
        by_identifier = {identifier: name for name, identifier in self.dimensions.items()}
        if first != self.identity or len(set(parts)) < len(parts) or not set(parts) <= set(by_identifier):
            raise missing_name("dataflow", identity, [flow.identity for flow in self.flows])
        return Flow(self, tuple(by_identifier[part] for part in parts))

    @cached_property
    def flows(self) -> list[Flow]:
        """The dataflows that are listed: all variables, and those of one or two that the policy allows to ask."""
        names = [name for name, d in self.table.variables.items() if d.total is not None]
        needed = [name for name, d in self.table.variables.items() if d.total is None]
        sizes = (1, 2) if len(names) <= MOST_PAIRED else (1,)
        subsets = [part for size in sizes for part in combinations(names, size)]
        flows = [Flow(self)]
        for part in subsets:
            together = tuple(name for name in self.table.variables if name in part or name in needed)
            if self._allowed(together):
                flows.append(Flow(self, together))
        return flows

    def _allowed(self, names: tuple[str, ...]) -> bool:
        try:
            self.table.service.check(self.table.service.resolved(Query.of(list(names))))
        except (InputError, Refused):
            return False
        return True


@dataclass(frozen=True)
class Flow:
    """A dataflow: a data set with all its variables, or with some, over the others of which it is summed."""

    whole: SdmxSet
    names: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The identifier: that of the data set and, of a smaller dataflow, those of its variables."""
        return BETWEEN.join([self.whole.identity, *(self.whole.dimensions[name] for name in self.names)])

    @property
    def structure(self) -> str:
        """The identifier of its data structure definition."""
        return f"DSD_{self.identity}"

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables, in the order of keys."""
        return self.names or tuple(self.whole.table.variables)

    @property
    def title(self) -> str:
        """What it is called."""
        return self.whole.table.title + (f": {', '.join(self.names)}" if self.names else "")
