"""Every extra is optional: without it the main job runs; what needs it says so in one sentence with its pip line."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import warm
from strat.base import extras
from strat.base.errors import StratError

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "strat"
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
BLOCK = """
import sys

assert not set(BLOCKED) & set(sys.modules)

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
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


def without(names: tuple[str, ...], program: str, folder: Path, *arguments: str, afresh: bool = False) -> warm.Outcome:
    """The program, run where the packages can't be imported and have not been; `afresh` by a new interpreter."""
    code = f"BLOCKED = {names!r}{BLOCK}{program}"
    if not afresh:
        return warm.run(code, *arguments, cwd=folder)
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return warm.Outcome(done.returncode, done.stdout, done.stderr)


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


@pytest.mark.parametrize("file", ["a.csv", "a.parquet"])
@pytest.mark.parametrize(
    "command", [("evaluate", "--predicted", "guess"), ("compare", "--predicted", "guess", "--predicted", "baseline")]
)
def test_the_commands_need_no_extra(command: tuple[str, ...], file: str, folder: Path) -> None:
    afresh = (command[0], file) == ("evaluate", "a.csv")
    done = without((*EVERYTHING, "rich"), MAIN, folder, command[0], file, *ASK, *command[1:], afresh=afresh)
    assert done.code == 0, done.err
    assert "accuracy" in done.out
    assert "95 %" in done.out


def test_the_library_needs_no_extra(folder: Path) -> None:
    program = """
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
    done = without(EVERYTHING, program, folder, afresh=True)
    assert done.code == 0, done.err
    assert "accuracy" in done.out


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


@pytest.mark.parametrize("extra", TASKS)
def test_the_library_names_the_missing_extra(extra: str, folder: Path) -> None:
    program = f"""
import strat
evaluated = strat.evaluate("a.csv", truth="label", predicted="guess", units="passage")
try:
    {TASKS[extra]}
except strat.StratError as error:
    print(error)
"""
    done = without(OPTIONAL[extra], program, folder)
    assert done.code == 0, done.err
    assert f'; pip install "strateval[{extra}]"' in done.out
    assert done.out.endswith(".\n")
    assert done.out.count("\n") == 1


COMMANDS = {
    "plot": ("rank", "scores.csv", "--higher-is-better", "--plot", "p.png"),
    "report": ("evaluate", "a.csv", *ASK, "--predicted", "guess", "--html", "r.html"),
    "logs": ("evaluate", "b.csv.zst", *ASK, "--predicted", "guess"),
    "excel": ("evaluate", "b.xlsx", *ASK, "--predicted", "guess"),
}


@pytest.mark.parametrize("extra", COMMANDS)
def test_the_command_line_names_the_missing_extra(extra: str, folder: Path) -> None:
    (folder / "scores.csv").write_text("set,a,b,c\nx,0.9,0.8,0.7\ny,0.8,0.7,0.9\nz,0.6,0.5,0.4\n")
    (folder / "b.csv.zst").write_bytes(b"x")
    (folder / "b.xlsx").write_bytes(b"PK")
    done = without(OPTIONAL[extra], MAIN, folder, *COMMANDS[extra])
    assert done.code == 1, (done.out, done.err)
    assert f'; pip install "strateval[{extra}]"' in done.err
    assert done.err.startswith("strat: ")
    assert done.err.count("\n") == 1


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


@pytest.mark.parametrize("module", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_module_imports_an_extra_by_itself(module: Path) -> None:
    place = module.relative_to(SOURCE).as_posix()
    if place.startswith(BEHIND):
        return
    tree = ast.parse(module.read_text(encoding="utf-8"))
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        roots = {name.partition(".")[0] for name in names} & set(extras.NEEDED)
        assert not roots or node in typing_only or place == "data/integrity.py", f"{place}:{node}"
