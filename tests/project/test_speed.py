"""The comparison of speed with a fixed commit: a tree that does more work is seen, a little noise is not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from benchmarks import speed

ROOT = Path(__file__).parents[2]


def tree(folder: Path, work: int) -> Path:
    """A tree whose package does so much work when it is imported."""
    package = folder / "src" / "strat"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"sum(range({work}))\n")
    return folder


def test_a_tree_that_does_more_work_is_slower(tmp_path: Path) -> None:
    trees = (tree(tmp_path / "now", 1_000_000), tree(tmp_path / "then", 100_000))
    now, then = speed.compared(trees, "import strat", rounds=1)
    assert speed.slower({"import strat": now / then}, {"import strat": 1.0}) == ["import strat"]


def test_a_job_that_fails_stops_the_comparison(tmp_path: Path) -> None:
    (tmp_path / "src" / "strat").mkdir(parents=True)
    (tmp_path / "src" / "strat" / "__init__.py").write_text("raise ValueError('broken')\n")
    with pytest.raises(SystemExit, match=r"import strat fails in (?s:.)*broken"):
        speed.seconds(tmp_path, "import strat")


def test_only_a_ratio_far_above_the_stored_one_counts() -> None:
    stored = {"a": 1.0, "b": 1.0, "tiny": 0.01}
    assert speed.slower({"a": 1.55, "b": 1.7, "tiny": 0.1, "new": 9.0}, stored) == ["b"]


def test_every_job_has_a_stored_ratio() -> None:
    assert json.loads(speed.STORED.read_text()).keys() == speed.JOBS.keys(), "run python -m benchmarks.speed --write"


def test_the_commit_is_in_the_history_and_the_weekly_workflow_fetches_it() -> None:
    workflow = (ROOT / ".github" / "workflows" / "weekly.yml").read_text()
    assert "make speed" in workflow
    assert "fetch-depth: 0" in workflow
    known = subprocess.run(["git", "cat-file", "-e", speed.COMMIT], cwd=ROOT, capture_output=True, check=False)
    if known.returncode:
        pytest.skip("the history is not here")
