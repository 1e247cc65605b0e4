"""The R package: its own tests, its vignette, and the same bytes as Python on the same call."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc

PACKAGE = Path(__file__).parents[1] / "r" / "discreet"
BY = ["region", "sex", "age"]
Run = Callable[[str, Path], str]
pytestmark = pytest.mark.xdist_group("r")


@pytest.fixture(scope="module")
def r(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs R code with the package installed in a library of its own and this Python."""
    assert shutil.which("Rscript"), "these tests need R: apt-get install r-base-core r-cran-reticulate r-cran-testthat"
    library = tmp_path_factory.mktemp("library")
    shutil.copytree(PACKAGE, library / "source", ignore=shutil.ignore_patterns("__pycache__"))
    words = ["R", "CMD", "INSTALL", "--no-test-load", f"--library={library}", str(library / "source")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    environment = {
        **os.environ, "R_LIBS": str(library), "RETICULATE_PYTHON": sys.executable, "LC_ALL": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([str(Path(dc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip

    def run(code: str, folder: Path) -> str:
        (folder / "code.R").write_text(code, encoding="utf-8")
        words = ["Rscript", "--vanilla", "-e", "options(warn = 2)", "-e", 'source("code.R", encoding = "UTF-8")']
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    yield run
    shutil.rmtree(library, ignore_errors=True)


def records(n: int = 3000) -> pd.DataFrame:
    """Synthetic persons with a magnitude and a record key; few enough for small cells."""
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "region": random.choice(["Nord", "Süd", "West", "Öst"], n, p=[0.5, 0.3, 0.19, 0.01]),
            "sex": random.choice(["f", "m"], n),
            "age": random.choice(["0-19", "20-64", "65+"], n),
            "income": np.round(random.lognormal(8, 2, n), 2),
            "key": random.integers(0, 2**31 - 1, n),
        }
    )


def test_the_tests_of_the_package_pass(r: Run, tmp_path: Path) -> None:
    """testthat, whose own words say how many checks there were."""
    folder = (PACKAGE / "tests" / "testthat").as_posix()
    said = r(
        "library(testthat)\nlibrary(discreet)\n"
        f'done <- as.data.frame(test_dir("{folder}", reporter = "check", stop_on_failure = TRUE))\n'
        'cat("checks", sum(done$nb), "failed", sum(done$failed), "skipped", sum(done$skipped))',
        tmp_path,
    )
    found = re.search(r"checks (\d+) failed 0 skipped FALSE|checks (\d+) failed 0 skipped 0", said)
    assert found, said
    assert int(found[1] or found[2]) >= 40


def test_the_vignette_runs(r: Run, tmp_path: Path) -> None:
    """Every chunk, in order; it holds its own checks."""
    text = (PACKAGE / "vignettes" / "discreet.Rmd").read_text(encoding="utf-8")
    chunks = re.findall(r"^```\{r\}\n(.*?)^```", text, re.M | re.S)
    assert len(chunks) == text.count("```{r")
    r("\n".join(chunks), tmp_path)
    assert (tmp_path / "table.xlsx").exists()


def test_the_same_call_gives_the_same_bytes(r: Run, tmp_path: Path) -> None:
    """Records as a data.frame and as a pandas frame, through every method and two formats."""
    data = records()
    data.to_csv(tmp_path / "records.csv", index=False)
    r(
        """
        library(discreet)
        kinds <- c(region = "character", sex = "factor", age = "character", income = "numeric", key = "integer")
        d <- read.csv("records.csv", colClasses = kinds, encoding = "UTF-8")
        by <- c("region", "sex", "age")
        keep <- function(x, name) for (suffix in c(".csv", ".json")) write_release(x, paste0(name, suffix))
        keep(suppress_small_counts(d, by, under = 12), "small")
        keep(suppress_dominant_cells(d, by, "income", n = c(1, 2), k = c(30, 40), p = 5), "dominant")
        keep(round_small_counts(d, by, base = 11, seed = 4), "rounded")
        keep(cell_key(d, by, key = "key", d = 3, v = 1.5, js = 1), "noise")
        """,
        tmp_path,
    )
    people = dc.Microdata.of(data, dimensions=BY, magnitudes=["income"], key="key")
    counts, sums = dc.tabulate(people, by=BY), dc.tabulate(people, by=BY, value="income")
    rule = dc.Dominance(1, 30.0) | dc.Dominance(2, 40.0) | dc.PPercent(5.0)
    wanted = {
        "small": dc.protect(counts, dc.Suppress(dc.Threshold(12))),
        "dominant": dc.protect(sums, dc.Suppress(rule)),
        "rounded": dc.protect(counts, dc.SmallCountRound(11, seed=4)),
        "noise": dc.protect(counts, dc.CellKey(d=3, v=1.5, js=1)),
    }
    assert wanted["small"].hidden.any()
    assert wanted["dominant"].hidden.any()
    for name, protected in wanted.items():
        for suffix in (".csv", ".json"):
            dc.write(protected.release(), tmp_path / f"python{suffix}")
            assert (tmp_path / f"{name}{suffix}").read_bytes() == (tmp_path / f"python{suffix}").read_bytes(), name


def test_a_fault_is_told_without_data(r: Run, tmp_path: Path) -> None:
    """No Python traceback, no value of the data in the message."""
    said = r(
        """
        library(discreet)
        d <- data.frame(a = c("x", "y"), n = c(98765.5, 2))
        told <- function(call) tryCatch({ call; "nothing" }, error = conditionMessage)
        cat(told(suppress_small_counts(d, "a", freq = "n")), "\\n")
        cat(told(suppress_small_counts(d, "a", freq = "m")), "\\n")
        """,
        tmp_path,
    )
    assert "98765" not in said
    assert "nothing" not in said
    assert "Traceback" not in said
    assert "no column 'm'" in said


def test_a_python_without_discreet_is_said(r: Run, tmp_path: Path) -> None:
    """The message names the Python that was found and what to do."""
    said = r(
        f"""
        Sys.setenv(PYTHONPATH = "", RETICULATE_PYTHON = "{sys.base_prefix}/bin/python3")
        library(discreet)
        told <- tryCatch(suppress_small_counts(data.frame(a = "x"), "a"), error = conditionMessage)
        cat(told)
        """,
        tmp_path,
    )
    assert "install its wheel there" in said
    assert "RETICULATE_PYTHON" in said


def test_package_and_version_go_together() -> None:
    """The R package has the version of the Python one, documents all it exports, and exports all it documents."""
    description = (PACKAGE / "DESCRIPTION").read_text()
    assert f"\nVersion: {dc.__version__}\n" in description
    assert f"\nversion: {dc.__version__}\n" in (PACKAGE.parents[1] / "CITATION.cff").read_text()
    exported = set(re.findall(r"export\((\w+)\)", (PACKAGE / "NAMESPACE").read_text()))
    pages = "".join(path.read_text() for path in (PACKAGE / "man").glob("*.Rd"))
    assert exported == set(re.findall(r"\\alias\{(\w+)\}", pages))
