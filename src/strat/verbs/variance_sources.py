"""Dietterich's four sources of variation of a measured result: training set, test set, seed and labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from strat.base.result import Result
from strat.base.validate.columns import Array
from strat.estimation import estimate
from strat.measures import Statistic, stack
from strat.measures.student import critical
from strat.protocols.model_runs import run_models
from strat.protocols.running import Session, Task, random_states
from strat.protocols.splitting import fold_splits
from strat.verbs.cross_validation import outcome_of, prediction_design
from strat.verbs.scoring import Outcome, Scorer

PARTS, SEEDS, LABEL_DRAWS = 3, 2, 50  # thirds of the data, trainings on each, and draws of labels


@dataclass(frozen=True)
class Component:
    """A variance with its confidence limits (none below 0), and its square root."""

    variance: float
    low: float
    high: float

    @property
    def sd(self) -> float:
        """What this source alone moves the result by."""
        return math.sqrt(max(self.variance, 0.0))


@dataclass(frozen=True, repr=False)
class Sources(Result):
    """What moves the result of one model, or the difference of two, when it is measured once.

    The rows are divided into thirds, again and again; models are trained on each of two thirds, twice with other seeds,
    and tested on the third one. Two training sets share no row and one test set, so that the variance between them is
    that of training sets of this size, without the bias that overlapping training sets bring.

    Attributes
    ----------
    training
        Another training set of this size, the test set the same.
    test
        Another test set of this size, the model the same.
    seed
        Another seed of the training, all rows the same.
    labels
        The part of `test` that comes from labels that are wrong at the rate that was named.
    training_rows, test_rows
        The sizes.
    level
        Confidence level of the limits of each part.
    """

    training: Component
    test: Component
    seed: Component
    labels: Component
    training_rows: int
    test_rows: int
    level: float = 0.95

    @property
    def sentence(self) -> str:
        """The standard deviations in one line."""
        return (
            f"one result on {self.test_rows} test rows after {self.training_rows} training rows moves by "
            f"{self.training.sd:.4f} with the training set, {self.test.sd:.4f} with the test set (labels "
            f"{self.labels.sd:.4f}) and {self.seed.sd:.4f} with the seed (standard deviations)"
        )

    def __str__(self) -> str:
        """One line for each source."""
        head = f"standard deviation of one result, {self.training_rows} training and {self.test_rows} test rows"
        lines = [
            f"  {name:13} {one.sd:.4f}  ({100 * self.level:g} % {math.sqrt(one.low):.4f} to {math.sqrt(one.high):.4f})"
            for name, one in (
                ("training set", self.training),
                ("test set", self.test),
                ("seed", self.seed),
                ("labels", self.labels),
            )
        ]
        return "\n".join([head, *lines])


def measure_sources(
    tasks: Mapping[str, Task],
    scorers: Sequence[Scorer],
    *,
    positive: object,
    partitions: int,
    label_noise: float,
    rng: int,
    level: float,
    **how: Any,
) -> dict[str, dict[tuple[str, ...], Sources]]:
    """For each measure, the sources of each model, under (name,), and of each difference, under (a, b)."""
    source = np.random.default_rng([rng, 3])
    first = next(iter(tasks.values()))
    thirds: list[Any] = []
    for _ in range(partitions):
        thirds += [test for _, test in fold_splits(first, PARTS, stratify=True, source=source)[0]]
    every = np.arange(len(first))
    sessions = run_models(tasks, [(part, np.setdiff1d(every, part)) for part in thirds for _ in range(SEEDS)], **how)
    groups = [(name,) for name in tasks] + list(combinations(tasks, 2))
    return {
        scorer.name: {
            group: _sources(
                [_Tested(tasks[name], sessions[name], scorer, positive, thirds) for name in group],
                partitions,
                label_noise,
                np.random.default_rng([rng, 4]),
                level,
            )
            for group in groups
        }
        for scorer in scorers
    }


@dataclass(frozen=True, eq=False)
class _Tested:
    """A model's sessions by part (partition · 3 + part) and seed."""

    task: Task
    sessions: Sequence[Session]
    scorer: Scorer
    positive: object
    thirds: Sequence[Any]

    def outcome(self, part: int, seed: int, rows: Any) -> Outcome:
        """What the model trained on a part said about some rows."""
        one = self.sessions[part * SEEDS + seed]
        place = np.searchsorted(one.test, rows)
        columns = {"truth": self.task.y[rows], "predicted": one.predicted[place]}
        scores = None if one.scores is None else one.scores[place]
        return outcome_of(self.task, [replace(one, scores=scores)], columns, self.positive)

    def statistic(self, part: int, seed: int, rows: Any) -> Statistic:
        """The measure of these rows."""
        return self.scorer.statistic(self.outcome(part, seed, rows))


