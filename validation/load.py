"""Load: mixed work in a loop with flat memory, and the largest cases that fit.

python -m validation.load --minutes 60     # the loop; prints a line a minute and a verdict
python -m validation.load --large          # the large cases, each in a process of its own
python -m validation.load --largest        # the same doubled until 8 GB or two minutes do not suffice
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

FLAT = 1.05  # the last quarter of the loop may hold so many times what the second held
MEMORY = 8 << 30
SECONDS = 120.0


# ---- the loop


def predictions(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """A table of predictions of changing size, with units in strata."""
    unit = rng.integers(0, max(rows // 8, 8), rows)
    truth = rng.integers(0, 4, rows)
    return {
        "truth": truth,
        "guess": np.where(rng.random(rows) < 0.8, truth, rng.integers(0, 4, rows)),
        "other": np.where(rng.random(rows) < 0.7, truth, rng.integers(0, 4, rows)),
        "score": rng.random(rows),
        "unit": unit,
        "stratum": unit % 4,
    }


def evaluate_rows(rng: np.random.Generator, folder: Path) -> None:
    """Evaluate columns in memory by two methods, and render a report."""
    from strat import verbs

    rows = predictions(rng, int(rng.integers(500, 5000)))
    roles = {"truth": "truth", "predicted": "guess", "strata": "stratum", "units": "unit"}
    verbs.evaluate(rows, **roles, lone="collapse", method="jackknife").to_json()
    verbs.evaluate(rows, **roles, lone="collapse").report(folder / "report.html")


def evaluate_file(rng: np.random.Generator, folder: Path) -> None:
    """Evaluate a CSV file through the engine."""
    from strat import verbs

    rows, path = predictions(rng, int(rng.integers(500, 5000))), folder / "rows.csv"
    names = ("truth", "guess", "score", "unit", "stratum")
    lines = zip(*(rows[name].tolist() for name in names), strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(str, line)) for line in lines)]) + "\n")
    verbs.evaluate(str(path), truth="truth", predicted="guess", units="unit").to_markdown()


def compare(rng: np.random.Generator, folder: Path) -> None:
    """Compare two systems, then twelve."""
    from strat import verbs

    rows = predictions(rng, int(rng.integers(500, 3000)))
    verbs.compare(rows, truth="truth", predicted=["guess", "other"], units="unit").to_json()
    many = {f"s{k}": rng.random(800) for k in range(12)}
    verbs.compare(many, score=list(many)).to_latex()


def recognize(rng: np.random.Generator, folder: Path) -> None:
    """Rank probes against a gallery, with curves and error rates."""
    from strat import recognition

    subjects = int(rng.integers(20, 120))
    centres = rng.normal(size=(subjects, 16))
    who = np.repeat(np.arange(subjects), 3)
    probes = centres[who] + rng.normal(size=(len(who), 16))
    found = recognition.ranks_of_embeddings(
        probes, centres, probe_subjects=who, gallery_subjects=np.arange(subjects), score="euclidean"
    )
    recognition.match_curve(found).of().interval()
    checked = recognition.verification(similarity=probes @ centres.T, probes=who, gallery=np.arange(subjects))
    checked.eer().interval()


def replicate(rng: np.random.Generator, folder: Path) -> None:
    """Replicates of a design of changing size, a sample, and an exact test."""
    import strat
    from strat import comparison, verbs

    sizes = rng.integers(2, 6, int(rng.integers(20, 200)))
    strata = np.repeat(np.arange(len(sizes)), sizes)
    y, x = rng.random(len(strata)), 1 + rng.random(len(strata))
    design = strat.Design.stratified(strata)
    for make in (strat.generalized, strat.jackknife, strat.bootstrap):
        strat.estimate(strat.ratio(y, x), on=make(design)).interval()
    verbs.sample({"item": np.arange(500), "task": np.arange(500) % 5}, size=50, items="item", strata="task").to_csv()
    comparison.chance(rng.integers(0, 9, (4, 4)) + 6 * np.eye(4, dtype=int)).to_dict()


WORK: tuple[Callable[[np.random.Generator, Path], None], ...] = (
    evaluate_rows,
    evaluate_file,
    compare,
    recognize,
    replicate,
)


def memory() -> float:
    """What this process holds now, in MB, after the allocator gave back what nobody uses."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def loop(minutes: float, seed: int, step: float) -> bool:
    """Mixed work until the time is over; whether memory stayed flat."""
    rng, start, rounds = np.random.default_rng(seed), time.monotonic(), 0
    seen: list[tuple[float, float]] = []
    told = 0.0
    with tempfile.TemporaryDirectory() as folder:
        while (passed := time.monotonic() - start) < 60 * minutes:
            for work in WORK:
                work(rng, Path(folder))
            rounds += 1
            seen.append((passed, memory()))
            if passed >= told:
                print(f"{passed / 60:7.2f} min  {rounds:6d} rounds  {seen[-1][1]:8.1f} MB", flush=True)
                told += step
    return verdict(np.array(seen), rounds)


def verdict(seen: np.ndarray[Any, Any], rounds: int) -> bool:
    """Compare the last quarter of the time with the second, when everything is imported and warm."""
    end = seen[-1, 0]
    second = np.median(seen[(seen[:, 0] > end / 4) & (seen[:, 0] <= end / 2), 1])
    last = np.median(seen[seen[:, 0] > 0.75 * end, 1])
    flat = bool(last <= FLAT * second)
    print(f"{rounds} rounds of {len(WORK)} kinds of work in {end / 60:.1f} minutes")
    print(f"second quarter {second:.1f} MB, last quarter {last:.1f} MB: {'flat' if flat else 'NOT FLAT'}")
    return flat


# ---- large cases, each run in a process of its own: `size` -> what was computed


