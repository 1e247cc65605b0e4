"""TOML files with a JSON Schema: what is wrong is said with the file and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InputError, listed, nearest


def load(text: str, schema: Mapping[str, Any], source: str, whole: str) -> dict[str, Any]:
    """The TOML text as a dict that fits the schema; ``source`` and ``whole`` name the file and what it is."""
    problem = None
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = syntax(str(error), text, source)
    if problem is not None:
        raise InputError(problem)
    validate(entries, schema, text, source, whole)
    return entries


def validate(entries: Mapping[str, Any], schema: Mapping[str, Any], text: str, source: str, whole: str) -> None:
    """Refuse what does not fit the schema, the first fault by path."""
    from jsonschema import Draft202012Validator

    faults = sorted(Draft202012Validator(schema).iter_errors(entries), key=lambda e: [str(p) for p in e.absolute_path])
    if faults:
        path = list(faults[0].absolute_path)
        key, message = explain_fault(faults[0], path, whole)
        raise InputError(f"{place(text, source, [*path, *key])}: {message}")


def syntax(message: str, text: str, source: str) -> str:
    """What the TOML reader says, with the line in front."""
    match = re.search(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", message)
    if not match:
        return f"{source}: not valid TOML: {message}"
    return f"{source}, line {match[2] or len(text.splitlines())}: not valid TOML: {match[1]}"


def explain_fault(error: Any, path: list[Any], whole: str) -> tuple[list[str], str]:
    """The key at fault, if it is not the last of the path, and a sentence."""
    where = name_of(path, whole)
    if error.validator == "additionalProperties" and "properties" in error.schema:
        known = list(error.schema["properties"])
        key = next(k for k in error.instance if k not in known)
        return [key], unknown_key(key, known, where, list(error.instance), error.schema.get("required", ()))
    if error.validator == "required":
        key = next(k for k in error.validator_value if k not in error.instance)
        return [], f"{where} has no {key!r}"
    allowed = error.schema.get("type") or "one of the forms in the documentation"
    words = {
        "string": "text",
        "object": "a table",
        "array": "a list",
        "integer": "a whole number",
        "boolean": "true or false",
    }
    if error.validator == "type":
        kinds = [allowed] if isinstance(allowed, str) else allowed
        return [], f"{where} must be " + " or ".join(words.get(k, k) for k in kinds)
    if error.validator == "enum":
        return [], f"{where} must be one of {listed(map(str, error.validator_value))}"
    limits = {"minLength": "must not be empty", "minItems": "must not be empty", "minProperties": "must not be empty"}
    limits |= {"maxLength": "must be a single character", "minimum": f"must be at least {error.validator_value}"}
    limits |= {"maximum": f"must be at most {error.validator_value}"}
    return [], f"{where} {limits.get(error.validator, 'has a form that is not known; see the documentation')}"


def unknown_key(
    key: str, known: Sequence[str], where: str, present: Sequence[str] = (), required: Sequence[str] = ()
) -> str:
    """A key that is none, and the nearest that is one and not ``present``, or the one that must be and is not there.

    >>> unknown_key("codes", ["code", "plus", "minus"], "'groups'", ["code", "codes"], ["code", "plus"])
    "unknown key 'codes' in 'groups'; did you mean 'plus'?"
    """
    near = nearest(key, [one for one in known if one not in present])
    missing = [one for one in required if one not in present]
    if not near.startswith("did you mean"):
        near = f"did you mean {missing[0]!r}?" if len(missing) == 1 else "known: " + listed(known)
    return f"unknown key {key!r} in {where}; {near}"


def name_of(path: Sequence[Any], whole: str) -> str:
    """A path in words.

    >>> name_of(["dimension", 1, "labels"], "the codebook"), name_of([], "the codebook")
    ("'labels' in dimension 2", 'the codebook')
    """
    if len(path) >= 2 and isinstance(path[1], int):
        whole = f"{path[0]} {path[1] + 1}"
        return whole if len(path) == 2 else f"{path[2]!r} in {whole}"
    return repr(path[-1]) if path else whole


_HEADER = re.compile(r"\s*\[{1,2}\s*([^\[\],=]+?)\s*\]{1,2}\s*(#.*)?$")


def place(text: str, source: str, path: Sequence[Any]) -> str:
    """File and line of a path such as ["dimension", 1, "labels"], found by looking for its header and key."""
    lines = text.splitlines()
    start, first, stop = 0, 0, len(lines)
    keys = [p for p in path if isinstance(p, str)]
    if len(path) >= 2 and isinstance(path[1], int):
        headers = [n for n, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{re.escape(str(path[0]))}\s*\]\]", line)]
        if path[1] < len(headers):
            start, first, keys = headers[path[1]], headers[path[1]] + 1, keys[1:]
            ends = (n for n in range(start + 1, stop) if re.match(r"\s*\[\[", lines[n]))
            stop = next(ends, stop)
    elif (section := _section(lines, keys)) is not None:
        return f"{source}, line {section + 1}"
    for key in reversed(keys):  # the innermost key that has a line of its own
        pattern = rf"\s*(\[+(.*\.)?\s*)?[\"']?{re.escape(key)}[\"']?\s*[=.\]]"
        section = next((n for n in range(first, stop) if re.match(pattern, lines[n])), None)
        if section is not None:
            return f"{source}, line {section + 1}"
    return f"{source}, line {start + 1}"


def _section(lines: Sequence[str], keys: Sequence[str]) -> int | None:
    """The line of a key in the section that the keys before it name, or of the section that all of them name.

    >>> _section(["title = 1", "[a]", "x = 1", "[b.c]", "x = 2"], ["b", "c", "x"]), _section(["[a]"], ["a"])
    (4, 0)
    """
    heads = [(n, match[1]) for n, line in enumerate(lines) if (match := _HEADER.match(line))]
    names = {re.sub(r"[\"']|\s*(?=\.)|(?<=\.)\s*", "", name): n for n, name in reversed(heads)}
    if (whole := names.get(".".join(keys))) is not None:
        return whole
    start = names.get(".".join(keys[:-1]), -1)
    stop = next((n for n, _ in heads if n > start), len(lines))
    pattern = re.compile(rf"\s*[\"']?{re.escape(keys[-1])}[\"']?\s*[=.]") if keys else None
    return next((n for n in range(start + 1, stop) if pattern and pattern.match(lines[n])), None)
