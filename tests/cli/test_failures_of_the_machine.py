"""Killed while writing, a full disk, Ctrl-C, a file that grows, two runs at one report, a worker that dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import strat.show.render as out
import warm
from command_cases import MAIN, Program, in_a_copy, listing, put, table
from strat.base.errors import StratError
from strat.data.untrusted import stamps_of, unchanged
from systems import LINUX, POSIX

ASK = ("--truth", "truth", "--predicted", "guess", "--strata", "subject", "--units", "passage", "--nested")
OLD = "what was there before\n"


HANG = """
import sys, time, pathlib, strat.show.render as out
real = pathlib.Path.replace
def slow(self, target):
    pathlib.Path(sys.argv[2]).touch()
    time.sleep(60)
    return real(self, target)
pathlib.Path.replace = slow
out.write(pathlib.Path(sys.argv[1]), "new" * 1000)
"""


@POSIX
@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_killed_while_writing_the_old_file_stays(tmp_path: Path, how: str) -> None:
    """However it dies before the end, the old report is whole; only a hidden .part file may stay."""
    folder, ready = tmp_path / "reports", tmp_path / "about to replace"
    path = put(folder, "r.html", OLD)
    program = warm.Program(HANG, path, ready)
    program.wait_for(ready.exists)
    sign = signal.Signals[how]
    program.send(sign)
    assert program.end().code == -sign
    assert path.read_text() == OLD
    assert all(p.name == "r.html" or (p.name.startswith(".r.html.") and p.suffix == ".part") for p in folder.iterdir())


def test_an_interrupt_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "r.html", OLD)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        out.write(path, "new")
    assert listing(tmp_path) == {"r.html": len(OLD)}
    assert path.read_text() == OLD


@POSIX
def test_ctrl_c_ends_with_130_and_one_line(tmp_path: Path) -> None:
    """As a terminal sends it, to a program that has just begun to work, and would for a while."""
    path, ready = put(tmp_path, "a.csv", table()), tmp_path / "ready"
    code = f"open({str(ready)!r}, 'x').close(); {MAIN}"
    long = ("--method", "bootstrap", "--replicates", 10_000_000)
    program = warm.Program(code, "evaluate", path, *ASK, *long, "--html", tmp_path / "r.html")
    program.wait_for(ready.exists)
    time.sleep(0.3)
    program.send(signal.SIGINT)
    ended = program.end()
    assert ended.code != 0, "the machine was faster than the interrupt"
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "strat: interrupted; nothing was left half-written.\n"
    assert listing(tmp_path).keys() == {"a.csv", "ready"}


SMALL_FILES = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
"""


FULL = {
    "a report": lambda f: ("evaluate", f / "a.csv", *ASK, "--html", f / "out.html"),
    "a table": lambda f: ("sample", f / "a.csv", "--size", "1000", "-o", f / "out.csv"),
    "an array": lambda f: ("array", "--columns", "200", "--out", f / "out.csv"),
    "a picture": lambda f: ("plan", "width", "--width", "0.1", "--proportion", "0.5", "--plot", f / "out.png"),
    "the demo": lambda f: ("demo", "--out", f / "out.html"),
}


@POSIX
@pytest.mark.parametrize("make", FULL.values(), ids=FULL.keys())
def test_a_full_disk(make: Callable[[Path], tuple[object, ...]], tmp_path: Path) -> None:
    """No room for more than 4 KiB: one line, exit code 1, the folder as it was."""
    put(tmp_path, "a.csv", table(2000))
    before = listing(tmp_path)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(tmp_path.parent)}
    ended = in_a_copy(*make(tmp_path), before=SMALL_FILES, env=environment)
    assert ended.code == 1, ended
    assert "Traceback" not in ended.err
    named = "strat: `" if make is not FULL["a picture"] else "strat: "  # matplotlib's own files may find no room first
    assert ended.err.strip().split("\n")[-1].startswith(named)
    assert "large" in ended.err or "space" in ended.err, ended.err
    assert listing(tmp_path) == before


