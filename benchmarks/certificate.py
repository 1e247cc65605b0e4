"""How long a certificate and its check take, and how large it is: python benchmarks/certificate.py ROWS COLUMNS."""

from __future__ import annotations

import gzip
import sys
import time

import numpy as np

import discreet as dc


def measured(shape: tuple[int, ...], share: float = 0.3) -> None:
    """A table of skewed counts with a share of its inner cells hidden."""
    rng = np.random.default_rng(3)
    table = dc.Table.of(np.floor(rng.lognormal(1.5, 1.5, shape)).astype(int), [f"d{k}" for k in range(len(shape))])
    protected = dc.protect(table, dc.Hide(table.is_inner & (rng.random(len(table)) < share)))
    report = dc.audit(protected)
    began = time.perf_counter()
    certificate = report.certificate()
    made = time.perf_counter()
    certificate.check(protected.release().to_csv())
    checked = time.perf_counter()
    data = certificate.to_json()
    size = " x ".join(map(str, shape))
    print(
        f"{size}: {certificate}; made in {made - began:.1f} s, checked in {checked - made:.1f} s, "
        f"{len(data) / 1e6:.2f} MB, {len(gzip.compress(data)) / 1e6:.2f} MB packed, "
        f"{len(certificate.content['measures'][0]['moves'])} witnesses"
    )


if __name__ == "__main__":
    measured(tuple(int(size) for size in sys.argv[1:]) or (60, 30))
