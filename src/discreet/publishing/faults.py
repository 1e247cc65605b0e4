"""Faults of a programme, all of them at once, each with its line and its table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from discreet.base.toml import explain_fault, name_of, place, unknown_key
from discreet.errors import DiscreetError, InputError, many


@dataclass
class Faults:
    """Collects what is wrong with the text of a programme."""

    text: str
    source: str
    found: list[str] = field(default_factory=list)

    def at(self, path: Sequence[Any]) -> str:
        """File and line of a key."""
        return place(self.text, self.source, path)

    def add(self, path: Sequence[Any], message: str, name: str = "") -> None:
        said = f"{self.at(path)}: " + (f"table {name!r}: " if name else "") + message
        if said not in self.found:
            self.found.append(said)

    @contextmanager
    def of(self, path: Sequence[Any], name: str = "") -> Iterator[None]:
        """What goes wrong inside is a fault of the key at ``path``."""
        try:
            yield
        except DiscreetError as error:
            self.add(path, str(error), name)

    def schema(self, document: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
        """Everything that does not fit the schema; True if the rest can be read all the same.

        It can where keys are unknown and nothing else is wrong: they are taken out, so that other faults are found too.
        """
        from jsonschema import Draft202012Validator

        errors = sorted(
            Draft202012Validator(schema).iter_errors(document), key=lambda e: [str(p) for p in e.absolute_path]
        )
        readable = True
        for error in errors:
            path = list(error.absolute_path)
            name = ""
            if len(path) > 1 and path[0] == "table":
                named = document["table"][path[1]]
                name = str(named.get("name", "")) if isinstance(named, Mapping) else ""
            if error.validator == "additionalProperties" and "properties" in error.schema:
                known = list(error.schema["properties"])
                for key in [k for k in error.instance if k not in known]:
                    self.add([*path, key], unknown_key(key, known, name_of(path, "the programme")), name)
                    del error.instance[key]
            else:
                keys, message = explain_fault(error, path, "the programme")
                self.add([*path, *keys], message, name)
                readable = False
        return readable

    def settle(self) -> None:
        """Refuse the programme if anything is wrong with it."""
        if len(self.found) == 1:
            raise InputError(self.found[0])
        if self.found:
            ordered = sorted(self.found, key=lambda said: int((re.search(r", line (\d+):", said) or ["0", "0"])[1]))
            raise InputError(f"{many(len(ordered), 'fault')}; nothing was run\n" + "\n".join(f"  {f}" for f in ordered))
