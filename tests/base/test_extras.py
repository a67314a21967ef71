"""Every extra is optional: without it the main job runs; what needs it says so in one sentence with its pip line."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from source_trees import assert_none, modules
from strat.base import extras
from strat.base.errors import StratError

ROOT = Path(__file__).parents[2]
OPTIONAL = {
    "learn": ("sklearn", "joblib", "threadpoolctl"),
    "plot": ("matplotlib",),
    "report": ("jinja2", "markupsafe"),
    "logs": ("zstandard",),
    "excel": ("openpyxl",),
    "spark": ("pyspark", "pandas", "pyarrow"),
    "dask": ("dask", "distributed"),
    "speech": ("rapidfuzz",),
    "translation": ("sacrebleu",),
    "detection": ("pycocotools",),
    "gpu": ("torch", "triton"),
}
EVERYTHING = tuple(name for names in OPTIONAL.values() for name in names)
# Runs each program where the packages beside it can't be imported, and prints what it printed and how it ended.
RUN = """
import contextlib, io, json, sys

class Blocked:
    names = ()

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

blocked = Blocked()
sys.meta_path.insert(0, blocked)
endings = []
for blocked.names, program, arguments in json.load(sys.stdin):
    assert not sys.modules.keys() & set(blocked.names), "loaded before it was blocked"
    sys.argv[1:] = arguments
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(program, {})
        except SystemExit as ended:
            code = ended.code or 0
    endings.append((code, out.getvalue(), err.getvalue()))
json.dump(endings, sys.stdout)
"""
# Modules that are loaded by `extras.load` only after the package was found.
BEHIND = (
    "protocols/estimators.py",
    "show/report/page.py",
    "show/report/charts.py",
    "show/report/curve_charts.py",
    "show/report/ladders.py",
    "recognition/gpu/",
    "recognition/blocks.py",
)


class Ending(NamedTuple):
    """How a program ended, and what it printed."""

    code: int
    out: str
    err: str


def endings(folder: Path, *programs: tuple[tuple[str, ...], str, tuple[str, ...]]) -> list[Ending]:
    """How programs with arguments end in one process, where each misses its packages; its other packages are there."""
    ran = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, input=json.dumps(programs), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return [Ending(*ending) for ending in json.loads(ran.stdout)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundled example as CSV and as Parquet."""
    import duckdb

    from strat.datasets.example import example_path

    made = tmp_path_factory.mktemp("base")
    (made / "a.csv").write_bytes(example_path().read_bytes())
    duckdb.sql(f"copy (from '{made / 'a.csv'}') to '{made / 'a.parquet'}' (format parquet)")
    return made


MAIN = "from strat.cli import main\nmain()"
ASK = ("--truth", "label", "--strata", "subject", "--units", "passage")


PAIR = ("compare", "--predicted", "guess", "--predicted", "baseline")
LIBRARY = """
import strat
roles = {"truth": "label", "strata": "subject", "units": "passage"}
found = strat.evaluate("a.csv", predicted="guess", **roles)
print(found, strat.explain(found), sep="\\n")
board = strat.compare("a.parquet", predicted=["guess", "baseline"], **roles)
print(board, board.pvalue, strat.look("a.csv"), sep="\\n")
columns = {"truth": [0, 1, 1, 0] * 5, "predicted": [0, 1, 0, 0] * 5}
print(strat.evaluate(columns, truth="truth", predicted="predicted", metrics="f1", positive=1))
probes, gallery, subjects = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [0.1, 1.0]], ["a", "b"]
of = {"probe_subjects": subjects, "gallery_subjects": subjects, "score": "cosine"}
print(strat.recognition.ranks_of_embeddings(probes, gallery, **of))
print(strat.protocols, strat.plot, strat.show.report, strat.planning.rows_for_width(width=0.1, proportion=0.8))
"""


def test_the_library_and_the_commands_need_no_extra(folder: Path) -> None:
    commands = [
        ((*EVERYTHING, "rich"), MAIN, (command[0], file, *ASK, *command[1:]))
        for command in (("evaluate", "--predicted", "guess"), PAIR)
        for file in ("a.csv", "a.parquet")
    ]
    for one in endings(folder, *commands, (EVERYTHING, LIBRARY, ())):
        assert one.code == 0, one
        assert "accuracy" in one.out, one
        assert "95 %" in one.out, one


TASKS = {
    "learn": "strat.cross_validate(object(), [[0.0], [1.0]] * 10, [0, 1] * 10)",
    "plot": "evaluated.plot()",
    "report": "evaluated.report('r.html')",
    "logs": "open('a.csv.zst', 'wb').write(b'x'); strat.evaluate('a.csv.zst', truth='a', predicted='b')",
    "excel": "open('a.xlsx', 'wb').write(b'PK'); strat.evaluate('a.xlsx', truth='a', predicted='b')",
    "speech": "strat.wer(['a b'], ['a c'])",
    "translation": "strat.bleu(['a b'], ['a c'])",
    "detection": "strat.coco_ap({'images': [{'id': 1}], 'categories': [{'id': 7}], "
    "'annotations': [{'id': 1, 'image_id': 1, 'category_id': 7, 'bbox': [0, 0, 9, 9], 'area': 81, 'iscrowd': 0}]}, "
    "[{'image_id': 1, 'category_id': 7, 'bbox': [0, 0, 9, 9], 'score': 0.9}])",
    "gpu": "strat.recognition.ranks_of_embeddings("
    "[[1.0, 0.0]], [[1.0, 0.1]], probe_subjects=['a'], gallery_subjects=['a'], score='cosine', device='cuda')",
}


