"""What a browser may do with a page: load from this server alone, be shown in a frame by nobody, or by who is named."""

from __future__ import annotations

from collections.abc import Sequence

NOBODY = "'none'"


def content_policy(frames: Sequence[str] = ()) -> str:
    """The Content-Security-Policy of a page that these origins may show in a frame.

    >>> content_policy().rpartition("; ")[2], content_policy(["https://news.example"]).rpartition("; ")[2]
    ("frame-ancestors 'none'", 'frame-ancestors https://news.example')
    """
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"form-action 'self'; base-uri 'none'; frame-ancestors {' '.join(frames) or NOBODY}"
    )
