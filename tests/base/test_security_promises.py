"""What SECURITY.md promises, held one by one."""

from __future__ import annotations

import ast
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from command_cases import Program, listing, put, table
from source_trees import SOURCE, assert_none, nodes
from strat.base.errors import StratError
from strat.data import files, read_logs
from strat.data.untrusted import Limits
from strat.verbs import evaluate

PROJECT = SOURCE.parents[1]
ASK = ("--truth", "truth", "--predicted", "guess", "--strata", "subject", "--units", "passage", "--nested")

# `strat open` listens on the loopback address, and asks the system to open a file in the browser
LISTENS = {"show/local_page/server.py": {"http", "socket", "urllib"}, "cli/open.py": {"webbrowser"}}

NO_SOCKETS = """
import sys
def watch(event, arguments):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.bind", "urllib", "http.client")):
        print("NETWORK", event, arguments, file=sys.stderr)
        import os; os._exit(99)
sys.addaudithook(watch)
from strat.cli import main
main()
"""


@cache
def calls() -> tuple[tuple[str, str, ast.Call], ...]:
    """Every call of the library: its module, its dotted name, and itself."""
    return tuple((module, ast.unparse(node.func), node) for module, node in nodes(ast.Call))


def imported() -> Iterator[tuple[str, str]]:
    """Every module of the library with each package that it imports."""
    for module, node in nodes(ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            yield from ((module, alias.name.split(".")[0]) for alias in node.names)
        elif node.module and not node.level:
            yield module, node.module.split(".")[0]


# ---- 1 and 2: no network, no telemetry


def test_no_module_imports_the_network_or_runs_programs() -> None:
    network = {"urllib", "requests", "httpx", "aiohttp", "http", "socket", "ftplib", "smtplib", "ssl", "webbrowser"}
    programs = {"subprocess", "shelve", "dill", "cloudpickle", "marshal"}
    imports = [
        f"{module} imports {package}"
        for module, package in imported()
        if package in programs or package in network - LISTENS.get(module, set())
    ]
    code = {"eval", "exec", "compile", "os.system", "os.popen", "__import__", "pickle.load", "pickle.loads"}
    runs = [f"{module}:{call.lineno} calls {name}" for module, name, call in calls() if name in code]
    assert_none(imports + runs)


class Watched(NamedTuple):
    """A report that was made while the sockets were watched, and the folders that were new and empty before."""

    ended: subprocess.CompletedProcess[str]
    home: Path
    work: Path
    temporary: Path


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    home, work, temporary = (tmp_path_factory.mktemp(name) for name in ("home", "work", "tmp"))
    put(work, "a.csv", table())
    kept = {k: v for k, v in os.environ.items() if k not in ("MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    environment = {**kept, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = run_watched("evaluate", "a.csv", *ASK, "--html", "r.html", cwd=work, env=environment)
    return Watched(ended, home, work, temporary)


def run_watched(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", NO_SOCKETS, *arguments], capture_output=True, text=True, check=False, **options
    )


def test_no_socket_is_opened(watched: Watched) -> None:
    assert "NETWORK" not in watched.ended.stderr, watched.ended.stderr
    assert watched.ended.returncode == 0, watched.ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("demo", "--out", "d.html"), ("--version",)], ids=["demo", "version"])
def test_no_socket_is_opened_by_the_demonstration(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ended = run_watched(*arguments, cwd=tmp_path)
    assert "NETWORK" not in ended.stderr, ended.stderr
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "address", ["https://example.invalid/a.csv", "s3://b/a.parquet", "hf://d/a.csv", "ftp://x/a.csv"]
)
def test_an_address_is_a_file_that_is_not_there(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def connected(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", connected)
    with pytest.raises(StratError, match="must name files that exist"):
        evaluate(address, truth="a", predicted="b")


def test_the_engine_may_not_fetch_extensions() -> None:
    engine = files.connect()
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        assert engine.execute(f"select current_setting('{name}')").fetchone()[0] is False


def test_a_report_fetches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, "a.csv", table())
    assert Program(capsys)("evaluate", path, *ASK, "--html", tmp_path / "r.html", "-q").code == 0
    page = (tmp_path / "r.html").read_text()
    assert not re.findall(r"""(?:src|action|xlink:href)\s*=\s*["'](?!data:|#)[^"']+""", page)
    assert not re.findall(r"<link[^>]+href=[\"'](?!data:)", page)
    assert not re.findall(r"url\((?!['\"]?(?:data:|#))", page)
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+'", page)
    assert "fetch(" not in page
    assert "XMLHttpRequest" not in page


def test_nothing_is_left_behind(watched: Watched) -> None:
    """Home, working and temporary folders are as before; only the named report is new."""
    assert listing(watched.home) == {}
    assert listing(watched.temporary) == {}
    assert listing(watched.work).keys() == {"a.csv", "r.html"}


# ---- 3: no pickle


def test_arrays_are_loaded_without_objects() -> None:
    loaders = ("joblib.load", "torch.load", "pd.read_pickle", "pandas.read_pickle", "pickle.Unpickler")
    assert_none(
        f"{module}:{call.lineno} calls {name}"
        for module, name, call in calls()
        if name in loaders  # NumPy's own default of `allow_pickle` is False, too
        or any(k.arg == "allow_pickle" and ast.unparse(k.value) != "False" for k in call.keywords)
    )


class Touch:
    """An object whose pickle would make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("a.npy", ("array",)),
        ("a.npy", ("chance",)),
        ("a.npy", ("recognize", "--similarity")),
        ("a.npz", ("recognize", "--similarity")),
        ("a.npz", ("recognize", "--per-subject", "2", "--images")),
        ("a.pkl", ("evaluate",)),
        ("a.pt", ("evaluate",)),
        ("a.joblib", ("rank", "--higher-is-better")),
    ],
)
def test_a_pickle_does_not_run(
    name: str, arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pickle

    owned, path = tmp_path / "owned", tmp_path / name
    if name.endswith(".npy"):
        np.save(path, np.array([Touch(owned)], object), allow_pickle=True)
    elif name.endswith(".npz"):
        np.savez(path, embeddings=np.array([Touch(owned)], object), subject=np.zeros(1))
    else:
        path.write_bytes(pickle.dumps(Touch(owned)))
    ended = Program(capsys)(*arguments, path)
    assert ended.code == 1, ended
    assert not owned.exists()


# ---- 4: data, never code (labels are in test_hostile_labels.py)


def test_templates_escape_by_default() -> None:
    from strat.show.report import page

    assert page._template().environment.autoescape is True
    for template in SOURCE.rglob("*.j2"):
        assert "|safe" not in re.sub(r"\s", "", template.read_text(encoding="utf-8"))


# ---- 5: limits


def log(folder: Path, **sizes: int) -> tuple[Path, Limits]:
    import zipfile

    header = {"version": 2, "status": "success", "eval": {"model": "m", "task": "t"}}
    rows = [{"id": i, "epoch": 1, "scores": {"m": {"value": i % 2}}} for i in range(300)]
    with zipfile.ZipFile(folder / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", json.dumps(rows))
    return folder / "a.eval", Limits(**sizes)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"member": 1000}, "unpack to at most 1,000 bytes"),
        ({"archive": 5000}, "at most 5,000 bytes in all"),
        ({"members": 1}, "at most 1 members"),
    ],
)
def test_limits_of_archives(sizes: dict[str, int], said: str, tmp_path: Path) -> None:
    path, limits = log(tmp_path, **sizes)
    with pytest.raises(StratError, match=said):
        read_logs(path, limits=limits)


def test_limits_of_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "m/samples_t_2026-01-01T00-00-00.jsonl", json.dumps({"doc_id": 1, "x": "y" * 5000}) + "\n")
    with pytest.raises(StratError, match="line 1, must be at most 1,000 bytes"):
        read_logs(path.parent, limits=Limits(line=1000))


def test_the_page_tells_the_limits_of_the_code() -> None:
    page = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
    limits = Limits()
    for number in (
        f"{limits.member >> 30} GiB",
        f"{limits.ratio:,} times",
        f"{limits.archive >> 30} GiB",
        f"{limits.members:,} members",
        f"{limits.line >> 20} MiB",
    ):
        assert number in page
    named = set(re.findall(r"`(tests/[a-z_/]+\.py)`", page))
    assert len(named) > 8
    assert [name for name in sorted(named) if not (PROJECT / name).exists()] == []


# ---- 6: whole or not at all


def test_only_one_place_writes_files() -> None:
    """Whoever writes goes through the function that replaces files whole."""
    writers = []
    for module, name, call in calls():
        modes = [a.value for a in [*call.args, *(k.value for k in call.keywords)] if isinstance(a, ast.Constant)]
        opens = name.endswith("open") and any(isinstance(m, str) and re.fullmatch("[wax]b?\\+?", m) for m in modes)
        if opens or name.endswith((".write_text", ".write_bytes")):
            writers.append(module)
    made_here = {"datasets/example.py"}  # the bundled file, made by the developers
    copied_here = {"data/excel.py"}  # a sheet as CSV in a private temporary folder, which is deleted at once
    assert set(writers) == {"base/files.py"} | made_here | copied_here


# ---- 7: the catalogue is as long as it says


def test_the_catalogue_has_more_than_five_hundred_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("cli", "data", "front", "show"):
        monkeypatch.syspath_prepend(Path(__file__).parents[1] / room)
    import test_absurd_command_lines
    import test_broken_logs
    import test_broken_tables
    import test_labels_are_never_code
    import test_wrong_types_and_extremes

    called = [test_broken_tables, test_broken_logs, test_absurd_command_lines, test_labels_are_never_code]
    names = [entry.name for module in called for entry in module.case.cases]
    assert len(names) == len(set(names))
    labels = len(test_labels_are_never_code.LABELS) * len(test_labels_are_never_code.FORMS)
    assert len(names) >= 400
    assert len(names) + labels + len(test_wrong_types_and_extremes.REFUSED) >= 500


# ---- every promise has its tests

HELD = {
    1: {"base/test_security_promises": "no_socket_is_opened an_address_is_a_file a_report_fetches_nothing"},
    2: {
        "base/test_security_promises": "nothing_is_left_behind",
        "cli/test_output_files": "the_engine_spills",
    },
    3: {
        "base/test_security_promises": "arrays_are_loaded_without_objects a_pickle_does_not_run",
        "cli/test_absurd_command_lines": "a_hostile_call",
        "data/test_broken_tables": "a_hostile_table",
    },
    4: {
        "show/test_labels_are_never_code": "a_label_stays_a_label a_label_on_the_command_line",
        "base/test_escaped_labels": "nothing_that_a_terminal_acts_on_is_written no_spreadsheet_runs_a_label",
    },
    5: {
        "data/test_broken_logs": "a_hostile_log nothing_of_an_archive_reaches_the_disk",
        "base/test_security_promises": "limits_of_archives the_page_tells_the_limits_of_the_code",
        "data/test_memory_of_small_files": "an_array_of_packed_zeros_is_refused a_line_without_an_end_is_refused",
    },
    6: {
        "cli/test_failures_of_the_machine": "killed_while_writing_the_old_file_stays a_full_disk",
        "show/test_labels_are_never_code": "a_hostile_place",
        "cli/test_absurd_command_lines": "a_hostile_call",
        "cli/test_output_files": "results_never_go_over two_results_do_not_share a_file_keeps_its",
    },
    7: {
        "cli/test_absurd_command_lines": "a_hostile_call",
        "data/test_broken_tables": "a_hostile_table",
        "data/test_broken_logs": "a_hostile_log",
        "front/test_wrong_types_and_extremes": "refused_in_one_sentence",
        "front/test_absurd_arguments": "some_absurd_values",
        "data/test_bent_files": "bent_files random_bytes",
        "cli/test_failures_of_the_machine": "ctrl_c_ends_with_130_and_one_line",
        "verbs/test_stored_baseline": "a_damaged_file_is_one_sentence",
    },
    8: {
        "cli/test_failures_of_the_machine": "a_file_that_grows_while_it_is_read a_table_that_grows_under_the_engine",
        "data/test_damaged_files": "a_file_that_is_replaced_between_two_passes_is_refused",
    },
    9: {"data/test_damaged_files": "a_wrong_offset a_gzip_file a_parquet_page"},
    10: {
        "show/test_page_rules": "without_the_secret names_that_rebind posts_of_other_sites an_upload_stays",
        "show/test_page_server": "it_listens_on_the_loopback it_closes_with_the_terminal",
        "show/test_page_attacks": "no_request_ends no_upload_outlives_the_page no_more_jobs",
    },
}


def promises() -> dict[int, str]:
    """The promises of the page by their number."""
    page = (PROJECT / "SECURITY.md").read_text(encoding="utf-8").partition("## What is not promised")[0]
    return {
        int(number): text
        for number, text in re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", page, re.DOTALL | re.MULTILINE)
    }


def test_every_promise_is_numbered_and_has_tests() -> None:
    assert list(promises()) == list(HELD) == list(range(1, len(HELD) + 1))


@pytest.mark.parametrize("number", HELD)
def test_the_tests_of_a_promise_are_there_and_named_on_the_page(number: int) -> None:
    named = set(re.findall(r"`tests/([a-z/_]+)\.py`", promises()[number]))
    assert set(HELD[number]) <= named
    for file in named:
        source = (PROJECT / "tests" / f"{file}.py").read_text(encoding="utf-8")
        functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        for start in HELD[number].get(file, "").split():
            assert any(name.startswith(f"test_{start}") for name in functions), f"{file}: {start}"
