"""Installs each archive alone in a fresh environment and does the main job there (`make test-dist`)."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

EVALUATE = "evaluate p.csv --truth label --predicted guess --strata subject --units passage --json"
COMPARE = "compare p.csv --truth label --predicted guess --predicted baseline --strata subject --units passage --json"
REPORT = "evaluate p.csv --truth label --predicted guess --units passage --html r.html"


def try_archive(archive: Path) -> None:
    """The commands of the installed archive, first without any extra, then with a report."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(f"{folder}/env", with_pip=True)
        binaries = Path(folder, "env", "bin")

        def run(*words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == expect, (words, done.stdout, done.stderr)
            return done

        def strat(line: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
            return run(str(binaries / "strat"), *line.split(), expect=expect)

        run(str(binaries / "python"), "-m", "pip", "install", "--quiet", str(archive))
        strat("demo --copy p.csv")
        assert json.loads(strat(EVALUATE).stdout)["rows"] == 1185
        assert json.loads(strat(COMPARE).stdout)["schema"].startswith("strat/")
        assert 'pip install "strateval[report]"' in strat(REPORT, expect=1).stderr
        run(str(binaries / "python"), "-m", "pip", "install", "--quiet", f"{archive}[report]")
        strat(REPORT)
        assert Path(folder, "r.html").stat().st_size > 10_000


if __name__ == "__main__":
    for name in sys.argv[1:]:
        try_archive(Path(name).resolve())
        print(f"{name}: installed, and does the main job")
