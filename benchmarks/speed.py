"""The speed of this tree beside that of a fixed commit, in one run: `python -m benchmarks.speed`.

Each job runs in processes of its own, by turns with the source of this tree and with that of the commit, on one thread.
The least CPU time of some runs counts, and only the ratio of the two trees is judged: it holds on a busy machine. The
program fails where a ratio is far above the stored one (`speed.json`). `--write` stores the ratios of this run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import show

ROOT = Path(__file__).parents[1]
STORED = Path(__file__).with_name("speed.json")
COMMIT = "5ed3c3d5fc9a06a38e62cc4b0f740ac736d098cc"  # the first edition
MARGIN, HAIR = 1.5, 0.1  # times the stored ratio, and added to it, beyond which a job has become slower
ROUNDS = 3

PREDICTIONS = "t = dict(strat.datasets.clustered_predictions(units=100, per_unit=20, icc=0.2, rng=1))\n"
SYSTEMS = (
    PREDICTIONS + "t['other'] = np.where(rng.random(2000) < 0.9, t['predicted'], 1 - np.asarray(t['predicted']))\n"
)
ROLES = "truth='truth', predicted='predicted', units='unit'"
CLASSES = "y = rng.integers(0, 10, 100_000)\np = np.where(rng.random(100_000) < 0.8, y, rng.integers(0, 10, 100_000))\n"
STRATA = "s = np.repeat(np.arange(4000), 2)\nx, z = rng.random(8000), rng.random(8000) + 1\n"
JOBS = {
    "import strat": "took(start)",
    "import, and touch estimate": "strat.Design, strat.estimate, strat.accuracy\ntook(start)",
    "import, and touch evaluate": "strat.evaluate\ntook(start)",
    "command: --version": "command('--version')",
    "command: --help": "command('--help')",
    "estimate, 2,000 rows": PREDICTIONS
    + "on = dict(units=t['unit'])\n"
    + "run(lambda: strat.estimate(strat.accuracy(t['truth'], t['predicted']), on=strat.Design.clustered(**on))"
    + ".interval(), 60)",
    "evaluate, 2,000 rows": PREDICTIONS + f"run(lambda: strat.evaluate(t, {ROLES}), 60)",
    "evaluate and print": PREDICTIONS + f"run(lambda: str(strat.evaluate(t, {ROLES})), 40)",
    "compare, 2,000 rows": SYSTEMS
    + "run(lambda: strat.compare(t, truth='truth', predicted=['predicted', 'other'], units='unit'), 40)",
    "bootstrap of macro F1, rows": CLASSES
    + "f1 = strat.f1(y, p, average='macro')\non = strat.Design.simple_random(n=100_000)\n"
    + "run(lambda: strat.estimate(f1, on=strat.bootstrap(on, replicates=1000, rng=0)).interval(), 5)",
    "bootstrap of macro F1, groups": CLASSES
    + "f1 = strat.f1(y, p, average='macro')\non = strat.Design.clustered(units=rng.integers(0, 1000, 100_000))\n"
    + "run(lambda: strat.estimate(f1, on=strat.bootstrap(on, replicates=1000, rng=0)).interval(), 5)",
    "BRR of a mean and a ratio, 4,000 strata": STRATA
    + "def job():\n    r = strat.brr(strat.Design.stratified(strata=s))\n"
    + "    strat.estimate(strat.mean(x), on=r).se, strat.estimate(strat.ratio(x, z), on=r).se\nrun(job, 15)",
    "BRR of a curve of 200": STRATA
    + "c = rng.random((8000, 200))\n"
    + "run(lambda: strat.estimate(strat.mean(c), on=strat.brr(strat.Design.stratified(strata=s))).se, 5)",
    "AUC, 1,000,000 rows": "y = rng.integers(0, 2, 1_000_000)\nscore = rng.random(1_000_000) + 0.3 * y\n"
    + "on = strat.Design.simple_random(n=1_000_000)\n"
    + "run(lambda: strat.estimate(strat.auc(y, score), on=on).interval(), 3)",
    "chance, 26 classes, 5,000 patterns": "m = rng.multinomial(5000, np.full(676, 1 / 676)).reshape(26, 26)\n"
    + "run(lambda: strat.comparison.chance(m).pvalue, 5)",
    "leave-one-out of a QDA, 2,000 rows": "from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis\n"
    + "X, y = rng.normal(size=(2000, 20)), rng.integers(0, 2, 2000)\nX[y == 1] += 0.3\n"
    + "run(lambda: strat.protocols.leave_one_out(QuadraticDiscriminantAnalysis(), X, y).error, 5)",
    "ranks, 3,000 × 3,000 × 128": "g, i = rng.normal(size=(3000, 128)).astype('f4'), np.arange(3000)\n"
    + "who = dict(probe_subjects=i, gallery_subjects=i)\n"
    + "run(lambda: strat.recognition.ranks_of_embeddings(g + 0.5, g, **who, score='cosine'), 3)",
}
# what each job can use: `took` since a start, `run` a function some times, `command` with its words
HEAD = """
import subprocess, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
least = float("inf")
def took(start):
    global least
    least = min(least, time.process_time() - start)