def systems(size: int) -> str:
    """A leaderboard of `size` systems on 10,000 items: all pairs, simultaneous intervals, rank intervals."""
    from strat import verbs

    rng = np.random.default_rng(0)
    skill = np.sort(rng.uniform(0.4, 0.9, size))
    scores = {f"s{k:05}": (rng.random(10_000) < p).astype(float) for k, p in enumerate(skill)}
    board = verbs.compare(scores, score=list(scores))
    columns = board.to_dict()
    return f"{size:,} systems × 10,000 items; best {columns['system'][0]}, rank {columns['rank'][0]}"


def units(size: int) -> str:
    """A mean and a ratio over `size` units of three rows in 100 strata, closed form and replicated."""
    import strat

    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(size), 3)
    y = rng.random(size)[unit] + rng.random(3 * size)
    design = strat.Design.clustered(unit, strata=unit % 100)
    x = 1 + rng.random(3 * size)
    closed = strat.estimate(strat.ratio(y, x), on=design)
    replicated = strat.estimate(strat.ratio(y, x), on=strat.generalized(design))
    return f"{size:,} units; se {closed.se:.3g} closed form, {replicated.se:.3g} by {replicated.method}"


def strata(size: int) -> str:
    """F1 over `size` strata of 2 to 12 units each, closed form and fully balanced replicates."""
    import strat

    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 13, size)
    stratum = np.repeat(np.arange(size), sizes)
    truth = rng.integers(0, 2, len(stratum))
    guess = np.where(rng.random(len(stratum)) < 0.8, truth, 1 - truth)
    design = strat.Design.stratified(stratum)
    statistic = strat.f1(truth, guess, average="macro")
    closed = strat.estimate(statistic, on=design)
    made = strat.generalized(design)
    replicated = strat.estimate(statistic, on=made)
    said = f"{size:,} strata, {len(stratum):,} units; se {closed.se:.4g} closed form"
    return f"{said}, {replicated.se:.4g} from {made.number:,} replicates"


def auc(size: int) -> str:
    """AUC with its interval over `size` rows with distinct scores in 10,000 units."""
    import strat

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, size)
    found = strat.estimate(
        strat.auc(truth, rng.normal(truth)), on=strat.Design.clustered(rng.integers(0, 10_000, size))
    )
    return f"{size:,} rows, all scores distinct; AUC {found.value:.5f}, se {found.se:.2g}"


def file_rows(size: int) -> str:
    """Accuracy and macro F1 with intervals from a Parquet file of `size` rows."""
    import duckdb

    from strat import verbs

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        query = "select (i * 7919 % 20)::int as t, (case when i % 5 = 0 then i % 20 else i * 7919 % 20 end)::int as p,"
        duckdb.execute(f"copy (select {query[7:]} (i % 10000)::int as u from range({size}) r(i)) to '{path}'")
        found = verbs.evaluate(str(path), truth="t", predicted="p", units="u")
        return f"{size:,} rows; accuracy {found['accuracy'].value:.4f}, se {found['accuracy'].se:.2g}"


LARGE: dict[str, tuple[Callable[[int], str], int]] = {
    "systems": (systems, 1000),
    "units": (units, 1_000_000),
    "strata": (strata, 100_000),
    "auc": (auc, 10_000_000),
    "file": (file_rows, 100_000_000),
}


def one(name: str, size: int) -> None:
    """One case here: its seconds, its peak memory and what it says, as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (3 * MEMORY, 3 * MEMORY))
    start = time.monotonic()
    said = LARGE[name][0](size)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": time.monotonic() - start, "peak": peak, "said": said}))


def measured(name: str, size: int) -> dict[str, Any] | str:
    """The case in a process of its own, or why it did not end."""
    try:
        made = subprocess.run(
            [sys.executable, "-m", "validation.load", "--one", name, str(size)],
            capture_output=True, text=True, check=False, timeout=3 * SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not done after {3 * SECONDS:.0f} s"
    if made.returncode:
        return (made.stderr.strip().splitlines() or ["killed for memory"])[-1][:160]
    found: dict[str, Any] = json.loads(made.stdout.strip().splitlines()[-1])
    return found


def sizes(size: int, *, doubled: bool) -> Iterator[int]:
    """The size, then its doubles."""
    yield size
    while doubled:
        size *= 2
        yield size


def large(names: list[str], *, doubled: bool) -> None:
    """Print each case, and with `doubled` its doubles until memory or time do not suffice."""
    print(f"{'case':8} {'size':>14} {'seconds':>8} {'peak GB':>8}  what")
    for name in names or list(LARGE):
        for size in sizes(LARGE[name][1], doubled=doubled):
            found = measured(name, size)
            if isinstance(found, str):
                print(f"{name:8} {size:14,d} {'':8} {'':8}  {found}", flush=True)
                break
            print(f"{name:8} {size:14,d} {found['seconds']:8.1f} {found['peak']:8.2f}  {found['said']}", flush=True)
            if found["seconds"] > SECONDS or found["peak"] > MEMORY / 1e9:
                break


def main() -> None:
    """Read the arguments and run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long the loop runs")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two lines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--large", action="store_true", help="the large cases instead of the loop")
    parser.add_argument("--largest", action="store_true", help="doubled until they do not fit")
    parser.add_argument("--case", action="append", default=[], choices=list(LARGE), help="only this large case")
    parser.add_argument("--one", nargs=2, metavar=("CASE", "SIZE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.one:
        one(asked.one[0], int(asked.one[1]))
    elif asked.large or asked.largest:
        large(asked.case, doubled=asked.largest)
    else:
        sys.exit(not loop(asked.minutes, asked.seed, asked.every))


if __name__ == "__main__":
    main()
