"""The table of parameters below each callable of the reference: name, type, default, and what it means.

The meaning is looked for in the docstring of the field, then in the sentence of the callable's docstring that names
the parameter, then in ``parameters.toml`` beside this file; what stands there under the callable's own name goes first.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from griffe import Class, Docstring, Extension, Function, Module, Parameter, ParameterKind

Words = Mapping[str, Mapping[str, str]]
WORDS: Words = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SENTENCE = re.compile(r'(?<=[.)])\s+(?=[A-Z`"])')
STARS = {ParameterKind.var_positional: "*", ParameterKind.var_keyword: "**"}


def sentence_on(name: str, text: str) -> str:
    """The first sentence that names a parameter, or nothing.

    >>> sentence_on("v", "Noise on counts. It has variance ``v``. Totals need not add up.")
    'It has variance ``v``.'
    """
    prose = text.partition(">>>")[0]
    paragraphs = [" ".join(part.split()) for part in prose.split("\n\n") if not part.lstrip().startswith(("..", "$$"))]
    sentences = [sentence for paragraph in paragraphs for sentence in SENTENCE.split(paragraph)]
    named = re.compile(rf"``{re.escape(name)}(``|[=\[])")
    return next((sentence for sentence in sentences if named.search(sentence)), "")


def meaning(item: Class | Function, name: str, words: Words = WORDS) -> str:
    """What a parameter means, as a docstring has it; nothing if nobody says it."""
    field = item.members.get(name)
    stated = field.docstring.value if field is not None and field.is_attribute and field.docstring else ""
    named = sentence_on(name, item.docstring.value) if item.docstring else ""
    own = next((words[key][name] for key in keys_of(item) if name in words.get(key, {})), "")
    return " ".join((own or stated or named or words.get("any", {}).get(name, "")).split())


def keys_of(item: Class | Function) -> tuple[str, ...]:
    """Under which names words on a callable may stand: its path, then its name; that of a method with its class.

    A path goes first: where a name stands twice in the package, that of the package root has the short one.
    """
    path = item.path.removeprefix("discreet.")
    if isinstance(item.parent, Class):
        return path, f"{item.parent.name}.{item.name}", f"*.{item.name}"
    return path, item.name


def parameters_of(item: Class | Function) -> list[Parameter]:
    """Parameters that a user may give."""
    return [one for one in item.parameters if one.name not in ("self", "cls") and not one.name.startswith("_")]


def parameter_table(item: Class | Function, words: Words = WORDS) -> str:
    """The table as Markdown; nothing for a callable without parameters, or where no meaning is known."""
    rows = [(one, meaning(item, one.name, words)) for one in parameters_of(item)]
    if not any(text for _, text in rows):
        return ""
    lines = [_row(one, text) for one, text in rows]
    return "\n".join(["**Parameters**", "", "| name | type | default | meaning |", "|---|---|---|---|", *lines])


def _row(one: Parameter, text: str) -> str:
    default = "" if one.default is None or one.kind in STARS else _code(str(one.default))
    kind = "" if one.annotation is None else _code(str(one.annotation))
    bars = text.replace("|", r"\|")
    return f"| {_code(STARS.get(one.kind, '') + one.name)} | {kind} | {default} | {bars} |"


def _code(text: str) -> str:
    return "`" + " ".join(text.split()).replace("|", r"\|") + "`"


class ParameterTables(Extension):
    """Puts the table below the docstring of every public class, function and method."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Called by griffe when the package is read; the parameters of dataclasses are known then."""
        for module in modules_of(pkg):
            for item in callables_of(module):
                if table := parameter_table(item):
                    item.docstring = Docstring(f"{item.docstring.value}\n\n{table}", parent=item)


def callables_of(module: Module) -> list[Class | Function]:
    """The public classes and functions that a module defines, and the public methods of the classes."""
    items = [*module.classes.values(), *module.functions.values()]
    methods = [method for one in module.classes.values() if not one.is_alias for method in one.functions.values()]
    return [one for one in [*items, *methods] if not one.is_alias and not one.name.startswith("_") and one.docstring]


def modules_of(module: Module) -> list[Module]:
    """A module and all below it."""
    below = [inner for one in module.modules.values() if not one.is_alias for inner in modules_of(one)]
    return [module, *below]
