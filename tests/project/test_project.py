"""The package itself: one version, one name, a lock that is whole, targets that exist, rooms that mirror the source."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import listing
import pytest

import strat

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BESIDE = {"docs", "front", "laws", "oracles", "project", "record", "reproduce", "validation"}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def kept() -> list[Path]:
    """The text files of the project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        pytest.skip("this is no git checkout")
    ends = (".md", ".py", ".toml", ".yml", ".cff", ".txt", "Makefile", ".ci/run")
    return [ROOT / name for name in listed if name.endswith(ends) and (ROOT / name).is_file()]


# ---- one name, one version


def test_the_version_has_one_source() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/strat/__init__.py"
    cited = dict(
        re.findall(r"^(version|date-released): \"?([^\"\n]*)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    )
    assert cited["version"] == strat.__version__
    latest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert latest is not None
    assert latest[1] == f"{cited['version']} ({cited['date-released']})"


def test_what_is_installed_is_this_version() -> None:
    try:
        installed = version("strateval")
    except PackageNotFoundError:
        pytest.skip("the distribution is not installed: the tests run from a folder")
    assert installed == strat.__version__, "install again: the version has changed since"


def test_the_distribution_is_never_called_by_the_name_of_another_project() -> None:
    assert PROJECT["project"]["name"] == "strateval"
    wrong = re.compile(
        r"""(?:pip|uv) install ["']?strat(?!eval)|\binstall strat\[|["' ]strat\[(?:gpu|dask|spark|excel)"""
    )
    for file in kept():
        if file != Path(__file__):
            assert not wrong.search(file.read_text(encoding="utf-8")), file


# ---- the lock


def locked() -> dict[str, str]:
    """Package -> the rest of its line (the last one, where a package has one for each Python)."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {line.partition("==")[0]: line.partition("==")[2] for line in lines}


def wanted() -> set[str]:
    """Every package that the project, its extras (but the GPU's) and its groups name."""
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    lines = [*project["dependencies"]]
    lines += [
        line for name, part in project["optional-dependencies"].items() if name not in ("gpu", "all") for line in part
    ]
    lines += [line for part in groups.values() for line in part if isinstance(line, str)]
    return {NAME.match(line)[0].lower().replace("_", "-") for line in lines}  # type: ignore[index]


def test_the_lock_holds_every_package_that_is_named() -> None:
    assert wanted() - set(locked()) == set(), "run `make lock`"


def test_the_lock_holds_versions_and_no_addresses() -> None:
    text = (ROOT / "constraints.txt").read_text()
    assert not re.search(r"://|--|@|#", text)
    assert all(re.match(r"^[a-z0-9.-]+==[\w.]+( ; .*)?$", line) for line in text.splitlines())


# ---- what CI and people call


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("file", [*WORKFLOWS, ROOT / ".ci" / "run", ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_every_target_that_is_called_exists(file: Path) -> None:
    called = set(re.findall(r"(?:^|run: |    )make ([a-z][a-z-]*)", file.read_text(), re.MULTILINE))
    assert called <= targets()
    assert called or "matrix" in file.read_text()


def test_the_workflow_runs_what_the_entry_runs() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "run: .ci/run" in workflow
    assert "run: make check" in workflow
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in workflow
    for python in ("3.11", "3.12", "3.13", "3.14"):
        assert f'"{python}"' in workflow
        assert f"Programming Language :: Python :: {python}" in PROJECT["project"]["classifiers"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda p: p.name)
def test_every_workflow_can_be_read_and_gives_no_more_rights_than_it_needs(file: Path) -> None:
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        assert "timeout-minutes" in job or not any("run" in step for step in job["steps"])


def test_pre_commit_formats_as_the_lint_group_does() -> None:
    pin = next(line for line in PROJECT["dependency-groups"]["lint"] if line.startswith("ruff"))
    pinned = re.findall(r'additional_dependencies: \["(.*)"\]', (ROOT / ".pre-commit-config.yaml").read_text())
    assert pinned == [pin, pin]


# ---- rooms


def test_every_test_file_is_listed_with_what_it_proves() -> None:
    silent = [str(file.relative_to(ROOT)) for file in listing.files() if not listing.first_line(file)]
    assert silent == [], "the first line of a test file says what it proves"
    assert listing.README.read_text(encoding="utf-8") == listing.listing(), "run `python tests/project/listing.py`"


def test_the_tests_mirror_the_source() -> None:
    source = ROOT / "src" / "strat"
    rooms = {path.name.removesuffix(".py") for path in source.iterdir() if path.suffix == ".py" or path.is_dir()}
    folders = {path.name for path in listing.TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - rooms == BESIDE - rooms
    parts = {path.name for path in source.iterdir() if (path / "__init__.py").is_file()}
    assert parts <= folders


def test_no_two_public_classes_share_a_name() -> None:
    from importlib import import_module

    homes: dict[str, set[str]] = {}
    for part in sorted(path.name for path in (ROOT / "src" / "strat").iterdir() if (path / "__init__.py").is_file()):
        if part == "cli":
            continue
        module = import_module(f"strat.{part}")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if isinstance(value, type):
                homes.setdefault(name, set()).add(f"{value.__module__}.{value.__qualname__}")
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


# ---- the programs beside the source


@pytest.mark.costly("imports every program beside the source, with what these import")
def test_programs_beside_the_source_can_be_imported() -> None:
    """A name that moved is noticed where no test runs the program."""
    names = [
        f"{path.parent.name}.{path.stem}"
        for folder in ("benchmarks", "reproduce", "validation")
        for path in sorted((ROOT / folder).glob("*.py"))
        if not path.stem.startswith("__")
    ]
    code = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code, *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert len(names) > 50
    assert done.returncode == 0, done.stderr[-1000:]
