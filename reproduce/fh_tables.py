"""F&H's Tables I to IV recomputed beside the printed values, with many more repetitions than the ten of 1989."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from reproduce.printed import CASES, FEATURES, RATIOS, SIZES, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_4_SECOND
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.bootstrap_bias import bootstrap_bias, simulate_bootstrap_bias
from strat.gaussian.degradation import leave_one_out_bias, leave_one_out_bias_between, quadratic_degradation
from strat.gaussian.dependent import both_errors, distances, fit, half_score, left_out_score
from strat.gaussian.finite_samples import (
    distance_for_error,
    draw_estimates,
    draw_samples,
    simulate_bias,
    simulate_degradation,
)
from strat.gaussian.outliers import with_sample
from strat.gaussian.problems import (
    GaussianClass,
    Problem,
    scaled_problem,
    shifted_problem,
    standard_problem,
    two_gaussians,
)
from strat.gaussian.rules import errors_of_designs

Progress = Callable[[int, int], None]
PRINTED_REPETITIONS = 10
Cell = float | str


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """A printed table beside ours; numbers in percent, `z` in standard errors of the difference.

    `chances` has for each row the share of averages of ten of our own trials that lie above the printed average.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    repetitions: int
    chances: tuple[float, ...] = ()

    def column(self, name: str) -> list[Cell]:
        """The values of one column, top to bottom."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def __str__(self) -> str:
        texts = [[_text(cell) for cell in row] for row in self.rows]
        widths = [max(len(t) for t in column) for column in zip(self.columns, *texts, strict=True)]
        lines = [self.title, "  ".join(c.rjust(w) for c, w in zip(self.columns, widths, strict=True))]
        lines += ["  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True)) for row in texts]
        return "\n".join(lines)


@checked
def table_1(
    *, repetitions: int = 1000, rng: int | np.random.Generator = 0, progress: Progress | None = None
) -> Reproduction:
    """F&H Table I: the error of a quadratic classifier designed on k·n samples a class, Bayes error 10 %.

    Examples
    --------
    >>> table = table_1(repetitions=4)
    >>> row = table.rows[0]
    >>> row[:4]                                       # n, k, theory, printed theory
    (4, 3, 14.5..., 14.5)
    """

    def theory(n: int, samples: int, distance: float) -> float:
        return 0.10 + quadratic_degradation(features=n, design_samples=samples, distance=distance, method="first order")

    def experiment(problem: Problem, samples: int, generator: np.random.Generator) -> Array:
        return simulate_degradation(problem, design_samples=samples, repetitions=repetitions, rng=generator).values

    rows, chances = _shifted_rows(TABLE_1, theory, experiment, repetitions, rng, progress)
    title = f"F&H Table I: quadratic classifier degradation for I-I (%), {repetitions} repetitions"
    return Reproduction(title, COLUMNS, rows, repetitions, chances)


@checked
def table_2(
    *, repetitions: int = 1000, rng: int | np.random.Generator = 0, progress: Progress | None = None
) -> Reproduction:
    """F&H Table II: the bias between leave-one-out and resubstitution errors of a quadratic classifier.

    Examples
    --------
    >>> table_2(repetitions=2).rows[0][:4]            # n, k, theory, printed theory
    (4, 3, 9.0..., 9.0)
    """

    def theory(n: int, samples: int, distance: float) -> float:
        return leave_one_out_bias(features=n, design_samples=samples, distance=distance, method="first order")

    def experiment(problem: Problem, samples: int, generator: np.random.Generator) -> Array:
        return simulate_bias(problem, design_samples=samples, repetitions=repetitions, rng=generator).values

    rows, chances = _shifted_rows(TABLE_2, theory, experiment, repetitions, rng, progress)
    title = f"F&H Table II: leave-one-out less resubstitution for I-I (%), {repetitions} repetitions"
    return Reproduction(title, COLUMNS, rows, repetitions, chances)


COLUMNS = ("n", "k", "theory", "printed theory", "mean", "se", "printed mean", "sd", "printed sd", "z")


def _shifted_rows(
    printed: dict[tuple[int, int], tuple[float, float, float]],
    theory: Callable[[int, int, float], float],
    experiment: Callable[[Problem, int, np.random.Generator], Array],
    repetitions: int,
    rng: int | np.random.Generator,
    progress: Progress | None,
) -> tuple[tuple[tuple[Cell, ...], ...], tuple[float, ...]]:
    if repetitions < 2:
        raise StratError(f"`repetitions` must be at least 2, got {repetitions!r}; one has no spread.")
    generator, distance = np.random.default_rng(rng), distance_for_error(0.10)
    rows: list[tuple[Cell, ...]] = []
    chances: list[float] = []
    for n, k in _counted([(n, k) for n in FEATURES for k in RATIOS], progress):
        problem = shifted_problem(n, distance=distance)
        values = 100 * experiment(problem, n * k, generator)
        first, second, third = printed[n, k]
        mean, sd = float(values.mean()), float(values.std(ddof=1))
        se = sd / float(np.sqrt(repetitions))
        z = _gap(second, values, 0.01)
        rows.append((n, k, 100 * theory(n, n * k, distance), first, mean, se, second, sd, third, z))
        chances.append(chance_of(second, values, 0.01))
    return tuple(rows), tuple(chances)


def _gap(printed: float, values: Array, unit: float) -> float:
    """How far a printed average of ten is from ours, in standard errors; printing rounded it to `unit`."""
    sampling = values.var(ddof=1) * (1 / PRINTED_REPETITIONS + 1 / len(values))
    return float((printed - values.mean()) / np.sqrt(sampling + unit**2 / 12))


def chance_of(printed: float, values: Array, unit: float) -> float:
    """How many averages of ten lie above the printed one, those that round to it by half: drawn from our own trials.

    The drawn averages are spread a little wider, because the centre of our trials is uncertain too.
    """
    draws = np.random.default_rng(0).integers(0, len(values), (RESAMPLED, PRINTED_REPETITIONS))
    wider = np.sqrt(1 + PRINTED_REPETITIONS / len(values))
    gap = (values[draws].mean(axis=1) - values.mean()) * wider + values.mean() - printed
    share = float((gap > unit / 2).mean() + (np.abs(gap) <= unit / 2).mean() / 2)
    return float(np.clip(share, 1 / RESAMPLED, 1 - 1 / RESAMPLED))


RESAMPLED = 4000


def _counted(items: list[tuple[int, int]], progress: Progress | None) -> Iterator[tuple[int, int]]:
    for done, item in enumerate(items, 1):
        yield item
        if progress:
            progress(done, len(items))


@checked
def table_3(
    *, repetitions: int = 1000, rng: int | np.random.Generator = 0, progress: Progress | None = None
) -> Reproduction:
    """F&H Table III: true error without an outlier, less that with one at d² = n/2, n, 2n and 3n.

    Examples
    --------
    >>> table_3(repetitions=10).columns[:4]
    ('case', 'N', 'd²/n', 'without')
    """
    seed = rng if isinstance(rng, int) else int(rng.integers(2**32))
    made = {
        (c, place): trials
        for _, place in _counted([(0, i) for i in range(len(SIZES))], progress)
        for c, trials in enumerate(outlier_trials(SIZES[place], repetitions, seed))
    }
    rows: list[tuple[Cell, ...]] = []
    chances: list[float] = []
    for c, place in sorted(made):
        (without, *gains), printed = 100 * made[c, place], TABLE_3[c][place]
        chances += [chance_of(told, gain, 0.001) for told, gain in zip(printed[1:], gains, strict=True)]
        z = _gap(printed[0], without, 0.01)
        for multiple, gain, told in zip(MULTIPLES, gains, printed[1:], strict=True):
            se = gain.std(ddof=1) / np.sqrt(repetitions)
            numbers = (without.mean(), printed[0], z, gain.mean(), se, told, _gap(told, gain, 0.001))
            rows.append((CASES[c], SIZES[place], multiple, *(float(v) for v in numbers)))
    title = f"F&H Table III: error without less error with an outlier (%), {repetitions} repetitions"
    columns = ("case", "N", "d²/n", "without", "printed", "z error", "bias", "se", "printed bias", "z")
    return Reproduction(title, columns, tuple(rows), repetitions, tuple(chances))


MULTIPLES = (0.5, 1.0, 2.0, 3.0)


def case_of(code: int) -> Problem:
    if code == 0:
        return shifted_problem(8, distance=distance_for_error(0.10))
    return scaled_problem(8) if code == 1 else standard_problem()


@cache
def outlier_trials(samples: int, repetitions: int, seed: int) -> Array:
    """The error without an outlier, and what it is less with one at each distance: problems × five × trials.

    The three problems share their draws, as those of the paper do (see the errata): they differ in means and factors.
    """
    generator = np.random.default_rng([seed, samples])
    white = GaussianClass(np.zeros(FEATURES_OF_III))
    drawn = [draw_estimates(white, samples, repetitions, generator) for _ in range(2)]
    direction = generator.standard_normal((repetitions, FEATURES_OF_III))
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    found = []
    for problem in map(case_of, range(3)):
        first, second = two_gaussians(problem)
        one, two = (
            (kind.mean + means @ kind.factor.T, kind.factor @ covariances @ kind.factor.T)
            for kind, (means, covariances) in zip((first, second), drawn, strict=True)
        )
        without = problem.priors @ errors_of_designs(*one, *two, problem)
        found.append([without])
        for multiple in MULTIPLES:
            outlier = first.mean + np.sqrt(multiple * FEATURES_OF_III) * direction @ first.factor.T
            joined = with_sample(*one, samples, outlier)
            found[-1].append(without - problem.priors @ errors_of_designs(*joined, *two, problem))
    return np.array(found)


FEATURES_OF_III = 8


def scores_of_tens(trials: Array, printed: Array, unit: float, rng: int) -> tuple[Array, Array]:
    """Normal scores of printed averages among averages of ten of our trials, and those of the drawn averages.

    `trials` has cells × trials of the same draws, so that the drawn scores keep how the cells depend on each other.
    """
    draws = np.random.default_rng(rng).integers(0, trials.shape[1], (RESAMPLED, PRINTED_REPETITIONS))
    wider, centre = np.sqrt(1 + PRINTED_REPETITIONS / trials.shape[1]), trials.mean(axis=1, keepdims=True)
    means = (trials[:, draws].mean(axis=2) - centre) * wider + centre  # the centre is uncertain, too
    below = np.array(
        [
            (m < p - unit / 2).mean() + (np.abs(m - p) <= unit / 2).mean() / 2
            for m, p in zip(means, printed, strict=True)
        ]
    )
    ranks = (rankdata(means, axis=1) - 0.5) / RESAMPLED
    return ndtri(np.clip(below, 1 / RESAMPLED, 1 - 1 / RESAMPLED)), ndtri(ranks)


def shortened_biases(problem: Problem, samples: int, repetitions: int, rng: int) -> Array:
    """ε_L - ε_R where the left-out score lacks n ln((N-1)/(N-2)) / 2, which the covariance of N - 1 samples brings."""
    sets = [
        draw_samples(kind, samples, repetitions, np.random.default_rng([rng, i]))
        for i, kind in enumerate(two_gaussians(problem))
    ]
    bias = np.zeros(repetitions)
    for own, other in (sets, sets[::-1]):
        mean, root, logs = fit(own)
        squares, (centre, rival, rival_logs) = distances(own, mean, root), fit(other)
        threshold = half_score(distances(own, centre, rival), rival_logs)
        lost = problem.dimension * np.log((samples - 1) / (samples - 2)) / 2
        outside = left_out_score(squares, logs, samples, problem.dimension) - lost
        bias += ((outside > threshold).mean(axis=1) - (half_score(squares, logs) > threshold).mean(axis=1)) / 2
    return bias


@checked
def table_4(
    *,
    repetitions: int = 200,
    bootstraps: int = 100,
    rng: int | np.random.Generator = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """F&H Table IV: resubstitution, leave-one-out and bootstrap, drawn and by formula (87) and (93).

    The column `second` is the standard deviation over sample sets, except for ε_R, where it is 100 times
    the variance, as in the paper. Lines without a printed value are the formulas'.

    Examples
    --------
    >>> table_4(repetitions=3, bootstraps=5).columns[:4]
    ('case', 'N', 'quantity', 'mean')
    """
    generator = np.random.default_rng(rng)
    rows: list[tuple[Cell, ...]] = []
    chances: list[float] = []
    for c, place in _counted([(c, i) for c in range(3) for i in range(len(SIZES))], progress):
        size, problem = SIZES[place], case_of(c)
        trials = 100 * _bootstrap_trials(problem, size, repetitions, bootstraps, generator)
        printed, lower = TABLE_4[c][place], TABLE_4_SECOND[c][place]
        for i, name in enumerate(QUANTITIES):
            mean, sd = float(trials[:, i].mean()), float(trials[:, i].std(ddof=1))
            second = sd**2 / 100 if i == 0 else sd
            se = sd / np.sqrt(repetitions)
            if i < len(printed):
                z = _gap(printed[i], trials[:, i], 0.01)
                rows.append((CASES[c], size, name, mean, float(se), second, printed[i], lower[i], z))
                chances.append(chance_of(printed[i], trials[:, i], 0.01))
            else:
                chances.append(np.nan)
                rows.append((CASES[c], size, name, mean, float(se), second, np.nan, np.nan, np.nan))
        theory = 100 * leave_one_out_bias_between(problem, design_samples=size, method="first order")
        rows.append((CASES[c], size, "(56) theory", theory, 0.0, 0.0, np.nan, np.nan, np.nan))
        chances.append(np.nan)
    title = f"F&H Table IV: bootstrap results (%), {repetitions} sample sets of {bootstraps} bootstraps"
    columns = ("case", "N", "quantity", "mean", "se", "second", "printed", "printed second", "z")
    return Reproduction(title, columns, tuple(rows), repetitions, tuple(chances))


QUANTITIES = ("ε_R", "ε_L", "ε_L-ε_R", "ε_R+E*", "E*", "Var*", "(87)", "(93)")


def _bootstrap_trials(
    problem: Problem, samples: int, repetitions: int, bootstraps: int, rng: np.random.Generator
) -> Array:
    first, second = two_gaussians(problem)
    rows = np.empty((repetitions, len(QUANTITIES)))
    for i in range(repetitions):
        one, two = (draw_samples(kind, samples, 1, rng)[0] for kind in (first, second))
        resubstitution, left_out = both_errors(one[None], two[None], priors=problem.priors)
        drawn = simulate_bootstrap_bias(one, two, replicates=bootstraps, rng=rng).values
        formula = bootstrap_bias(one, two)
        r, left, star = resubstitution[0], left_out[0], drawn.mean()
        rows[i] = (r, left, left - r, r + star, star, drawn.var(ddof=1), formula.bias, formula.variance)
    return rows


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return str(cell)
    return "" if np.isnan(cell) else f"{cell:.3f}"