def _sources(
    models: Sequence[_Tested], partitions: int, label_noise: float, source: np.random.Generator, level: float
) -> Sources:
    """Components of one model, or of the difference of two, averaged over partitions."""
    each = np.array([_of_partition(models, p, label_noise, source) for p in range(partitions)])
    random = any(random_states(model.task.estimator) for model in models)
    if not random:
        each[:, 2] = 0.0
    training, test, seed, labels = (_component(column, level) for column in each.T)
    rows = len(models[0].task)
    return Sources(training, test, seed, labels, rows // PARTS, rows // PARTS, level)


def _of_partition(models: Sequence[_Tested], partition: int, label_noise: float, source: np.random.Generator) -> Array:
    """Training, test, seed and labels, averaged over the three thirds as test sets."""
    values = []
    for held in range(PARTS):
        rows = models[0].thirds[partition * PARTS + held]
        parts = [partition * PARTS + p for p in range(PARTS) if p != held]
        m = np.array([[_value(models, part, seed, rows) for seed in range(SEEDS)] for part in parts])
        seed = float(((m[:, 0] - m[:, 1]) ** 2).mean()) / 2.0
        training = float((m[0].mean() - m[1].mean()) ** 2) / 2.0 - seed / SEEDS
        test = float(np.mean([_test_variance(models, part, rows) for part in parts]))
        values.append((training, test, seed, _label_variance(models, parts[0], rows, label_noise, source)))
    return np.mean(values, axis=0)


def _value(models: Sequence[_Tested], part: int, seed: int, rows: Any) -> float:
    first, *second = (float(model.statistic(part, seed, rows).value(None)) for model in models)
    return first - second[0] if second else first


def _test_variance(models: Sequence[_Tested], part: int, rows: Any) -> float:
    task = models[0].task
    columns = {"row": rows}
    if task.unit is not None:
        columns["unit"] = task.unit[rows]
    design = prediction_design(task, columns, None, None, "error")
    statistics = [model.statistic(part, 0, rows) for model in models]
    if len(statistics) == 1:
        return float(estimate(statistics[0], on=design).se) ** 2
    covariance = estimate(stack("system", a=statistics[0], b=statistics[1]), on=design).covariance
    return float(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1])


def _label_variance(models: Sequence[_Tested], part: int, rows: Any, rate: float, source: np.random.Generator) -> float:
    """Variance over labels that are replaced, each with probability `rate`, by another class."""
    if rate == 0.0:
        return 0.0
    outcomes = [model.outcome(part, 0, rows) for model in models]
    classes, codes = models[0].task.classes, models[0].task.codes[rows]
    values = []
    for _ in range(LABEL_DRAWS):
        shift = np.where(source.random(len(rows)) < rate, source.integers(1, len(classes), len(rows)), 0)
        truth = classes[(codes + shift) % len(classes)]
        drawn = [
            float(model.scorer.statistic(replace(o, truth=truth)).value(None))
            for model, o in zip(models, outcomes, strict=True)
        ]
        values.append(drawn[0] - drawn[1] if len(drawn) > 1 else drawn[0])
    return float(np.var(values, ddof=1))


def _component(values: Array, level: float) -> Component:
    """The mean over partitions with Student's limits, cut at 0."""
    mean, k = float(values.mean()), len(values)
    half = float(critical(level, k - 1) * values.std(ddof=1) / math.sqrt(k)) if k > 1 else math.inf
    return Component(max(mean, 0.0), max(mean - half, 0.0), max(mean + half, 0.0))
