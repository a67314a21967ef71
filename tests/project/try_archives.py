"""Looks into each archive, installs it alone in a fresh environment and does the main job there (`make test-dist`)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

EVALUATE = "evaluate p.csv --truth label --predicted guess --strata subject --units passage --json"
COMPARE = "compare p.csv --truth label --predicted guess --predicted baseline --strata subject --units passage --json"
REPORT = "evaluate p.csv --truth label --predicted guess --units passage --html r.html"


BESIDE = {
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
    ".gitignore",
}
MACHINE = re.compile(rb"/(?:home|root|Users|work|tmp/[a-z]+)/[\w.-]+/|file:///")  # a path of the machine that built it


def contents(archive: Path) -> dict[str, bytes]:
    """From the path of each file in an archive to what it holds, the source archive's own folder left out."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(archive) as packed:
        files = [(member.name.partition("/")[2], packed.extractfile(member)) for member in packed if member.isfile()]
        return {name: file.read() for name, file in files if file is not None}


def look_into(archive: Path) -> str:
    """The version of an archive, which holds the package and what describes it, and nothing of any machine."""
    held = contents(archive)
    source = "src/" if archive.name.endswith(".tar.gz") else ""
    package, plugin = f"{source}strat/", f"{source}strat_pytest.py"
    beside = {name for name in held if not name.startswith((package, plugin)) and ".dist-info/" not in name}
    assert beside <= BESIDE, beside - BESIDE
    assert {f"{package}py.typed", plugin} <= set(held)
    told = {name: found[0] for name, text in held.items() if (found := MACHINE.findall(text))}
    assert told == {}, told
    metadata = next(text for name, text in held.items() if name.endswith(("METADATA", "PKG-INFO")))
    version = re.search(rb"^Version: (.*)$", metadata, re.MULTILINE)
    assert version is not None
    return version[1].decode().strip()


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
        assert strat("--version").stdout.split()[-1] == look_into(archive)
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
