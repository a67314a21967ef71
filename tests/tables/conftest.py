"""Archives as a harness writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from writing_logs import Write, write_zip


@pytest.fixture
def eval_log() -> Write:
    """A writer of `.eval` logs: `eval_log(path, samples, model=…, status=…)`."""

    def write(path: Path, samples: list[dict[str, Any]], **about: Any) -> Path:
        status = about.pop("status", "success")
        header = {"version": 2, "status": status, "eval": {"model": "m", "task": "t", "created": "2026", **about}}
        members = {"header.json": json.dumps(header).encode(), "summaries.json": json.dumps(samples).encode()}
        return write_zip(path, members)

    return write
