"""Series of editions: what all editions of a series have in common, so that their records can be compared.

Editions of one series have the same codes, structural zeros, steps before counting and secret.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from hashlib import sha256

from discreet.data.codebook import Codebook
from discreet.methods.keys import open_secret
from discreet.policy import Policy
from discreet.policy.pretabular import twin_name


@dataclass(frozen=True)
class Series:
    """What the editions of a series have in common. Titles, labels and the order of codes do not count."""

    codebook: str
    steps: str
    secret: str

    @classmethod
    def of(cls, codebook: Codebook, policy: Policy | None) -> Series:
        """Of data under a policy, or of data as they are."""
        secret = None if policy is None else policy.secret
        return cls(
            codebook=codes_digest(codebook),
            steps=twin_name(policy) if policy is not None and policy.before else "",
            secret="" if secret is None else open_secret(secret).key("edition series").hex(),
        )

    def differs(self, other: Series) -> list[str]:
        """What is another, in words."""
        words = {"codebook": "another codebook", "steps": "other steps before counting", "secret": "another secret"}
        return [words[one.name] for one in fields(self) if getattr(self, one.name) != getattr(other, one.name)]


def codes_digest(codebook: Codebook) -> str:
    """A hash of the variables, their codes and groups, of what is counted and of the structural zeros."""
    dimensions = [
        (
            d.name,
            d.total is not None,
            sorted((code, sorted(d.leaves_of(code).items())) for code in d.codes if code != d.total),
        )
        for d in codebook.dimensions
    ]
    columns = [codebook.unit, codebook.weight, codebook.key, [(m.name, m.decimals) for m in codebook.magnitudes]]
    zeros = _impossible(codebook)  # without any, the hash is that of versions that left them out
    return sha256(json.dumps([sorted(dimensions), columns, *([zeros] if zeros else [])]).encode()).hexdigest()


def _impossible(codebook: Codebook) -> list[list[tuple[str, list[str]]]]:
    """The structural zeros by finest codes, whatever their order."""
    combinations = []
    for combination in codebook.structural:
        leaves = {
            name: {leaf for code in codes for leaf in codebook.dimension(name).leaves_of(code)}
            for name, codes in combination.items()
        }
        combinations.append(sorted((name, sorted(held)) for name, held in leaves.items()))
    return sorted(combinations)
