"""Cross-validation in scikit-learn's words, with intervals that know which rows belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base import validate
from strat.base.errors import StratError, some
from strat.base.notes import Note, of_each
from strat.base.result import write_report
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, numbers, same_length, values
from strat.base.validate.scalars import Rng
from strat.designs import Design
from strat.designs.from_columns import design_of
from strat.designs.sampling import Sampling
from strat.estimation import Estimate, estimate
from strat.measures.base import Statistic
from strat.measures.scores import auc
from strat.measures.stacking import stack
from strat.protocols import intervals
from strat.protocols.intervals import Trainings
from strat.protocols.keywords import spelled, units_of
from strat.protocols.protocol_result import Times
from strat.protocols.running import Session, Split, Task, random_source, run, table, task, times
from strat.protocols.splitting import fold_splits, repeat_numbers, torn_units
from strat.show import render
from strat.show.colours import BLUE, ORANGE
from strat.show.figures import new_axes
from strat.show.render import Sheet
from strat.show.sheet_result import ByName, SheetResult
from strat.verbs.evaluation import Evaluation
from strat.verbs.hints import averages
from strat.verbs.metrics import one_class
from strat.verbs.scoring import Outcome, Scorer, scorers

SCHEMA = "strat/cross_validate/3"


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(ByName[str, Estimate], SheetResult):
    """What :func:`cross_validate` found.

    Attributes
    ----------
    evaluation
        The measures of all out-of-fold predictions together, with intervals on the design of the units.
    folds
        From the measure's name to its value in each fold (NaN where a fold can't give it: one class only, say).
    predictions
        Columns row, fold, repeat, truth, predicted, score, and unit where units were given.
    scores
        Scores of each prediction, rows × classes (one column for two classes by decision); None: there are none.
    classes
        The labels that the columns of `scores` stand for.
    protocol
        How the rows were split.
    times
        Seconds that each training and each prediction took.
    """

    evaluation: Evaluation
    folds: Mapping[str, Array]
    predictions: Mapping[str, NDArray[Any]]
    scores: Array | None
    classes: NDArray[Any]
    protocol: str
    times: Times
    sampling: Design

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """From the measure's name to its estimate."""
        return self.evaluation.estimates

    @property
    def level(self) -> float:
        """The confidence level of the limits."""
        return self.evaluation.level

    @property
    def notes(self) -> tuple[str, ...]:
        """What the intervals hold, and what to be careful about."""
        return self.evaluation.notes

    def named(self) -> Mapping[str, Estimate]:
        """From the measure's name to its estimate."""
        return self.estimates

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure, by the name that was asked for."""
        return self.evaluation[name.removeprefix("neg_") if isinstance(name, str) else name]

    @checked
    def interval(self, name: str) -> tuple[float, float]:
        """Confidence limits of a measure."""
        return self.evaluation.interval(name.removeprefix("neg_"))

    @property
    def library(self) -> str | None:
        """The data frame library that the rows came in."""
        return self.evaluation.library

    def design(self) -> Design:
        """The design of the predictions, for any other statistic of them: ``strat.estimate(…, on=result.design())``."""
        return self.sampling

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: a line for each measure, with the mean of the folds' values, which scikit-learn gives."""
        columns = self.evaluation.to_dict()
        return {**columns, "fold_mean": [_mean(self.folds[name]) for name in columns["measure"]]}

    def sheet(self) -> Sheet:
        """The table of measures with all numbers for JSON."""
        data = {**self.evaluation.data(), "protocol": self.protocol, "folds": self.folds}
        return replace(self.table(), data=data)

    def table(self, max_rows: int | None = None) -> Sheet:
        """The table of measures with title and notes, to look at."""
        inner = self.evaluation.table()
        rows = [(*row, _mean(self.folds[name])) for name, row in zip(self.estimates, inner.rows, strict=True)]
        title = f"{self.protocol}; {inner.title}"
        return Sheet(SCHEMA, [*inner.columns, "fold mean"], rows, title=title, notes=inner.notes)

    def plot(self, ax: Any = None) -> Any:
        """Each measure with its interval, and its values in the folds as dots."""
        axes = new_axes(ax)
        for place, name in enumerate(self.estimates):
            low, high = self.interval(name)
            axes.plot(self.folds[name], np.full(len(self.folds[name]), place), "o", color=ORANGE, ms=4, alpha=0.6)
            axes.plot([low, high], [place, place], color=BLUE, lw=2)
            axes.plot(float(self.estimates[name].value), place, "o", color=BLUE)
        axes.set_yticks(range(len(self.estimates)), list(self.estimates))
        axes.invert_yaxis()
        axes.set(xlabel=f"value, {100 * self.evaluation.level:g} % interval; folds as small dots", title=self.protocol)
        return axes

    @checked
    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file."""
        return write_report(self.evaluation, path)


@spelled
@checked
def cross_validate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    scoring: Any = None,
    units: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    repeats: int = 1,
    stratify: bool = True,
    positive: object = None,
    level: float = 0.95,
    lone: str = "error",
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Measures of a classifier by cross-validation, with intervals that allow for rows that belong together.

    Every row is predicted by a model that was trained without it, and without any row of its unit. The predictions of
    all folds are measured together, on the design of the units; the AUC of two classes is the mean of the folds' own,
    for scores of several models are on several scales. Intervals are for the model that is trained on all rows, and for
    models that are trained on as many: those of the rows, or units, wider as far as the trained models differ (see
    `strat.protocols.intervals`). That of the macro F1 is for the former where a class is hardly ever predicted.

    Parameters
    ----------
    estimator
        Any scikit-learn classifier, pipeline or search. Where it has a `random_state` of None, every training gets its
        own, drawn from `rng`. A search within that splits by groups gets the units.
    X, y
        What the classifier takes (features, texts, images, a data frame, a sparse matrix), and labels.
    cv
        Number of folds (no unit is on both sides), any scikit-learn splitter, or a list of pairs of training and test
        rows.
    groups, units
        The unit that each row belongs to (a patient, a passage); the two names mean the same.
    scoring
        Names of scikit-learn's scorers ("accuracy", "f1_macro", "roc_auc", "neg_log_loss", …), functions of
        (truth, predicted) that make a statistic, a list of these, or a mapping from names to them. A scorer that starts
        with ``"neg_"`` gives the loss itself, under its own name. None: accuracy, macro F1 and, with scores, the AUC.
    strata, weights
        Fixed groups that cover the population, and how many rows of it each row stands for. Weights count in the
        measures, not in the training.
    repeats, stratify
        For a number of folds: how many times the rows are split, and whether folds keep the proportions of classes.
    positive
        The class that measures of one class look at; None: 1 if the labels are 0 and 1, True if they are False and
        True; measures that depend on it refuse other labels.
    level, lone
        Confidence level; what to do with a stratum of one unit, as in `strat.evaluate`.
    rng
        Seed or Generator, for the folds and for the estimator.
    n_jobs
        Trainings at a time, for joblib.

    Examples
    --------
    >>> from sklearn.model_selection import GroupKFold
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(200, means=[[-1, 0], [1, 0]], rng=1)
    >>> patient = np.arange(200) // 4
    >>> result = cross_validate(
    ...     GaussianNB(), data.X, data.y, cv=GroupKFold(5), groups=patient, scoring=["f1_macro", "roc_auc"]
    ... )
    >>> list(result.estimates), len(result.folds["roc_auc"]), result.design().n_units
    (['f1_macro', 'roc_auc'], 5, 50)
    """
    validate.level(level)
    job = task(estimator, X, y, units_of(units, groups), rng)
    splits, name = all_folds(job, cv, validate.count("repeats", repeats), stratify, random_source(rng))
    watch = intervals.watched(len(job))
    sessions = run(job, splits, n_jobs=n_jobs, watch=watch)
    columns = table(job, sessions, *repeat_numbers(splits, len(job)))
    outcome = outcome_of(job, sessions, columns, positive)
    wanted = scorers(scoring, scored=outcome.scores is not None)
    one_class([one.metric for one in wanted], positive)
    weight = None if weights is None else _rows_of("weights", numbers("weights", weights), job)[columns["row"]]
    design = prediction_design(job, columns, strata, weight, lone)
    models = Models(sessions, splits, columns, outcome, design, watch)
    estimates = {one.name: models.estimate(one) for one in wanted}
    notes = [*_notes(job, models, wanted), *averages([one.metric for one in wanted], estimates)]
    notes += of_each("metric", {name: one.notes for name, one in estimates.items()})
    evaluation = Evaluation.of(
        estimates,
        level=level,
        rows=len(columns["row"]),
        notes=tuple(dict.fromkeys(notes)),
        library=_library(X),
    )
    folds = {one.name: values_by_fold(one, outcome, [len(s.test) for s in sessions], weight) for one in wanted}
    return CrossValidation(
        evaluation, folds, columns, outcome.scores, job.classes, name, times(sessions), sampling=design
    )


