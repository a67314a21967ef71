"""What all tests share: where the shared folder is, a table of predictions, a browser, and hypothesis profiles."""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from cpu_limit import CpuLimit
from writing_logs import Write, write_zip

for profile, examples in {"strat": 20, "thorough": 200}.items():  # `make validate` asks for the thorough one
    settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize="CI" in os.environ,  # there the same examples each time; new ones are sought everywhere else
    )
settings.load_profile("strat")


def pytest_configure(config: pytest.Config) -> None:
    """Limit the CPU of each test, unless its lines are being counted; seldom look for garbage among what stays."""
    gc.set_threshold(100_000, 50, 100)
    if not config.getoption("cov_source", None):
        config.pluginmanager.register(CpuLimit(), "cpu_limit")  # -p no:cpu_limit leaves it out


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser, so that `make check` can leave it out."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


def pytest_collection_finish() -> None:
    """Look for garbage among what is new alone: thousands of tests and parsed modules stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def shared_folder() -> Path | None:
    """The shared folder if the environment names one (as CI does), or stands beside the project."""
    named = os.environ.get("STRAT_SHARED")
    if named:
        return Path(named).resolve()
    beside = Path(__file__).resolve().parents[2] / "shared"
    return beside if beside.is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared folder; without one the test is skipped, and a named one that is missing is a failure."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("STRAT_SHARED is not set: real data and reference values are not here")
    assert folder.is_dir(), f"STRAT_SHARED names {folder}, which is not a folder"
    return folder


@pytest.fixture(scope="session")
def predictions() -> dict[str, np.ndarray]:
    """Two thousand predictions: 4 strata × 15 units, three classes, weights, a score; rows of a unit are alike."""
    rng = np.random.default_rng(7)
    n = 2000
    unit = rng.integers(0, 60, n)
    truth = rng.choice(["ant", "bee", "cat"], n)
    right = rng.random(n) < 1 / (1 + np.exp(-0.8 - rng.normal(0, 0.9, 60)[unit]))
    other = np.array(["ant", "bee", "cat"])[rng.integers(0, 3, n)]
    return {
        "subject": np.array(["art", "biology", "chess", "drama"])[unit % 4],
        "passage": unit,
        "truth": truth,
        "guess": np.where(right, truth, other),
        "weight": rng.integers(1, 4, n).astype(float),
        "score": np.round(rng.random(n) * 0.6 + 0.4 * (truth == "cat"), 2),
        "cat": (truth == "cat").astype(np.int64),
    }


@pytest.fixture
def eval_log() -> Write:
    """A writer of `.eval` logs: `eval_log(path, samples, model=…, status=…)`."""

    def write(path: Path, samples: list[dict[str, Any]], **about: Any) -> Path:
        status = about.pop("status", "success")
        header = {"version": 2, "status": status, "eval": {"model": "m", "task": "t", "created": "2026", **about}}
        members = {"header.json": json.dumps(header).encode(), "summaries.json": json.dumps(samples).encode()}
        return write_zip(path, members)

    return write


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    """Pictures end with their test, so that none is warned of for those before it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for pages and reports; without it the test is skipped, unless STRAT_BROWSER is set, as CI does."""
    program = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        assert not os.environ.get("STRAT_BROWSER"), "STRAT_BROWSER is set, but Chromium or playwright is missing"
        pytest.skip("Chromium and playwright are not both here")
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()
