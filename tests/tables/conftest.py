"""Tables that the tests of this folder share, and archives as a harness writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from writing_logs import Write, write_zip


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
