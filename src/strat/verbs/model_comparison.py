"""Several models on one data set, from estimators to a verdict: the same splits, several tests, one recommended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat import comparison
from strat.base import validate
from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.base.validate.scalars import Rng, seed
from strat.designs import Design
from strat.measures import Statistic
from strat.protocols import intervals
from strat.protocols.keywords import spelled, units_of
from strat.protocols.model_runs import run_models
from strat.protocols.running import Session, Split, Task, memory, random_source, table, task, times
from strat.protocols.splitting import fold_splits, repeat_numbers, torn_units
from strat.verbs.cross_validation import Models, all_folds, outcome_of, prediction_design, values_by_fold
from strat.verbs.metrics import one_class, told_by
from strat.verbs.model_verdicts import ModelComparison
from strat.verbs.scoring import Scorer, scorers
from strat.verbs.variance_sources import measure_sources


@spelled
@checked
def compare_models(
    models: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    units: ArrayLike | None = None,
    metrics: Any = "accuracy",
    cv: Any = 10,
    repeats: int = 1,
    positive: object = None,
    rope: float = 0.01,
    five_by_two: bool = False,
    sources: int = 0,
    label_noise: float = 0.0,
    level: float = 0.95,
    rng: Rng = 0,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[int, int, str], object] | None = None,
) -> ModelComparison:
    """Several models on the same splits of one data set, from estimators to a verdict.

    Parameters
    ----------
    models
        From names to scikit-learn classifiers, pipelines or searches. Where a `random_state` is None every training
        gets its own, drawn from `rng`. A search within that splits by groups gets the units.
    X, y
        What the classifiers take (features, texts, images, a data frame, a sparse matrix), and labels.
    groups, units
        The unit that each row belongs to (a patient, a passage); the two names mean the same. No unit is on both sides
        of a split.
    metrics
        Measures, by scikit-learn's names or ours ("accuracy", "roc_auc", "neg_log_loss", …), as in
        `strat.cross_validate`. Losses are reported as positive numbers.
    cv, repeats
        Number of folds, a scikit-learn splitter or a list of (training, test) rows; how many times the rows are split.
    positive
        The class that measures of one class look at.
    rope
        Differences up to this size count as practically zero, for the posterior probabilities.
    five_by_two
        Also train on five times two halves, for Alpaydin's F test.
    sources
        Number of times that the rows are divided into thirds to see what training sets, test sets, seeds and labels
        each contribute (six trainings per model each time); 0: not at all.
    label_noise
        With `sources`: the share of labels that are thought to be wrong.
    level
        Confidence level.
    rng, n_jobs
        Seed or Generator; trainings at a time, for joblib.
    folder
        Keep every session here, and read those already there, so that an interrupted run can be resumed.
    progress
        Called after each session with (how many are done, of how many, the model's name).

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(200, means=[[-1, 0], [1, 0]], rng=1)
    >>> result = compare_models({"bayes": GaussianNB(), "chance": DummyClassifier()}, data.X, data.y, cv=5, repeats=2)
    >>> pair = result.pair("bayes", "chance")
    >>> round(pair.difference, 3), pair.pvalue < 0.001, result.best()
    (0.355, True, 'bayes')
    """
    validate.level(level)
    tasks = _tasks(models, X, y, units_of(units, groups), rng)
    first = next(iter(tasks.values()))
    how: dict[str, Any] = {"n_jobs": n_jobs, "folder": None if folder is None else Path(folder), "progress": progress}
    draw = seed(rng)
    splits, name = all_folds(first, cv, validate.count("repeats", repeats), True, random_source(draw))
    sessions = run_models(tasks, splits, watch=intervals.watched(len(first)), **how)
    measured = _Measured(tasks, splits, sessions, positive)
    wanted = scorers(metrics, scored=all(s.scores is not None for own in sessions.values() for s in own))
    one_class([one.metric for one in wanted], positive)
    statistics, design = {one.name: measured.statistics(one) for one in wanted}, measured.design
    higher = {one.name: told_by(one.metric, next(iter(statistics[one.name].values()))).upwards for one in wanted}
    systems = {m: comparison.many(s, on=design, higher_is_better=higher[m]) for m, s in statistics.items()}
    noise = validate.share("label_noise", label_noise, high=0.5)
    parts = validate.count("sources", sources, least=0, most=10_000)
    asked: dict[str, Any] = {
        "positive": positive,
        "partitions": parts,
        "label_noise": noise,
        "rng": draw,
        "level": level,
        **how,
    }
    variation = measure_sources(tasks, wanted, **asked) if parts else {}
    halves = _five_by_two(tasks, wanted, positive, draw, how) if five_by_two else {}
    return ModelComparison(
        tuple(tasks), higher, {one.name: measured.by_split(one) for one in wanted}, systems, halves, variation,
        comparison.split_ratio(indices={"train": [a for a, _ in splits], "test": [b for _, b in splits]}),
        name, level, _rope(rope), {model: times(own) for model, own in sessions.items()},
        {model: memory(tasks[model], splits[0][0], own[0].fit) for model, own in sessions.items()},
        _notes(tasks, splits), statistics, design, tasks,
        {one.name: one for one in wanted}, {model: measured.trained(model) for model in tasks},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Measured:
    """All predictions of all models, ready to be measured."""

    tasks: Mapping[str, Task]
    splits: Sequence[Split]
    sessions: Mapping[str, Sequence[Session]]
    positive: object

    def _columns(self, model: str) -> Mapping[str, Any]:
        job = self.tasks[model]
        return table(job, self.sessions[model], *repeat_numbers(self.splits, len(job)))

    @property
    def design(self) -> Design:
        """How the test rows were drawn."""
        model = next(iter(self.tasks))
        return prediction_design(self.tasks[model], self._columns(model), None, None, "error")

    def trained(self, model: str) -> Models:
        """The sessions of a model, to be measured with limits."""
        columns, watch = self._columns(model), intervals.watched(len(self.tasks[model]))
        return Models(self.sessions[model], self.splits, columns, self._outcome(model), self.design, watch)

    def statistics(self, scorer: Scorer) -> dict[str, Statistic]:
        """The measure of each model on all its test rows."""
        return {model: scorer.statistic(self._outcome(model)) for model in self.tasks}

    def by_split(self, scorer: Scorer) -> Array:
        """The measure in each split, splits × models."""
        sizes = [len(test) for _, test in self.splits]
        return np.column_stack([values_by_fold(scorer, self._outcome(model), sizes, None) for model in self.tasks])

    def _outcome(self, model: str) -> Any:
        return outcome_of(self.tasks[model], self.sessions[model], self._columns(model), self.positive)


def _five_by_two(
    tasks: Mapping[str, Task], wanted: Sequence[Scorer], positive: object, draw: int, how: Mapping[str, Any]
) -> dict[str, Array]:
    """Each measure in five repeats of two halves, 5 × 2 × models."""
    source, first = np.random.default_rng([draw, 2]), next(iter(tasks.values()))
    splits = [split for _ in range(5) for split in fold_splits(first, 2, stratify=True, source=source)[0]]
    measured = _Measured(tasks, splits, run_models(tasks, splits, **how), positive)
    return {one.name: measured.by_split(one).reshape(5, 2, -1) for one in wanted}


def _tasks(models: Mapping[str, Any], X: Any, y: ArrayLike, units: Any, rng: Rng) -> dict[str, Task]:
    if len(models) < 2:
        raise StratError.about("models", f"must map names to two models or more, got {len(models)}.")
    draw = seed(rng)
    tasks = {}
    for name, model in models.items():
        try:
            tasks[str(name)] = task(model, X, y, units, draw)
        except StratError as error:
            raise error.spelled({"estimator": f"models[{str(name)!r}]"}, argument="models") from None
    if len(tasks) < len(models):
        raise StratError.about("models", "must have a name of its own for each model, got one twice.")
    return tasks


def _rope(rope: float) -> float:
    if not 0.0 <= rope < float("inf"):
        raise StratError.about("rope", f"must be the largest difference that does not matter, 0 or more, got {rope!r}.")
    return rope


def _notes(tasks: Mapping[str, Task], splits: Sequence[Split]) -> tuple[Note, ...]:
    first = next(iter(tasks.values()))
    fixed = [
        name for name, job in tasks.items()
        if any(k.endswith("random_state") and v is not None for k, v in job.estimator.get_params(deep=True).items())
    ]  # fmt: skip
    notes: list[Note] = list(torn_units(first, splits))
    if fixed:
        notes.append(Note("fixed-seed", {"models": tuple(fixed)}))
    return tuple(notes)
