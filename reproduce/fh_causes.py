"""Which experiment did F&H do? Ways in which theirs may differ from the text, judged by the values that they print.

`python -m reproduce.fh_causes` prints three tables of log-likelihoods (some minutes): points 39 and 40 of the errata.
An average of ten experiments is taken for normal, with the moments of our own trials and the rounding of the print.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.stats import multivariate_normal

from reproduce.fh_tables import FEATURES_OF_III, MULTIPLES, PRINTED_REPETITIONS, case_of
from reproduce.printed import FEATURES, RATIOS, SIZES, TABLE_2, TABLE_3, TABLE_4
from strat.base.validate.columns import Array
from strat.gaussian.dependent import distances, fit, half_score, left_out
from strat.gaussian.finite_samples import distance_for_error, draw_samples
from strat.gaussian.problems import GaussianClass, Problem, shifted_problem, two_gaussians
from strat.gaussian.rules import errors_of_designs

Estimates = tuple[Array, Array]
DAMAGED = {(0, 80), (0, 240), (0, 400)}  # problem and N of the rows of Table III with a misprint
DESCRIBED = "as described"


def _estimates(points: Array, divisor: int = 1) -> Estimates:
    mean = points.mean(axis=1)
    centred = points - mean[:, None]
    return mean, np.swapaxes(centred, 1, 2) @ centred / (points.shape[1] - divisor)


def _joined(points: Array, y: Array, divisor: int = 1) -> Estimates:
    return _estimates(np.concatenate([points, y[:, None]], axis=1), divisor)


def _updated(points: Array, y: Array, *, shrink: float, grow: float, step: float) -> Estimates:
    mean, covariance = _estimates(points)
    away = y - mean
    return mean + away * step, covariance * shrink + away[:, :, None] * away[:, None, :] * grow


def _first_order(points: Array, y: Array, kind: GaussianClass) -> Estimates:
    (mean, covariance), away, n = _estimates(points), y - kind.mean, points.shape[1]
    return mean + away / n, covariance + (away[:, :, None] * away[:, None, :] - kind.covariance) / n


def _outlier(points: Array, kind: GaussianClass, direction: Array, distance: float, about: str) -> Array:
    """Y at the distance from the mean of the class, or of its sample; in the metric of either."""
    mean, covariance = _estimates(points)
    factor = np.linalg.cholesky(covariance) if about == "own metric" else kind.factor
    centre = kind.mean if about == "class" else mean
    return np.asarray(centre + distance * np.einsum("...ij,...j->...i", factor, direction))


def gains(samples: int, hypothesis: str, draws: tuple[Array, Array, Array]) -> Array:
    """Errors without, and gains at each distance, in percent: problems × five × trials."""
    found = []
    for problem in map(case_of, range(3)):
        kinds = two_gaussians(problem)
        one, two = (kind.mean + z[:, :samples] @ kind.factor.T for kind, z in zip(kinds, draws[:2], strict=True))
        if hypothesis == "one sample fewer":
            one, two = one[:, 1:], two[:, 1:]
        divisor = 0 if hypothesis == "covariances with the divisor N" else 1
        before, other = _estimates(one, divisor), _estimates(two, divisor)
        without = problem.priors @ errors_of_designs(*before, *other, problem)
        found.append([without])
        for multiple in MULTIPLES:
            reach = np.sqrt(multiple * FEATURES_OF_III)
            y = _outlier(one, kinds[0], draws[2], reach, ABOUT.get(hypothesis, "class"))
            joined = JOINING[hypothesis](one, y, kinds[0]) if hypothesis in JOINING else _joined(one, y, divisor)
            rival = other
            if hypothesis == "an outlier in each class":
                rival = _joined(two, _outlier(two, kinds[1], draws[2], reach, "class"))
            found[-1].append(without - problem.priors @ errors_of_designs(*joined, *rival, problem))
    return 100 * np.array(found)


ABOUT = {"distance from the sample's mean": "mean", "distance in the sample's own metric": "own metric"}
JOINING: dict[str, Callable[[Array, Array, GaussianClass], Estimates]] = {
    "replaces a sample": lambda x, y, kind: _joined(x[:, 1:], y),
    "mean not updated in (38)": lambda x, y, kind: _updated(
        x, y, shrink=1 - 1 / x.shape[1], grow=1 / x.shape[1], step=1 / (x.shape[1] + 1)
    ),
    "covariance not rescaled": lambda x, y, kind: _updated(
        x, y, shrink=1.0, grow=1 / (x.shape[1] + 1), step=1 / (x.shape[1] + 1)
    ),
    "(39) and (40) alone": _first_order,
}
HYPOTHESES = (
    DESCRIBED,
    "covariances with the divisor N",
    "one sample fewer",
    *JOINING,
    *ABOUT,
    "an outlier in each class",
)


def _drawn(samples: int, trials: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    one, two = (rng.standard_normal((trials, samples, FEATURES_OF_III)) for _ in range(2))
    direction = rng.standard_normal((trials, FEATURES_OF_III))
    return one, two, direction / np.sqrt((direction**2).sum(axis=1, keepdims=True))


def by_distance(trials: int, hypotheses: tuple[str, ...] = HYPOTHESES) -> dict[str, float]:
    """Log-likelihood of the four biases of each row of Table III, less that of the experiment as described."""
    total = dict.fromkeys(hypotheses, 0.0)
    for i, size in enumerate(SIZES):
        draws = _drawn(size, trials, np.random.default_rng(size))
        for name in hypotheses:
            found = gains(size, name, draws)
            for c in range(3):
                if (c, size) not in DAMAGED:
                    total[name] += _log_likelihood(found[c, 1:], np.array(TABLE_3[c][i][1:]), 0.001)
    return {name: value - total[hypotheses[0]] for name, value in total.items()}


def by_sharing(trials: int) -> dict[str, float]:
    """Log-likelihood of the biases at d² = n with draws shared by problems, by sizes, or both, less that of neither."""
    draws = _drawn(SIZES[-1], trials, np.random.default_rng(0))
    found = np.array([gains(size, DESCRIBED, draws)[:, 2] for size in SIZES])  # sizes × problems × trials
    printed = np.array([[case[i][2] for case in TABLE_3] for i in range(len(SIZES))])
    size, problem = (axis.ravel() for axis in np.indices(printed.shape))
    same = {
        "neither": (size[:, None] == size) & (problem[:, None] == problem),
        "shared by the three problems": size[:, None] == size,
        "shared by all N": problem[:, None] == problem,
        "shared by both": np.ones((24, 24), bool),
    }
    flat = found.reshape(24, -1)
    values = {name: _log_likelihood(flat, printed.ravel(), 0.001, where) for name, where in same.items()}
    return {name: value - values["neither"] for name, value in values.items()}


def _log_likelihood(trials: Array, printed: Array, unit: float, where: Array | bool = True) -> float:
    """Of averages of ten that are printed to a unit; cells × trials."""
    spread = np.atleast_2d(np.cov(trials)) / PRINTED_REPETITIONS
    spread = np.where(where, spread, 0.0) + np.eye(len(spread)) * unit**2 / 12
    return float(multivariate_normal.logpdf(printed, trials.mean(axis=1), spread))


LEAVING = (
    DESCRIBED,
    "without n ln((N − 1)/(N − 2))",
    "whole logarithms for halves",
    "N + 1 for N",
    "covariances with the divisor N",
    "determinant left as it is",
    "the scatter alone left out",
    "(49) for the exact change",
)


def leaving_out(problem: Problem, samples: int, trials: int, rng: np.random.Generator) -> dict[str, Array]:
    """ε_L − ε_R in percent of each trial, by each way to leave a sample out."""
    sets = [draw_samples(kind, samples, trials, rng) for kind in two_gaussians(problem)]
    found = {name: np.zeros(trials) for name in LEAVING}
    for own, other in (sets, sets[::-1]):
        for name in LEAVING:
            divisor = samples / (samples - 1) if name == "covariances with the divisor N" else 1.0
            squares, logs = _measured(own, own, divisor)
            rival = half_score(*_measured(own, other, divisor))
            outside = _left_out(name, squares, logs, samples, problem.dimension)
            moved = (outside > rival).mean(axis=1) - (half_score(squares, logs) > rival).mean(axis=1)
            found[name] += 50 * moved
    return found


def _measured(points: Array, sample: Array, divisor: float) -> tuple[Array, Array]:
    mean, root, logs = fit(sample)
    return distances(points, mean, root) * divisor, logs - points.shape[2] * np.log(divisor)


def _left_out(name: str, squares: Array, logs: Array, count: int, features: int) -> Array:
    """The score of each point without that point."""
    if name == "(49) for the exact change":
        return half_score(squares, logs) + (squares**2 + features) / (2 * count)
    if name == "covariances with the divisor N":
        distance, rest = left_out(squares, 1 / count, count)
        shrink = (count - 1) / count
        return np.asarray((distance * shrink + logs[:, None] - features * np.log(shrink) + np.log(rest)) / 2)
    count += name == "N + 1 for N"
    shrink = (count - 2) / (count - 1)
    distance, rest = left_out(shrink * squares, 1 / (count - 2), count)
    if name == "the scatter alone left out":
        distance = distance * ((count - 1) / count) ** 2
    divisors, determinant = -features * np.log(shrink), np.log(rest)
    if name == "determinant left as it is":
        divisors, determinant = 0.0, np.zeros_like(rest)
    if name == "without n ln((N − 1)/(N − 2))":
        divisors = 0.0
    if name == "whole logarithms for halves":
        divisors, determinant = 2 * divisors, 2 * determinant
    return np.asarray((distance + logs[:, None] + divisors + determinant) / 2)


def by_leaving(trials: int) -> dict[str, tuple[float, float, float, float]]:
    """Pooled z and log-likelihood (less that of the exact formula) of Table II, and of Table IV (a) and (b)."""
    distance = distance_for_error(0.10)
    second = [(shifted_problem(n, distance=distance), n * k, TABLE_2[n, k][1]) for n, k in product(FEATURES, RATIOS)]
    fourth = [(case_of(c), size, TABLE_4[c][i][2]) for c, (i, size) in product(range(2), enumerate(SIZES))]
    columns = []
    for cells in (second, fourth):
        z, logs = dict.fromkeys(LEAVING, 0.0), dict.fromkeys(LEAVING, 0.0)
        for problem, size, told in cells:
            runs = int(np.clip(trials * 400 // (size * problem.dimension // 8), 60, trials))
            for name, found in leaving_out(problem, size, runs, np.random.default_rng(size)).items():
                spread = found.var(ddof=1) * (1 / PRINTED_REPETITIONS + 1 / runs) + 0.01**2 / 12
                z[name] += (told - found.mean()) / np.sqrt(spread * len(cells))
                logs[name] -= (told - found.mean()) ** 2 / (2 * spread) + np.log(spread) / 2
        columns.append((z, {name: value - logs[DESCRIBED] for name, value in logs.items()}))
    return {name: tuple(column[name] for pair in columns for column in pair) for name in LEAVING}  # type: ignore[misc]


def main() -> None:
    """Print the three tables."""
    print("Table III, four biases of a row: log-likelihood less that of the experiment as described")
    for name, value in by_distance(600).items():
        print(f"  {name:36} {value:8.1f}")
    print("Table III, biases at d² = n: log-likelihood less that of draws of their own")
    for name, value in by_sharing(1500).items():
        print(f"  {name:36} {value:8.1f}")
    print("Leaving one out: pooled z and log-likelihood of Table II, and of Table IV (a) and (b)")
    for name, row in by_leaving(600).items():
        print(f"  {name:36}" + "".join(f"{value:9.1f}" for value in row))


if __name__ == "__main__":
    main()