def test_every_extra_but_those_of_frames_has_a_task() -> None:
    """A frame of Spark or Dask brings its own library."""
    assert set(OPTIONAL) - set(TASKS) == {"spark", "dask"}


def _task(extra: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    program = f"""
import strat
evaluated = strat.evaluate("a.csv", truth="label", predicted="guess", units="passage")
try:
    {TASKS[extra]}
except strat.StratError as error:
    print(error)
"""
    return OPTIONAL[extra], program, ()


COMMANDS = {
    "plot": ("rank", "scores.csv", "--higher-is-better", "--plot", "p.png"),
    "report": ("evaluate", "a.csv", *ASK, "--predicted", "guess", "--html", "r.html"),
    "logs": ("evaluate", "b.csv.zst", *ASK, "--predicted", "guess"),
    "excel": ("evaluate", "b.xlsx", *ASK, "--predicted", "guess"),
}


@pytest.fixture(scope="module")
def refused(folder: Path) -> dict[str, Ending]:
    """How each task and each command ends without its extra."""
    (folder / "scores.csv").write_text("set,a,b,c\nx,0.9,0.8,0.7\ny,0.8,0.7,0.9\nz,0.6,0.5,0.4\n")
    (folder / "b.csv.zst").write_bytes(b"x")
    (folder / "b.xlsx").write_bytes(b"PK")
    commands = [(OPTIONAL[extra], MAIN, COMMANDS[extra]) for extra in COMMANDS]
    names = [*TASKS, *(f"{extra} command" for extra in COMMANDS)]
    return dict(zip(names, endings(folder, *map(_task, TASKS), *commands), strict=True))


@pytest.mark.parametrize("extra", TASKS)
def test_the_library_names_the_missing_extra(extra: str, refused: dict[str, Ending]) -> None:
    ending = refused[extra]
    assert ending.code == 0, ending
    assert f'; pip install "strateval[{extra}]"' in ending.out
    assert ending.out.endswith(".\n")
    assert ending.out.count("\n") == 1


@pytest.mark.parametrize("extra", COMMANDS)
def test_the_command_line_names_the_missing_extra(extra: str, refused: dict[str, Ending]) -> None:
    ending = refused[f"{extra} command"]
    assert ending.code == 1, ending
    assert f'; pip install "strateval[{extra}]"' in ending.err
    assert ending.err.startswith("strat: ")
    assert ending.err.count("\n") == 1


def test_a_package_that_is_there_and_broken_stays_a_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zstandard.py").write_text("import a_module_that_nobody_has\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zstandard", raising=False)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
        extras.load("zstandard")


def test_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(StratError, match=r"^Logging to MLflow needs the package mlflow; pip install mlflow\.$"):
        extras.load("mlflow")
    with pytest.raises(
        StratError, match=r'^It needs the package openpyxl; pip install "strateval\[excel\]", or not\.$'
    ):
        extras.load("openpyxl", what="It", otherwise=", or not")


# ---- what is declared is what is used


def declared() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names: dict[str, list[str]] = project["optional-dependencies"]
    return names


def test_every_install_line_names_an_extra_that_holds_the_package() -> None:
    for needed in extras.NEEDED.values():
        if "[" in needed.install:
            extra = needed.install.removeprefix("strateval[").removesuffix("]")
            assert any(line.startswith(needed.package) for line in declared()[extra]), needed


def test_all_extras_are_in_all() -> None:
    everything = declared()["all"][0].removeprefix("strateval[").removesuffix("]").split(",")
    assert set(everything) == set(declared()) - {"all"} == set(OPTIONAL)


def test_no_module_imports_an_extra_by_itself() -> None:
    assert_none(
        f"{module.name}:{node.lineno}: {ast.unparse(node)}"
        for module in modules()
        if not module.name.startswith(BEHIND) and module.name != "data/integrity.py"
        for node in set(module.nodes) - _of_types_only(module.nodes)
        if isinstance(node, ast.Import | ast.ImportFrom) and _packages(node) & set(extras.NEEDED)
    )


def _of_types_only(nodes: Iterable[ast.AST]) -> set[ast.AST]:
    """What stands below `if TYPE_CHECKING`."""
    guards = (node for node in nodes if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    return {inner for guard in guards for inner in ast.walk(guard)}


def _packages(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The packages that a statement imports."""
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return {name.partition(".")[0] for name in names}
