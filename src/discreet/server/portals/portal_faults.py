"""Errors in the form that the clients of each interface read."""

from __future__ import annotations

from xml.sax.saxutils import escape

import orjson
from fastapi.responses import Response

from discreet.server.api import BAD, TOO_LARGE, HttpFault
from discreet.server.portals.sdmx_structures import SPACES

ERROR_CODES = {404: 100, 401: 110, 403: 150, 413: 130, 422: 140, 400: 140, 406: 140, 429: 1000, 503: 503}
STATUS = {BAD: 400, TOO_LARGE: 403}  # PxWeb's numbers for a wrong parameter and for too many cells


def portal_fault(path: str, fault: HttpFault) -> Response | None:
    """An error below the address of a portal's interface in its form; None elsewhere."""
    if "/api/sdmx/" in path:
        return _error_message(fault)
    _, below, version = path.partition("/api/pxweb/")  # behind the name of a cube, in a hub
    if not below:
        return None
    if version.startswith("v2"):
        return _problem(fault)
    return Response(orjson.dumps({"error": _sentence(fault)}), _status(fault), fault.headers, "application/json")


def _status(fault: HttpFault) -> int:
    return STATUS.get(fault.status, fault.status)


def _sentence(fault: HttpFault) -> str:
    hint = "" if fault.body["rule"] == "input" else fault.body["hint"]  # which names addresses of the other interface
    return fault.body["reason"] + (f" ({hint})" if hint else "")


def _problem(fault: HttpFault) -> Response:
    """As RFC 7807 has it: the rule is the type, the reason and what to change the detail."""
    status = _status(fault)
    body = {"type": fault.body["rule"], "title": fault.body["error"], "status": status, "detail": _sentence(fault)}
    return Response(orjson.dumps(body), status, fault.headers, "application/problem+json")


def _error_message(fault: HttpFault) -> Response:
    """As SDMX-ML 2.1 has it, with a code of SDMX beside the status."""
    code = ERROR_CODES.get(fault.status, 500)
    text = f"<com:Text>{escape(_sentence(fault))}</com:Text>"
    message = f'<mes:ErrorMessage code="{code}">{text}</mes:ErrorMessage>'
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:Error {SPACES}>{message}</mes:Error>'
    return Response(body.encode(), _status(fault), fault.headers, "application/xml")
