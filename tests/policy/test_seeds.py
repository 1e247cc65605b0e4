"""Noise from a seed that can be tried out can be taken away, so such a policy is not served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.cli import run
from discreet.policy import answer, parse_policy

SEEDS = (
    '[[method]]\nname = "cell-key"\nseed = {}',
    '[[before]]\nname = "synthetic"\nseed = {}',
    '[[method]]\nname = "cell-key"\n[measures.pay]\nnoise = {{ seed = {} }}',
)


def test_a_short_seed_follows_from_the_answers() -> None:
    """Under the right seed all rows and columns add up, and then every true count is known."""
    rng = np.random.default_rng(3)
    true = dc.Table.of(rng.poisson(50, (6, 7)), ["area", "sex"])
    shown = answer(true, "area, sex", parse_policy(SEEDS[0].format(417))).values["count"].astype(int)

    def without(seed: int) -> Any:
        large = dc.Table.of(np.full((6, 7), 1000), ["area", "sex"])
        noise = dc.CellKey(seed=seed)(large).published["count"] - large.statistics["count"].cells
        return shown - noise

    fits = []
    for seed in range(1000):
        cells = without(seed)[np.argsort(true.layout.flat)].reshape(true.layout.code_shape)
        inner = cells[1:, 1:]
        if (inner.sum(axis=1) == cells[1:, 0]).all() and (inner.sum(axis=0) == cells[0, 1:]).all():
            fits.append(seed)
    assert fits == [417]
    assert without(417).tolist() == true.statistics["count"].cells.tolist()


@pytest.mark.parametrize("text", SEEDS)
def test_a_seed_that_can_be_tried_out_is_not_served(
    tmp_path: Path, text: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """`serve` refuses it, `policy check` says so; a long one is a secret."""
    dc.datasets.write("census", tmp_path / "people.parquet", n=300)
    (tmp_path / "p.toml").write_text(text.format(2**64 - 1))
    given = [str(tmp_path / "people.parquet"), "--codebook", str(tmp_path / "people.toml"), "--port", "0"]
    assert run(["serve", *given, "--policy", str(tmp_path / "p.toml")]) == 2
    assert "can be tried out" in capfdbinary.readouterr().err.decode()
    assert run(["policy", "check", str(tmp_path / "p.toml")]) == 0
    assert "can be tried out" in capfdbinary.readouterr().err.decode()
    assert not parse_policy(text.format(2**64)).seeded
