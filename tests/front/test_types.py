"""What a type checker sees of the front: right programs pass, and every wrong line is reported."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RIGHT, WRONG = HERE / "user_programs_right.py", HERE / "user_programs_wrong.py"


def _mypy(cache: Path) -> set[tuple[str, int]]:
    """Where mypy finds errors, as a user without our settings calls it."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={cache}", "--ignore-missing-imports"]
    answer = subprocess.run([*command, RIGHT, WRONG], capture_output=True, text=True, check=False)
    assert answer.returncode in (0, 1), answer.stdout + answer.stderr
    found = re.findall(r"^(.*\.py):(\d+): error", answer.stdout, flags=re.MULTILINE)
    return {(Path(file).name, int(line)) for file, line in found}


def _pyright(_: Path) -> set[tuple[str, int]]:
    if not (program := shutil.which("pyright") or shutil.which("basedpyright")):
        pytest.skip("pyright is not installed")
    command = [program, "--outputjson", "--pythonpath", sys.executable, str(RIGHT), str(WRONG)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [one for one in json.loads(answer.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    return {(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in found}


@pytest.mark.slow  # ten seconds: the whole library is checked as a user's mypy does, with nothing kept from before
@pytest.mark.parametrize("checker", [_mypy, _pyright])
def test_wrong_lines_are_reported_and_right_programs_pass(
    checker: Callable[[Path], set[tuple[str, int]]], tmp_path: Path
) -> None:
    lines = WRONG.read_text().splitlines()
    wrong = {(WRONG.name, number) for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) > 15
    assert checker(tmp_path / "cache") == wrong
