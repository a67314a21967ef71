"""The bootstrap: optimism, out-of-bag, .632 and .632+ from one set of replicas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.base.validate.scalars import Rng
from strat.designs import Design
from strat.protocols.intervals import Trainings, of_row_errors
from strat.protocols.keywords import spelled
from strat.protocols.protocol_result import NEARLY_UNBIASED, OPTIMISTIC, PESSIMISTIC, ProtocolResult
from strat.protocols.running import Rows, Session, Split, Task, memory, random_source, run, table, task, times
from strat.protocols.summaries import ROWS, UNITS

BIAS = {
    "optimism": OPTIMISTIC,
    "out-of-bag": PESSIMISTIC,
    "out-of-bag by replica": PESSIMISTIC,
    ".632": OPTIMISTIC,
    ".632+": NEARLY_UNBIASED,
    ".632+ uncapped": NEARLY_UNBIASED,
}
TRIES = 100  # draws of a bootstrap sample that holds every class


@spelled
@checked
def bootstrap(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    replicates: int = 200,
    variant: str = ".632+",
    units: ArrayLike | Design | None = None,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The error by bootstrap replicas of the rows, or of the units.

    All variants come from the same trainings; `details["variants"]` has all of them.

    Parameters
    ----------
    estimator, X, y
        As in `holdout`.
    replicates
        How many replicas are drawn. A replica that misses a class is drawn again.
    variant
        "optimism" (Efron's: resubstitution plus the mean difference between a replica's classifier on all rows
        and on its own), "out-of-bag" (the mean over rows of the errors of classifiers that have not seen them),
        "out-of-bag by replica" (the mean over replicas of the errors on the rows that they left out, Kuncheva 1.3.4),
        ".632" (0.368 resubstitution + 0.632 out-of-bag) or ".632+" (Efron and Tibshirani 1997: (1 − w) resubstitution
        + w out-of-bag, where w = 0.632 / (1 − 0.368 R) grows with the relative overfitting R from 0.632 to 1).
        In ".632+" the out-of-bag error is capped at the no-information rate wherever it occurs, so that the estimate
        never exceeds that rate. Efron and Tibshirani's formula (32) caps it in R and in the correction that is added
        to ".632", but not in ".632" itself: where the out-of-bag error is above the no-information rate, that formula,
        and software that follows it, gives a larger error: it is ".632+ uncapped". Elsewhere the two are equal.
    units
        Draw whole units.
    rng
        Seed or Generator.
    n_jobs
        Sessions at a time, for joblib.

    Examples
    --------
    A replica leaves (1 − 1/100)^100 = 0.366 of a hundred rows out on the average, which tends to 1/e.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(100, means=[[-1, 0], [1, 0]], rng=1)
    >>> r = bootstrap(GaussianNB(), data.X, data.y, replicates=100)
    >>> abs(r.details["out_of_bag_share"] - 0.366) < 0.01, sorted(r.details["variants"])
    (True, ['.632', '.632+', '.632+ uncapped', 'optimism', 'out-of-bag', 'out-of-bag by replica'])
    """
    one_of("variant", variant, tuple(BIAS))
    job = task(estimator, X, y, units, rng)
    if validate.count("replicates", replicates) < 2:
        raise StratError.about("replicates", f"must be at least 2, got {replicates}.")
    counts, splits = _replicas(job, replicates, random_source(rng))
    rows = np.arange(len(job))
    apparent, *sessions = run(job, [(rows, rows), *splits], n_jobs=n_jobs)
    wrong = np.array([s.predicted != job.y for s in sessions], dtype=float)
    out = counts[:, job.unit if job.unit is not None else rows] == 0
    values = _variants(job, apparent, wrong, out, splits)
    error = float(values["variants"][variant])
    often = out.sum(axis=0)
    models = Trainings.of(splits, rows, len(job))
    unit = None if job.unit is None else job.unit[often > 0]
    each = of_row_errors((wrong * out).sum(axis=0)[often > 0] / often[often > 0], unit, wrong, models)
    plain = math.sqrt(each.error * (1.0 - each.error))
    return ProtocolResult(
        protocol=f"bootstrap ({variant})",
        error=error,
        se=each.se * (math.sqrt(error * max(1.0 - error, 0.0)) / plain if plain > 0 else 1.0),
        df=each.trials - 1,
        variance=f"{ROWS if job.unit is None else UNITS}, more where the trained models differ",
        bias=BIAS[variant],
        fold_errors=_by_replica(wrong, out),
        predictions=_out_of_bag_table(job, sessions, out),
        times=times([apparent, *sessions]),
        memory=memory(job, rows, apparent.fit),
        trials=counts.shape[1],
        details={**values, "out_of_bag_share": float(out.mean())},
    )


