"""Every Python block of the README and of the documentation runs, page by page, in one namespace a page."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def blocks(page: Path) -> list[tuple[int, str]]:
    text = page.read_text(encoding="utf-8")
    return [(text[: m.start()].count("\n") + 2, m.group(1)) for m in BLOCK.finditer(text)]


def with_code() -> list[Path]:
    return [page for page in PAGES if "_build" not in page.parts and blocks(page)]


def test_there_is_something_to_run() -> None:
    assert ROOT / "README.md" in with_code()


@pytest.mark.parametrize("page", with_code(), ids=lambda p: str(p.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "documented"}
    for line, code in blocks(page):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    plt.close("all")
