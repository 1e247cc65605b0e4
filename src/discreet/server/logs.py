"""Logs for machines: one JSON object a line, with a fixed set of fields. No values, no queries, no addresses."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

FIELDS = ("method", "path", "status", "ms", "bytes", "role", "rule", "cached", "worker", "where", "kind")


class Line(logging.Formatter):
    """A record as JSON; only known fields and our own words get through."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {"at": round(record.created, 3), "level": record.levelname.lower(), "event": record.name}
        if record.name.startswith("discreet"):
            told["event"] = record.msg
            told |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        elif record.levelno < logging.ERROR:
            told["message"] = record.getMessage()  # a server's own words, such as its address
        elif record.exc_info and record.exc_info[0]:
            told["kind"] = record.exc_info[0].__name__  # its text may hold data
        return json.dumps(told, ensure_ascii=False)


def configure(level: int = logging.INFO) -> None:
    """Send everything to stderr in that form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Line())
    for name in ("discreet.server", "discreet.compiling", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    logging.getLogger("uvicorn.access").disabled = True


log = logging.getLogger("discreet.server")


def milliseconds(since: float) -> float:
    """Time since a ``perf_counter`` reading."""
    return round((time.perf_counter() - since) * 1000, 2)


def error_place(error: BaseException) -> str:
    """File and line where an error arose; its message may hold data and is left out."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    return f"{at.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{at.tb_lineno}" if at else "?"
