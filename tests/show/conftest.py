"""The jobs of the page start as copies of a process that has imported what they need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import warm
from strat.show.local_page import jobs


@pytest.fixture(autouse=True, scope="session")
def warm_jobs() -> Iterator[None]:
    """What a job does is the same, its start is quicker; `strat open` itself is started in test_page_server.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "PROCESSES", warm.CONTEXT)
        yield