@spelled
@checked
def learning_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    sizes: ArrayLike = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = 5,
    groups: ArrayLike | None = None,
    scoring: Any = "accuracy",
    units: ArrayLike | None = None,
    positive: object = None,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """A measure of a classifier by the number of rows that it was trained on, by cross-validation.

    Every training set is the beginning of one random order of its fold's training rows, and all models of a fold are
    tested on the same rows. So the values are one joint estimate: `curve.band()` holds at all sizes at once, and
    `curve.map(lambda v: v[..., -1:] - v[..., :-1])` says what more rows give. `strat.planning.fit_learning_curve` goes
    beyond the largest size.

    Parameters
    ----------
    estimator, X, y, cv, groups, units, positive, rng, n_jobs
        As for `strat.cross_validate`.
    sizes
        Numbers of training rows, or shares of the smallest training set.
    scoring
        One measure of those that `strat.cross_validate` takes.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(300, means=[[-1, 0], [1, 0]], rng=1)
    >>> curve = learning_curve(GaussianNB(), data.X, data.y, sizes=[20, 60, 240])
    >>> curve.axes[0].labels, curve.value.shape
    ((20, 60, 240), (3,))
    """
    job, source = task(estimator, X, y, units_of(units, groups), rng), random_source(rng)
    splits, _ = all_folds(job, cv, 1, True, source)
    (scorer, *others) = scorers(scoring, scored=True)
    if others:
        raise StratError.about("scoring", f"must be one measure for a learning curve, got {len(others) + 1}.")
    orders = [source.permutation(train) for train, _ in splits]
    each: dict[int, Statistic] = {}
    columns: Mapping[str, Any] = {}
    for size in _training_sizes(sizes, min(map(len, orders))):
        cut = [(np.sort(order[:size]), test) for order, (_, test) in zip(orders, splits, strict=True)]
        if any(len(np.unique(job.y[train])) < len(job.classes) for train, _ in cut):
            raise StratError.about("sizes", f"must leave every class in every training set, got {size:,}.")
        sessions = run(job, cut, n_jobs=n_jobs)
        columns = table(job, sessions, *repeat_numbers(cut, len(job)))
        each[size] = scorer.statistic(outcome_of(job, sessions, columns, positive))
    return estimate(stack("training rows", each), on=prediction_design(job, columns, None, None, "error"))