@LINUX
def test_standard_output_that_is_full(tmp_path: Path) -> None:
    """In an interpreter of its own, which writes what is left at its very end."""
    path = put(tmp_path, "a.csv", table())
    with Path("/dev/full").open("w") as full:
        made = subprocess.run(
            [sys.executable, "-c", MAIN, "evaluate", str(path), *ASK],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert made.returncode != 0
    assert "Traceback" not in made.stderr


@POSIX
def test_standard_output_that_is_closed_early(tmp_path: Path) -> None:
    path, pipe = put(tmp_path, "a.csv", table(5000)), tmp_path / "pipe"
    os.mkfifo(pipe)
    program = warm.Program(MAIN, "sample", path, "--size", "5000", "--json", out=pipe)
    with pipe.open() as reader:
        reader.readline()
    assert "Traceback" not in program.end().err


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", table())

    def grow() -> None:
        with unchanged(stamps_of([path])), path.open("a") as file:
            file.write("1,1,1,s1,p1,1\n")

    with pytest.raises(StratError, match=r"a\.csv` changed while it was read"):
        grow()


def test_a_file_that_vanishes_while_it_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", table())

    def vanish() -> None:
        with unchanged(stamps_of([path])):
            path.unlink()

    with pytest.raises(StratError, match="changed while it was read"):
        vanish()


def test_a_table_that_grows_under_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that arrive during the group-by are noticed after it."""
    from strat.data.files import source
    from strat.verbs import evaluate

    path = put(tmp_path, "a.csv", table())
    real = source.run

    def growing(*arguments: Any) -> Any:
        with path.open("a") as file:
            file.write("1,1,1,s1,p1,1\n")
        return real(*arguments)

    monkeypatch.setattr(source, "run", growing)
    with pytest.raises(StratError, match="changed while it was read"):
        evaluate(str(path), truth="truth", predicted="guess")


def test_two_runs_writing_one_report(tmp_path: Path) -> None:
    """The file is always one of the whole reports, never a mixture."""
    path, wrong = tmp_path / "r.html", []
    texts = {str(k) * 200_000 for k in range(4)}
    stop = threading.Event()

    def write(text: str) -> None:
        while not stop.is_set():
            out.write(path, text)

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        if path.exists() and path.read_text() not in texts:
            wrong.append(path.stat().st_size)
    stop.set()
    for writer in writers:
        writer.join()
    assert not wrong
    assert listing(tmp_path).keys() == {"r.html"}


def test_two_programs_writing_one_report(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", table(400))
    both = [warm.Program(MAIN, "evaluate", path, *ASK, "--html", tmp_path / "r.html", "-q") for _ in range(2)]
    assert [program.end().code for program in both] == [0, 0]
    assert listing(tmp_path).keys() == {"a.csv", "r.html"}
    assert (tmp_path / "r.html").read_text().rstrip().endswith("</html>")


def test_a_folder_that_vanishes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, "a.csv", table())
    ended = Program(capsys)("evaluate", path, *ASK, "-o", tmp_path / "gone" / "out.csv")
    assert ended.code == 1
    assert "there is no folder" in ended.err


@LINUX
def test_little_memory(tmp_path: Path) -> None:
    """With an address space too small for the work: one line, exit code 1, no traceback."""
    path = put(tmp_path, "a.csv", table(200))
    code = (
        "import resource, numpy, duckdb, strat, strat.verbs, strat.cli.evaluate\n"
        "import strat.replication, scipy.stats\n"
        "pages = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (pages + (400 << 20),) * 2)\n"
        "from strat.cli import main; main()"
    )
    ended = warm.run(code, "array", "--levels", "3", "--columns", "9000", "--check")
    assert ended.code == 1, ended
    assert "Traceback" not in ended.err
    assert ended.err.startswith("strat: ")
    assert path.exists()


WORKER = """
import os, pathlib, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
import strat.verbs as tables
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
         .config("spark.sql.shuffle.partitions", "2").config("spark.task.maxFailures", "1").getOrCreate())
spark.sparkContext.setLogLevel("OFF")
frame = spark.range(2000).selectExpr("id % 2 as truth", "id % 3 % 2 as guess", "id % 40 as unit")
marker = pathlib.Path(sys.argv[1])
from pyspark.sql.functions import udf
@udf("long")
def die(x):
    if x == 7 and not marker.exists():
        marker.write_text("died")
        os._exit(9)          # the Python worker is gone in the middle of the job
    return x
if sys.argv[2] == "dies":
    frame = frame.withColumn("unit", die("unit"))
try:
    found = tables.evaluate(frame, truth="truth", predicted="guess", units="unit", metrics="accuracy")
    print("answer", repr(found["accuracy"].value), repr(found["accuracy"].se))
except Exception as error:
    print("none", type(error).__name__)
"""


@pytest.mark.slow
def test_a_spark_worker_that_dies_gives_the_same_answer_or_none(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    said = {}
    for how in ("lives", "dies"):
        made = subprocess.run([sys.executable, "-c", WORKER, str(tmp_path / "marker"), how],
                              capture_output=True, text=True, timeout=300, check=False)  # fmt: skip
        lines = [line for line in made.stdout.splitlines() if line.startswith(("answer", "none"))]
        if not lines and ("JAVA" in made.stderr.upper()):
            pytest.skip("no Java here")
        said[how] = lines[-1]
    assert said["lives"].startswith("answer")
    assert (tmp_path / "marker").exists()
    assert said["dies"] == said["lives"] or said["dies"].startswith("none")
