"""The form of a certificate: every field and its kind; JSON as it is written, and nothing that is not in it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
from typing import Any

MEANING = {
    "exact": "one value fits all that is shown, by a sum that was worked out",
    "stated": "stated to be known exactly, without a proof",
    "narrow": "not shown to reach the level that is stated for it",
    "open": "two tables that add up to all that is shown differ there, and reach its level if one is stated",
    "unknown": "nothing is proved",
}
FINDINGS = tuple(MEANING)
VERDICTS = ("fail", "unknown", "pass")  # the worst first
LARGEST = 2**30  # bytes of a file
NO = None
FRACTION = re.compile(r"-?[0-9]{1,60}(/[1-9][0-9]{0,60})?")
DIGEST = re.compile("[0-9a-f]{64}")
END = (int, NO, FRACTION)
WHOLE = [int, [int], [int]]  # a divisor, numbers of inner cells, amounts
BOUND = [FRACTION, int, [[int, int, [str]]]]
CELL = {"table": int, "cell": [str], "finding": FINDINGS, "reached": [FRACTION, FRACTION]}
MEASURE = {
    "measure": str,
    "decimals": int,
    "whole": bool,
    "least": (0, NO),
    "tables": [int],
    "unjudged": [str],
    "dimensions": [{"name": str, "total": (str, NO), "leaves": [str], "sums": {"*": {"*": int}}}],
    "implied": (NO, {"*": [END, END]}),
    "beforehand": [[int, (int, [str]), END, END]],
    "base": (NO, WHOLE),
    "moves": [WHOLE],
    "summary": dict.fromkeys(FINDINGS, int),
    "cells": [CELL | {"need?": [FRACTION] * 3, "proof?": [BOUND, BOUND]}],
}
FILE = {"dimensions": [str], "measures": {"*": int}, "columns": [str], "status": str, "cells": int, "sha256": DIGEST}
INTRUDER = {"intruder": str, "verdict": (*VERDICTS, "not tried", "proved by the claims"), "*": str}
CERTIFICATE = {
    "format": ("discreet certificate 2",),
    "program": str,
    "date": str,
    "confidential": bool,
    "method": [str],
    "rule": str,
    "levels": str,
    "files": [FILE],
    "measures": [MEASURE],
    "intruders": [INTRUDER],
    "audit": VERDICTS,
    "verdict": VERDICTS,
    "seal": DIGEST,
}


class NotProvedError(Exception):
    r"""The certificate does not prove what it says; the message says where.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> certificate = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3)))).certificate()
    >>> certificate.check("area,sex,count,status\nTotal,Total,141,\n")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.audits.verify.certificate_form.NotProvedError: table 1 is not among the...
    """


class MalformedError(ValueError):
    """What is given is no certificate, or no table; the message says why."""


def require(holds: object, problem: str) -> None:
    if not holds:
        raise NotProvedError(problem)


def sha256(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def misshapen(value: Any, shape: Any, at: str = "certificate") -> str:
    """Where a value is not of a shape; "" if it is. A tuple says what is allowed, "*" stands for any name."""
    if isinstance(shape, tuple):
        return at if all(misshapen(value, one, at) for one in shape) else ""
    if isinstance(shape, dict):
        fixed = {name.rstrip("?"): one for name, one in shape.items()}
        if type(value) is not dict or ("*" not in fixed and not set(value) <= set(fixed)):
            return at
        gone = [name for name in shape if name[-1] not in "?*" and name not in value]
        each = (misshapen(held, fixed.get(k, fixed.get("*")), f"{at}.{k}"[:200]) for k, held in value.items())
        return f"{at}.{gone[0]}" if gone else next(filter(None, each), "")
    if isinstance(shape, list):
        if shape == [int] and type(value) is list:
            return "" if all(type(number) is int for number in value) else at
        each_of = shape * len(value) if type(value) is list and len(shape) == 1 else shape
        if type(value) is not list or len(value) != len(each_of):
            return at
        pairs = enumerate(zip(value, each_of, strict=True))
        return next(filter(None, (misshapen(held, one, f"{at}[{k}]") for k, (held, one) in pairs)), "")
    if isinstance(shape, re.Pattern):
        return "" if type(value) is str and shape.fullmatch(value) else at
    right = type(value) is shape if isinstance(shape, type) else type(value) is type(shape) and value == shape
    return "" if right else at


def check_shape(certificate: Any) -> None:
    """MalformedError unless it has every field, each of its kind, and no other."""
    try:
        place = misshapen(certificate, CERTIFICATE)
    except RecursionError:
        place = "certificate"
    if place:
        raise MalformedError(f"not a certificate of this format: {place!r} is missing, unknown or of another kind")


def unpacked(data: bytes) -> bytes:
    """A file, unpacked if it was compressed."""
    held = gzip.GzipFile(fileobj=io.BytesIO(data)).read(LARGEST + 1) if data[:2] == b"\x1f\x8b" else data
    if len(held) > LARGEST:
        raise MalformedError("a file is larger than a gigabyte")
    return held


def load_certificate(data: bytes) -> Any:
    """What stands in the file of a certificate; MalformedError unless it is JSON, each field once, in whole numbers.

    >>> import discreet as dc
    >>> table = dc.Table.of([[20, 50, 9], [10, 2, 8], [30, 7, 5]], ["area", "sex"])
    >>> certificate = dc.audit(dc.protect(table, dc.Suppress(dc.Threshold(3)))).certificate()
    >>> load_certificate(certificate.to_json())["verdict"]
    'pass'
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise MalformedError("a field appears twice in the certificate")
        return dict(pairs)

    def no_number(text: str) -> None:
        raise MalformedError("a number in the certificate is neither whole nor a fraction in quotes")

    try:
        text = unpacked(data).decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=once, parse_float=no_number, parse_constant=no_number)
    except MalformedError:
        raise
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise MalformedError(f"the certificate is not JSON ({type(error).__name__})") from None