def run(job, times):
    for _ in range(times):
        start = time.process_time()
        job()
        took(start)
def command(*words):
    global least
    program = "import atexit, sys, time; from strat.cli import main; " \\
        "atexit.register(lambda: print(time.process_time(), file=sys.stderr)); main()"
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program, *words], check=True, capture_output=True, text=True)
        least = min(least, float(done.stderr.split()[-1]))
start = time.process_time()
import strat
"""


def seconds(tree: Path, job: str) -> float:
    """CPU seconds of a job with the source of a tree: the least of the runs in one process."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # compiled modules are kept with the tree, as an installation has them
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", f"{HEAD}{JOBS[job]}\nprint(least)"],
        capture_output=True, text=True, check=False, cwd=tree, env={**kept, **threads, "PYTHONPATH": str(tree / "src")},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{job} fails in {tree.name}:\n{done.stderr}")
    return float(done.stdout.split()[-1])


def compared(trees: tuple[Path, Path], job: str, rounds: int) -> tuple[float, float]:
    """The least CPU seconds of a job in each of two trees, by turns; a first run of each compiles."""
    times = [[seconds(tree, job) for tree in trees] for _ in range(rounds + 1)][1:]
    one, other = (min(each) for each in zip(*times, strict=True))
    return one, other


@contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """The files of a commit in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        if subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=False).returncode:
            raise SystemExit(f"The commit {commit} is not here; fetch the whole history.")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def slower(ratios: Mapping[str, float], stored: Mapping[str, float]) -> list[str]:
    """The jobs whose ratio is far above the stored one."""
    return [job for job, ratio in ratios.items() if job in stored and ratio > MARGIN * stored[job] + HAIR]


def main() -> int:
    """Print the ratios; 1 where a job has become slower."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="jobs whose name contains this")
    parser.add_argument("--write", action="store_true", help="store the ratios of this run")
    options = parser.parse_args()
    stored, ratios, rows = json.loads(STORED.read_text()), {}, []
    with worktree(COMMIT) as before:
        for job in (job for job in JOBS if options.only in job):
            now, then = compared((ROOT, before), job, options.rounds)
            ratios[job] = now / then
            rows.append(
                (job, f"{1000 * now:.2f}", f"{1000 * then:.2f}", f"{now / then:.2f}", f"{stored.get(job, '-')}")
            )
    show(f"CPU of this tree and of {COMMIT[:7]}", ("job", "now, ms", "then, ms", "now / then", "stored"), rows)
    if options.write:
        STORED.write_text(json.dumps(stored | {job: round(ratio, 2) for job, ratio in ratios.items()}, indent=2) + "\n")
        return 0
    late = slower(ratios, stored)
    print("\n".join(f"slower than before: {job}" for job in late) or "nothing has become slower")
    return int(bool(late))


if __name__ == "__main__":
    raise SystemExit(main())