def _replicas(job: Task, replicates: int, source: np.random.Generator) -> tuple[NDArray[np.int64], list[Split]]:
    """How often each case is in each replica, and the replica's rows; everything is tested."""
    rows = np.arange(len(job))
    case = rows if job.unit is None else job.unit
    m = int(case.max()) + 1
    if m < 2:
        raise StratError.about("units", "must name at least two units to draw from, got one.")
    counts, splits = np.empty((replicates, m), np.int64), []
    for b in range(replicates):
        counts[b], train = _replica(job, rows, case, m, source)
        splits.append((train, rows))
    return counts, splits


def _replica(job: Task, rows: Rows, case: Rows, m: int, source: np.random.Generator) -> tuple[NDArray[np.int64], Rows]:
    for _ in range(TRIES):
        drawn = np.bincount(source.integers(m, size=m), minlength=m)
        train = np.repeat(rows, drawn[case])
        complete = len(np.unique(job.codes[train])) == len(job.classes)
        if complete and (drawn[case] == 0).any():
            return drawn, train
    least = int(job.class_sizes.min())
    raise StratError.about(
        "y",
        f"must have enough cases of every class for a bootstrap, got a class of {least} that {TRIES} "
        "replicas in a row missed; merge or drop it, or use leave_one_out.",
    )


def _variants(
    job: Task, apparent: Session, wrong: Array, out: NDArray[np.bool_], splits: list[Split]
) -> dict[str, Any]:
    resubstituted = float(np.mean(apparent.predicted != job.y))
    inside = np.array([w[train].mean() for w, (train, _) in zip(wrong, splits, strict=True)])
    optimism = float((wrong.mean(axis=1) - inside).mean())
    out_of_bag = _out_of_bag(wrong, out)
    chance = _no_information(job, apparent)
    capped = min(out_of_bag, chance)
    overfit = (capped - resubstituted) / (chance - resubstituted) if capped > resubstituted else 0.0
    weight = 0.632 / (1 - 0.368 * overfit)
    variants: Mapping[str, float] = {
        "optimism": max(resubstituted + optimism, 0.0),
        "out-of-bag": out_of_bag,
        "out-of-bag by replica": float(_by_replica(wrong, out).mean()),
        ".632": 0.368 * resubstituted + 0.632 * out_of_bag,
        ".632+": (1 - weight) * resubstituted + weight * capped,
        # Efron and Tibshirani (32): what is added to .632 is capped, .632 itself is not
        ".632+ uncapped": 0.368 * resubstituted + 0.632 * out_of_bag + (weight - 0.632) * (capped - resubstituted),
    }
    return {
        "variants": variants,
        "resubstitution": resubstituted,
        "no_information": chance,
        "overfitting": overfit,
    }


def _out_of_bag(wrong: Array, out: NDArray[np.bool_]) -> float:
    """The mean over rows of their error in the replicas that left them out."""
    often = out.sum(axis=0)
    seen = often > 0
    return float(((wrong * out).sum(axis=0)[seen] / often[seen]).mean())


def _by_replica(wrong: Array, out: NDArray[np.bool_]) -> Array:
    """The error of each replica's classifier on the rows that it left out."""
    return np.asarray((wrong * out).sum(axis=1) / out.sum(axis=1))


def _no_information(job: Task, apparent: Session) -> float:
    """The error if labels and predictions had nothing to do with each other, their shares kept."""
    predicted = np.searchsorted(job.classes, apparent.predicted)
    share = np.bincount(predicted, minlength=len(job.classes)) / len(job)
    return float(1 - (job.class_sizes / len(job)) @ share)


def _out_of_bag_table(job: Task, sessions: list[Session], out: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    kept = [
        Session(s.test[o], s.predicted[o], s.score[o], s.fit, s.predict) for s, o in zip(sessions, out, strict=True)
    ]
    return table(job, kept, range(len(kept)), [0] * len(kept))
