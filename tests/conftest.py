"""What all tests share: where the shared folder is, and hypothesis profiles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("strat", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("strat")


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