def _training_sizes(sizes: ArrayLike, most: int) -> list[int]:
    """Numbers of training rows, in order; shares are of the smallest training set."""
    given = np.atleast_1d(values("sizes", sizes))
    shares = bool(((given > 0) & (given <= 1)).all()) and np.asarray(sizes).dtype.kind == "f"
    numbers = np.maximum(1, np.floor(given * most)) if shares else given
    if not len(numbers) or (numbers < 1).any() or (numbers > most).any() or (numbers != np.floor(numbers)).any():
        raise StratError.about(
            "sizes",
            f"must be from 1 to {most:,} rows, which the smallest training set has, or shares of it, got "
            f"{some(given.tolist(), 3)}.",
        )
    return sorted({int(number) for number in numbers})


def all_folds(job: Task, cv: Any, repeats: int, stratify: bool, source: np.random.Generator) -> tuple[list[Split], str]:
    """All pairs of training and test rows, and what they are called."""
    given = not isinstance(cv, int | np.integer)
    if given and repeats != 1:
        raise StratError.about(
            "repeats", f"must be 1 with given splits, got {repeats}; let the splitter repeat itself."
        )
    parts = [fold_splits(job, cv, stratify=stratify, source=source) for _ in range(repeats)]
    often = f"{repeats} × " if repeats > 1 else ""
    name = f"cross-validation ({parts[0][1]})" if given else f"{often}{parts[0][1]} cross-validation"
    return [split for part, _ in parts for split in part], name


