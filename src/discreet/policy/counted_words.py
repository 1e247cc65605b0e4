"""Answers and refusals in the words of the codebook: so many households, holdings, patients, where it says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from discreet.data.counted_units import ENGLISH, counted_words, with_counted
from discreet.errors import Refused
from discreet.policy.query import Resolved
from discreet.release import Release


@contextmanager
def refusing_in_words(resolved: Resolved) -> Iterator[None]:
    """A refusal speaks of what is counted."""
    words = counted_words(resolved.known)
    try:
        yield
    except Refused as refused:
        if not words:
            raise
        raise Refused(refused.rule, with_counted(refused.reason, words[ENGLISH]), refused.hint) from None


def noting_counted(release: Release, resolved: Resolved) -> Release:
    """A release whose notes speak of what is counted, and name it first."""
    words = counted_words(resolved.known)
    if not words:
        return release
    said = [with_counted(note, words[ENGLISH]) for note in release.notes]
    return replace(release, notes=(f"Counted: {words[ENGLISH]}.", *said))
