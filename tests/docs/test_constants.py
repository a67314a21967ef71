"""docs/constants.md lists every number of the code that was chosen, and each has a comment beside it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("constants_of_docs", DOCS / "constants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks up its annotations
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_constants_of_the_code(page: ModuleType) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.replaced(text) == text, "run python docs/constants.py"


def test_every_constant_says_what_it_means(page: ModuleType) -> None:
    silent = [f"{one.module}: {one.names}" for one in page.constants() if not one.meaning]
    assert silent == [], "write beside it what it means, and where it comes from"


def test_a_constant_is_a_number_under_a_name_in_capitals(
    page: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "part" / "module.py"
    module.parent.mkdir()
    module.write_text(
        "# where\n# from\nFIRST: float = 1.5\nSECOND, _THIRD = -2, 1 << 20  # both\nSILENT = ((1, 2), 30_000)\n"
        "name = 4\nTEXT = 'a'\nFLAG = True\nOTHER = FIRST\ndef f():\n    INNER = 5\n"
    )
    monkeypatch.setattr(page, "SOURCE", tmp_path)
    found = [(one.names, one.value, one.meaning) for one in page.constants()]
    assert found == [
        ("FIRST", "1.5", "where from"),
        ("SECOND, _THIRD", "-2, 1 << 20", "both"),
        ("SILENT", "((1, 2), 30,000)", ""),
    ]
    assert "| `SECOND, _THIRD` in `module.py` | -2, 1 << 20 | both |" in page.tables()
