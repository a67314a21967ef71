"""The examples run from start to end on generated recognisers, where the real data is absent."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "recognition"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cvpr_figures.py", "real_runs.py"])
def test_example_runs_without_the_data(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("STRAT_SHARED", str(tmp_path / "nothing"))
    monkeypatch.setattr(sys, "argv", [name] + ([str(tmp_path)] if name == "cvpr_figures.py" else []))
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    said = capsys.readouterr().out
    assert "generated" in said
    if name == "cvpr_figures.py":
        assert sorted(p.name for p in tmp_path.glob("*.png")) == [f"cvpr_{k}.png" for k in range(1, 9)]
        assert "Figure 7" in said
