"""Time and memory grow as what is asked for: a ratio of two sizes for each thing that can be many."""

from __future__ import annotations

import json
import math
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.limits import changed
from strat.comparison import chance
from strat.designs import Design
from strat.recognition import verification
from strat.verbs import sample

ALLOWANCE = 0.6  # by which an exponent of time may be larger: sorting, and a machine that is busy
OF_MEMORY = 0.3
GROUPS = 30  # up to which the groups of an evaluation are compared with each other here; beyond, each stands alone


@dataclass(frozen=True)
class Case:
    """Something that can be many.

    Attributes
    ----------
    prepare
        From a size and a folder to the work to be measured.
    small, times
        The smaller size, and how many times that the larger one is.
    exponent
        With which power of the size time and memory may grow.
    slow
        The smaller size of the slow test (0: the larger one of the quick test).
    """

    prepare: Callable[[int, Path], Callable[[], Any]]
    small: int
    times: int = 4
    exponent: float = 1.0
    slow: int = 0


def _classes(measure: Callable[..., Any]) -> Callable[[int, Path], Callable[[], Any]]:
    def prepare(classes: int, folder: Path) -> Callable[[], Any]:
        rng = np.random.default_rng(classes)
        truth = np.repeat(np.arange(classes), 2)
        predicted = np.where(rng.random(len(truth)) < 0.7, truth, rng.permutation(truth))
        return lambda: strat.estimate(measure(truth, predicted), on=Design.simple_random(len(truth))).se

    return prepare


def _systems(number: int, folder: Path) -> Callable[[], Any]:
    rng = np.random.default_rng(number)
    right = {f"s{k}": (rng.random(60) < 0.3 + 0.5 * k / number).astype(int) for k in range(number)}
    return lambda: len(strat.compare(right, score=list(right)).to_json())


def _logs(tasks: int, folder: Path) -> Callable[[], Any]:
    here = folder / str(tasks)
    here.mkdir()
    for task in range(tasks):
        _log(here / f"{task}.eval", f"task {task}", 3, f"field {task}")
    return lambda: strat.evaluate(here)


def _fields(samples: int, folder: Path) -> Callable[[], Any]:
    path = folder / f"{samples}.eval"
    _log(path, "t", samples, None)
    return lambda: strat.evaluate(path)


def _log(path: Path, task: str, samples: int, field: str | None) -> None:
    """A log of one task; without a name for it, the metadata of each sample have a field of their own."""
    header = {"version": 2, "status": "success", "eval": {"model": "m", "task": task}}
    summaries = [
        {"id": k, "epoch": 1, "scores": {"match": {"value": k % 2}}, "metadata": {field or f"field {k}": k}}
        for k in range(samples)
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", json.dumps(summaries))


def _strata_of_a_sample(strata: int, folder: Path) -> Callable[[], Any]:
    rows = {"item": np.arange(4 * strata), "stratum": np.repeat(np.arange(strata), 4)}
    return lambda: sample(rows, size=2 * strata, items="item", strata="stratum")


def _grouped(role: str, design: dict[str, str]) -> Callable[[int, Path], Callable[[], Any]]:
    def prepare(groups: int, folder: Path) -> Callable[[], Any]:
        rng = np.random.default_rng(groups)
        group = np.repeat(np.arange(groups), 6)
        truth = rng.integers(0, 2, len(group))
        rows = {"group": group, "truth": truth, "guess": np.where(rng.random(len(group)) < 0.8, truth, 1 - truth)}
        rows["unit"] = 3 * group + rng.integers(0, 3, len(group))
        options: dict[str, Any] = {"truth": "truth", "predicted": "guess", "metrics": "accuracy"}
        options |= {role: "group", **design}
        return lambda: strat.evaluate(rows, **options).to_json()

    return prepare


def _scores(subjects: int, folder: Path) -> Callable[[], Any]:
    rng = np.random.default_rng(subjects)
    labels = np.arange(subjects) // 2
    similarity = rng.random((subjects, subjects)) + 2.0 * (labels[:, None] == labels)
    return lambda: verification(similarity=similarity, probes=labels, gallery=labels).eer().value


def _chance_classes(classes: int, folder: Path) -> Callable[[], Any]:
    return lambda: chance(np.ones((classes, classes), int) + 2 * np.eye(classes, dtype=int))


def _chance_patterns(patterns: int, folder: Path) -> Callable[[], Any]:
    return lambda: chance(np.full((5, 5), patterns // 25) + np.eye(5, dtype=int) * (patterns // 50))


def _text(rows: int, folder: Path) -> Callable[[], Any]:
    labels = [f"label {k % 7}" for k in range(rows)]
    return lambda: strat.accuracy(labels, labels[::-1])


def _bootstrap(units: int, folder: Path) -> Callable[[], Any]:
    design = Design.clustered(units=np.repeat(np.arange(units), 2))
    y = np.random.default_rng(units).random(2 * units)
    return lambda: strat.estimate(strat.mean(y), on=strat.bootstrap(design, replicates=200)).se


CASES = {
    "classes of macro F1": Case(_classes(lambda t, p: strat.f1(t, p, average="macro", zero_division=0)), 4_000),
    "classes of kappa": Case(_classes(strat.kappa), 4_000),
    "classes of Matthews' correlation": Case(_classes(strat.mcc), 4_000),
    "classes of balanced accuracy": Case(_classes(strat.balanced_accuracy), 4_000),
    "F1 of each class": Case(_classes(lambda t, p: strat.f1(t, p, average=None, zero_division=0)), 4_000),
    "systems of a leaderboard": Case(_systems, 8, exponent=2.0),
    "tasks in a folder of logs": Case(_logs, 10),
    "fields of their own in each sample of a log": Case(_fields, 300),
    "strata of a sample": Case(_strata_of_a_sample, 500),
    "strata of an evaluation": Case(_grouped("strata", {}), 4 * GROUPS, slow=2_400),
    "groups of an evaluation": Case(_grouped("by", {}), 2 * GROUPS, slow=2_400),
    "groups of an evaluation with units": Case(_grouped("by", {"units": "unit"}), 2 * GROUPS, slow=2_400),
    "sides of a square table of scores": Case(_scores, 60, exponent=2.0),
    "classes of the exact test against chance": Case(_chance_classes, 6, exponent=3.5),
    "patterns of the exact test against chance": Case(_chance_patterns, 200, exponent=2.0),
    "text labels in lists": Case(_text, 10_000),
    "units of a bootstrap": Case(_bootstrap, 500),
}


@pytest.fixture(autouse=True)
def few_groups() -> Iterator[None]:
    """The size from which groups stand alone, lowered: what lies beyond it grows as it does beyond the usual 500."""
    with changed(compared_groups=GROUPS):
        yield


def seconds(work: Callable[[], Any]) -> float:
    """CPU seconds, the better of two tries."""
    taken = []
    for _ in range(2):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def peak(work: Callable[[], Any]) -> int:
    """The most bytes that were held."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", CASES)
def test_time_and_memory_grow_as_what_is_asked_for(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    small, large = (case.prepare(size, tmp_path) for size in (case.small, case.small * case.times))
    small()  # what is loaded once
    assert math.log(seconds(large) / seconds(small), case.times) < case.exponent + ALLOWANCE
    assert math.log(peak(large) / peak(small), case.times) < case.exponent + OF_MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_so_they_do_at_larger_sizes(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    step = case.slow or case.small * case.times
    small, large = (case.prepare(size, tmp_path) for size in (step, step * case.times))
    small()
    assert math.log(seconds(large) / seconds(small), case.times) < case.exponent + ALLOWANCE
