"""What is written: never over what is read, with the rights it had, and nowhere else."""

from __future__ import annotations

import gc
import importlib
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_cases import MAIN, Program, in_a_copy, put, table
from strat.base.files import atomic
from strat.data import files, read
from strat.verbs import evaluate
from systems import POSIX

pytestmark = POSIX  # links, modes and closed streams
ASK = ("--truth", "truth", "--predicted", "guess")
OVER = "must name another file than those that are read"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("p1.csv", "p2.csv"):
        put(tmp_path, name, table())
    os.link(tmp_path / "p1.csv", tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to("p1.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("p1.csv", "-op1.csv"),
        ("p1.csv", "-qo", "p1.csv"),
        ("p1.csv", "--output=p1.csv"),
        ("p?.csv", "-o", "p1.csv"),
        ("p[12].csv", "-o", "p2.csv"),
        ("p*.csv", "-o", "hard.csv"),
        ("p1.csv", "-ohard.csv"),
        ("p1.csv", "-o", "soft.csv"),
        ("soft.csv", "-o", "p1.csv"),
    ],
)
def test_results_never_go_over_the_data(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """`-op1.csv`, `-qo p1.csv`, `p?.csv` and hard links overwrote the data with exit code 0."""
    done = Program(capsys)("evaluate", *words, *ASK)
    assert done.code == 1
    assert OVER in done.err
    assert (folder / "p1.csv").read_text() == table()


@pytest.mark.parametrize("option", ["--genuine", "--trials", "--scores", "--labels", "--gallery-labels"])
def test_results_never_go_over_a_file_of_recognize(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    done = Program(capsys)("recognize", option, "p1.csv", "-o", "p1.csv")
    assert done.code == 1
    assert OVER in done.err
    assert (folder / "p1.csv").read_text() == table()


def _logs(folder: Path) -> Path:
    for model, right in (("a", 1.0), ("b", 0.0)):
        place = folder / "logs" / model
        place.mkdir(parents=True)
        lines = [{"doc_id": i, "doc": {}, "acc": right if i % 3 else 1.0, "metrics": ["acc"]} for i in range(30)]
        text = "\n".join(json.dumps(line) for line in lines)
        (place / "samples_t_2026-01-01T00-00-00.jsonl").write_text(text)
        (place / "results_2026-01-01T00-00-00.json").write_text(json.dumps({"model_name": model}))
    return folder / "logs"


@pytest.mark.parametrize("name", ["samples_t_2026-01-01T00-00-00.jsonl", "results_2026-01-01T00-00-00.json"])
def test_results_never_go_over_a_log_in_a_folder_or_beside_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    target = _logs(tmp_path) / "a" / name
    before = target.read_bytes()
    done = Program(capsys)("compare", tmp_path / "logs", "-o", target)
    assert done.code == 1
    assert OVER in done.err
    assert target.read_bytes() == before


def test_results_may_stay_in_a_folder_of_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = _logs(tmp_path)
    for _ in range(2):
        assert Program(capsys)("compare", logs, "-q", "-o", logs / "table.txt").code == 0


def test_two_results_do_not_share_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--html r.html -o r.html` wrote the table over the report."""
    for _ in range(2):
        done = Program(capsys)("evaluate", "p1.csv", *ASK, "--html", "r.html", "-o", "./r.html")
        assert done.code == 1
        assert "must name another file than `--" in done.err
        (folder / "r.html").write_text("old")


def _holds_a_path(hint: Any) -> bool:
    """Path, Path | None, list[Path] | None and the like."""
    return hint is Path or any(_holds_a_path(part) for part in typing.get_args(hint))


def test_every_option_that_is_a_file_is_known_to_be_read_or_written() -> None:
    from strat.cli.app import COMMANDS
    from strat.cli.guard import READS, WRITES

    for name in COMMANDS:
        app = importlib.import_module(f"strat.cli.{name}").command
        for entry in app.registered_commands:
            hints = typing.get_type_hints(entry.callback)
            paths = {key for key, hint in hints.items() if _holds_a_path(hint)}
            options = {option.removeprefix("--").replace("-", "_") for option in (*READS, *WRITES)}
            known = options | {"file", "reference", "hypotheses", "to"}  # arguments, and --output
            assert paths <= known, f"{name}: {paths - known}"


@pytest.mark.parametrize("option", ["--output", "--html"])
@pytest.mark.parametrize("name", ["x.csv.gz", "x.json.zst", "x.md.BZ2", "-"])
def test_no_option_writes_plain_text_under_the_name_of_a_packed_file_or_of_none(
    option: str, name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = Program(capsys)("evaluate", "p1.csv", *ASK, option, name)
    assert result.code == 1
    assert f"`{option}` must name a file" in result.err
    assert not (folder / name).exists()


def test_a_column_is_no_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--predicted guess -o guess` was refused because there is a file called guess."""
    (folder / "guess").write_text("an older result")
    assert Program(capsys)("evaluate", "p1.csv", *ASK, "-o", "guess").code == 0


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    """A private output (0600) became readable by all at every rewrite."""
    path = tmp_path / "r.csv"
    path.write_text("old")
    path.chmod(mode)
    with atomic(path) as file:
        part = next(tmp_path.glob(".r.csv.*"))
        assert stat.S_IMODE(part.stat().st_mode) == mode
        file.write(b"new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_umask_is_obeyed_and_never_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(mask: int) -> int:
        raise AssertionError(f"the umask was set to {mask:o}, for all threads")

    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", changed)
        with atomic(tmp_path / "r.csv") as file:
            file.write(b"new")
        monkeypatch.undo()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "r.csv").stat().st_mode) == 0o640


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250 + ".csv")
    with atomic(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdout", "stderr")])
def test_closed_streams_are_no_error(folder: Path, closed: tuple[str, ...]) -> None:
    """Some schedulers close the streams, which Python then does not have: that ended in an AttributeError."""
    without = "".join(f"os.close(sys.{name}.fileno()); sys.{name} = sys.__{name}__ = None\n" for name in closed)
    ended = in_a_copy("evaluate", "p1.csv", *ASK, before=f"import os, sys\n{without}")
    assert (ended.code, ended.err) == (0, "")


def test_a_program_may_start_without_streams(folder: Path) -> None:
    command = f"{sys.executable} -c '{MAIN}' evaluate p1.csv {' '.join(ASK)} >&- 2>&-"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0


def _many_units(path: Path) -> Path:
    number = np.arange(150_000)
    text = "\n".join(f"{i % 3},{i % 7 % 3},u{i:012d}-{i * 7919 % 400_009:012d}" for i in number.tolist())
    path.write_text("truth,guess,u\n" + text + "\n")
    return path


@pytest.mark.costly("an engine spills only what does not fit into its memory")
def test_the_engine_spills_to_a_private_folder_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine spilled to `.tmp` in the working folder, readable by all."""
    work, temporary = tmp_path / "work", tmp_path / "tmp"
    work.mkdir()
    temporary.mkdir()
    path = _many_units(tmp_path / "u.csv")
    monkeypatch.chdir(work)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    seen: set[str] = set()
    modes: set[int] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            for place in temporary.iterdir():
                try:
                    modes.add(stat.S_IMODE(place.stat().st_mode))
                    seen.update(p.name for p in place.rglob("*"))
                except OSError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        evaluate(read(str(path), memory="25MB"), truth="truth", predicted="guess", units="u")
    finally:
        done.set()
        watcher.join()
    gc.collect()
    assert modes == {0o700}
    assert seen, "nothing was spilled: make the file larger"
    assert not list(work.iterdir())
    assert not list(temporary.iterdir())


def test_the_folder_of_the_engine_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine: Any = files.connect()
    (place,) = tmp_path.iterdir()
    assert engine.execute("select current_setting('temp_directory')").fetchone()[0] == str(place)
    del engine
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_negative_memory_limit_is_refused(folder: Path) -> None:
    """`--memory -1` took the limit away."""
    done = in_a_copy("evaluate", "p1.csv", *ASK, "--memory", "-1")
    assert done.code == 1
    assert "`memory` must be a size" in done.err or "`--memory` must be a size" in done.err