def outcome_of(job: Task, sessions: Sequence[Session], columns: Mapping[str, Any], positive: object) -> Outcome:
    """What the sessions said, together, ready to be measured."""
    each = [s.scores for s in sessions]
    known = [scores for scores in each if scores is not None]
    scores = np.concatenate(known) if len(known) == len(each) else None
    probabilities = sessions[0].scored_by == "predict_proba"
    model = type(job.estimator).__name__
    return Outcome(columns["truth"], columns["predicted"], scores, probabilities, job.classes, positive, model)


@dataclass(frozen=True, eq=False)
class Models:
    """What trained models said of rows that they had not seen, ready to be measured with limits.

    Attributes
    ----------
    sessions, splits
        Their trainings and testings.
    columns, outcome
        All answers as columns, and ready to be measured.
    design
        How the answered rows were drawn.
    watch
        The rows that all models answered.
    """

    sessions: Sequence[Session]
    splits: Sequence[Split]
    columns: Mapping[str, NDArray[Any]]
    outcome: Outcome
    design: Design
    watch: NDArray[np.int64]

    def inflation(self, *, ranks: bool) -> float:
        """What variances are multiplied by because models trained on other rows would have said something else."""
        wrong = self.outcome.truth != self.outcome.predicted
        error, answers = float(wrong.mean()), self.wrong_answers
        known, truth = self._watched
        trainings = Trainings.of(self.splits, self.watch[known], self.rows)
        of_labels = 1.0 if answers is None else trainings.inflation(answers, error * (1.0 - error))
        if ranks and len(self.outcome.classes) == 2:
            scores = [None if one.watched_scores is None else one.watched_scores[known] for one in self.sessions]
            of_rows = intervals.ranks_of(scores, truth == self.outcome.classes[-1])
            of_labels = max(of_labels, 1.0 if of_rows is None else trainings.inflation(of_rows, 1.0, smooth=True))
        row = np.unique(self.columns["row"], return_inverse=True)[1].reshape(-1)
        return of_labels * intervals.of_one_test(np.bincount(row, wrong) / np.bincount(row))

    @property
    def wrong_answers(self) -> Array | None:
        """Whether each model is wrong on the rows that were watched and tested."""
        known, truth = self._watched
        sessions = [replace(s, watched=None if s.watched is None else s.watched[known]) for s in self.sessions]
        return intervals.wrong_answers(sessions, truth)

    @property
    def rows(self) -> int:
        """Rows that were trained on or tested, up to the last one."""
        return 1 + int(max(max(train.max(), test.max()) for train, test in self.splits))

    @property
    def _watched(self) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which of the watched rows were tested, and their labels."""
        truth = np.empty(self.rows, self.outcome.truth.dtype)
        truth[self.columns["row"]] = self.outcome.truth
        known = np.isin(self.watch, self.columns["row"])
        return known, truth[self.watch[known]]

    def inflation_against(self, other: Models) -> float:
        """The same for the difference of the errors of these models and of others, of the same splits."""
        a, b = self.wrong_answers, other.wrong_answers
        if a is None or b is None:
            return 1.0
        wrong, others = ((o.truth != o.predicted).astype(float) for o in (self.outcome, other.outcome))
        trainings = Trainings.of(self.splits, self.watch[self._watched[0]], self.rows)
        return trainings.inflation(a - b, float((wrong - others).var()))

    def estimate(self, scorer: Scorer) -> Estimate:
        """A measure with its limits for models that are trained anew."""
        o, metric = self.outcome, scorer.metric
        one = estimate(scorer.statistic(o), on=self.design)
        if len(self.splits) < 2:
            return one
        inflation = self.inflation(ranks=scorer.by_score)
        if scorer.mean_of_f1:
            return intervals.mean_f1(one, o.truth, o.predicted, self.design, inflation)
        if metric.function is auc and len(o.classes) == 2:
            score = o.every_class(scorer.name)[:, -1]
            fold = np.unique([self.columns["repeat"], self.columns["fold"]], axis=1, return_inverse=True)[1].reshape(-1)
            positive = o.truth == o.classes[-1]
            of_folds = intervals.auc_of_folds(one, score, positive, fold, self.design)
            one = one if of_folds is None else of_folds
        return intervals.for_models(one, inflation)


def _rows_of(argument: str, values: Any, job: Task) -> NDArray[Any]:
    same_length(y=job.y, **{argument: values})
    return np.asarray(values)


def prediction_design(
    job: Task, columns: Mapping[str, NDArray[Any]], strata: ArrayLike | None, weights: Array | None, lone: str
) -> Design:
    """The design of the predictions: rows that were tested more than once are one unit."""
    row = columns["row"]
    roles: dict[str, NDArray[Any]] = {}
    if "unit" in columns:
        roles["units"] = columns["unit"]
    elif len(np.unique(row)) < len(row):
        roles["units"] = row
    if strata is not None:
        codes, labels = encode("strata", strata)
        roles["strata"] = labels[_rows_of("strata", codes, job)[row]]
    return design_of(roles, rows=len(row), weights=weights, sampling=Sampling(lone=lone))


def values_by_fold(scorer: Scorer, outcome: Outcome, sizes: Sequence[int], weights: Array | None) -> Array:
    """The measure in each fold, as scikit-learn gives it."""
    ends = np.cumsum(sizes)
    values = np.full(len(sizes), np.nan)
    for fold, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        rows = slice(int(start), int(end))
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                part = scorer.statistic(outcome.at(rows))
                values[fold] = part.value(None if weights is None else weights[rows])
        except StratError:  # one class only in this fold, say
            continue
    return values


def _targets(models: Models, wanted: Sequence[Scorer], unit: str) -> list[Note]:
    """Which models the intervals are for, where several were trained."""
    if len(models.splits) < 2:
        return []
    factor = float(np.sqrt(models.inflation(ranks=False)))
    notes = [Note("new-models", {"models": len(models.splits), "unit": unit, "factor": factor})]
    macro = [one.name for one in wanted if one.mean_of_f1]
    return [*notes, *(Note("new-models", {"case": "macro"}).of(metric=name) for name in macro)]


def _notes(job: Task, models: Models, wanted: Sequence[Scorer]) -> list[Note]:
    """What the intervals hold, and what they do not."""
    splits, columns, outcome = models.splits, models.columns, models.outcome
    notes: list[Note] = [
        *_targets(models, wanted, "row" if job.unit is None else "cluster"),
        *torn_units(job, splits),
    ]
    if (untested := len(job) - len(np.unique(columns["row"]))) > 0:
        notes.append(Note("rows-not-tested", {"untested": untested, "of": len(job)}))
    pooled = any(one.by_score and one.metric.function is not auc for one in wanted)
    if len(splits) > 1 and not outcome.probabilities and (pooled or len(outcome.classes) > 2):
        notes.append(Note("scores-of-several-models", {"models": len(splits)}))
    return notes


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _library(X: Any) -> str | None:
    name = type(X).__module__.partition(".")[0]
    return name if name in render.LIBRARIES else None
