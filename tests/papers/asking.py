"""What the tests of policies share: a policy that rounds, tables, and the measures of the papers in a few lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import discreet as dc
from discreet.policy import parse_policy

ROUND = '[[method]]\nname = "random-round"\nbase = {base}\nseed = {seed}\n'
AS_IT_IS = 'publish = "as it is"\n'
ONE = np.array([[0, 2, 4, 1], [7, 0, 3, 12], [1, 1, 0, 30]])


def policy(limits: str, base: int = 3, seed: int = 1) -> dc.Policy:
    return parse_policy(limits + ROUND.format(base=base, seed=seed))


def table(counts: object) -> dc.Table:
    return dc.Table.of(counts, ["area", "job"])


def own_terms(f: Any) -> dict[str, float]:
    """(3.5.2): the share of zeros, 1 - H/log K, and the size term."""
    f = np.asarray(f, float).ravel()
    n, p = f.sum(), f[f > 0] / f.sum()
    h = -float((p * np.log(p)).sum())
    size = (1 + 0.5 * math.log(n)) / math.sqrt(n)
    return {"zeros": float((f == 0).mean()), "entropy": 1 - h / math.log(f.size), "size": size}


def own_split(f: Any) -> float:
    """JOS15 4.1: zeros, the entropy of counts up to 6 and that of larger ones, size; weights .1 .7 .1 .1."""
    f = np.asarray(f, float).ravel()

    def concentration(part: Any) -> float:
        if part.sum() == 0 or part.size < 2:
            return 0.0
        p = part[part > 0] / part.sum()
        return 1 + float((p * np.log(p)).sum()) / math.log(part.size)

    terms = own_terms(f)
    split = 0.7 * concentration(f[f <= 6]) + 0.1 * concentration(f[f > 6])
    return 0.1 * terms["zeros"] + split + 0.1 * terms["size"]


def own_risks(f: Any) -> dict[str, float]:
    terms = own_terms(f)
    weighted = 0.1 * terms["zeros"] + 0.8 * terms["entropy"] + 0.1 * terms["size"]
    root = math.sqrt(sum(t**2 for t in terms.values()) / 3)
    return {"r": weighted, "r*": root, "jos15": own_split(f), **terms}


def own_losses(f: Any, g: Any) -> dict[str, float]:
    f, g = np.asarray(f, float).ravel(), np.asarray(g, float).ravel()
    p, q = f / f.sum(), g / g.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = float(np.where(p > 0, p * np.log(p / q), 0).sum())
        back = float(np.where(q > 0, q * np.log(q / p), 0).sum())
        chi2 = float(np.where(p == q, 0, (p - q) ** 2 / q).sum())
    filled = f > 0
    return {
        "hellinger": math.sqrt(((np.sqrt(f) - np.sqrt(g)) ** 2).sum() / 2 / f.sum()),
        "kl": kl,
        "reverse-kl": back,
        "chi2": chi2,
        "hellinger2": float(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2),
        "tv": float(np.abs(p - q).sum() / 2),
        "mean-absolute": float(np.abs(f - g).mean()),
        "mean-relative": float((np.abs(f - g)[filled] / f[filled]).mean()),
        "changed": float((f != g).mean()),
    }


def own_r2(f: Any, g: Any) -> float:
    """(3.6.6), with the channel of Theorem 4 written out as a matrix."""
    f, g = np.asarray(f, float).ravel(), np.asarray(g, float).ravel()
    n, m, k = f.sum(), g.sum(), f.size
    terms = own_terms(f)
    d, e = f == 0, g == 0
    both = (d & e).sum()
    zeros = terms["zeros"] ** ((d | e).sum() / both) if both else 0.0
    h = (1 - terms["entropy"]) * math.log(k)
    a, b = m * f, n * g
    kept = np.minimum(a, b)
    joint = np.diag(kept) / (n * m)
    if (a != b).any():
        joint = joint + np.outer(a - kept, b - kept) / (n * m - kept.sum()) / (n * m)
    q = joint.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        conditional = -np.where(joint > 0, joint * np.log(joint / q), 0.0).sum()
    return float(0.1 * zeros + 0.8 * terms["entropy"] * (1 - conditional / h) + 0.1 * terms["size"])
