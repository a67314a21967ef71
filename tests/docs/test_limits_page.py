"""The limits that docs/limits.md states are those of the code."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_the_page_has_the_limits_of_the_code() -> None:
    path = Path(__file__).parents[2] / "docs" / "limits.py"
    spec = importlib.util.spec_from_file_location("limits_of_docs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.PAGE.read_text(encoding="utf-8")
    assert len(module.limits()) > 15
    assert module.replaced(page, "limits", module.limits()) == page, "run python docs/limits.py"
