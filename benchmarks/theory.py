"""F&H's bootstrap bias without a bootstrap, the exact error of a quadratic classifier, and all of Table I."""

from __future__ import annotations

import os
import time

import numpy as np
from reproduce.fh_tables import table_1, table_2

from benchmarks.harness import best, ratio, show
from strat.gaussian import (
    bootstrap_bias,
    distance_for_error,
    estimate_class,
    quadratic_classifier_error,
    quadratic_rule,
    shifted_problem,
    simulate_bootstrap_bias,
)


def sklearn_bootstraps(one: np.ndarray, two: np.ndarray, bootstraps: int) -> float:
    """The bootstrap bias as a person would compute it: resample, fit, count, a hundred times."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    rng = np.random.default_rng(0)
    points, codes = np.vstack([one, two]), np.repeat([0, 1], [len(one), len(two)])
    total = 0.0
    for _ in range(bootstraps):
        rows = np.concatenate([rng.integers(0, len(one), len(one)), len(one) + rng.integers(0, len(two), len(two))])
        model = QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]).fit(points[rows], codes[rows])
        wrong = model.predict(points) != codes
        total += wrong.mean() - wrong[rows].mean()
    return total / bootstraps


def bootstrap_rows() -> list[list[str]]:
    rows = []
    for n, samples in ((8, 80), (8, 400), (20, 400)):
        problem = shifted_problem(n, distance=distance_for_error(0.1))
        one, two = (c.sample(samples, 1 + i) for i, c in enumerate(problem.classes))
        ours = best(lambda one=one, two=two: [bootstrap_bias(one, two) for _ in range(20)]) / 20
        fits = best(lambda one=one, two=two: sklearn_bootstraps(one, two, 100))
        rng = np.random.default_rng(0)
        drawn = simulate_bootstrap_bias(one, two, replicates=100, rng=rng).values
        batched = best(lambda one=one, two=two, rng=rng: simulate_bootstrap_bias(one, two, replicates=100, rng=rng))
        for name, theirs, value in (
            ("100 fits of scikit-learn's QDA", fits, sklearn_bootstraps(one, two, 100)),
            (
                "100 bootstraps in our batches",
                batched,
                float(drawn.mean()),
            ),
        ):
            rows.append(
                [
                    f"(87), n = {n}, N = {samples}, against {name}",
                    f"{1e3 * ours:.2f} ms",
                    f"{1e3 * theirs:.1f} ms",
                    ratio(theirs, ours),
                    f"{100 * bootstrap_bias(one, two).bias:.2f} % | {100 * value:.2f} %",
                ]
            )
    return rows


def error_rows() -> list[list[str]]:
    rows = []
    for n in (2, 8, 64):
        problem = shifted_problem(n, distance=distance_for_error(0.1))
        rule = quadratic_rule(*(estimate_class(c.sample(10 * n, 5 + i)) for i, c in enumerate(problem.classes)))
        ours = best(lambda rule=rule, problem=problem: quadratic_classifier_error(rule, problem))

        def simulate(rule=rule, problem=problem) -> float:
            points, codes = problem.sample(1_000_000, 0)
            return float((rule.decide(points) != codes).mean())

        theirs, value = best(simulate, 1), quadratic_classifier_error(rule, problem)
        rows.append(
            [
                f"error of a quadratic classifier, n = {n}, against a million points",
                f"{1e3 * ours:.2f} ms",
                f"{1e3 * theirs:.0f} ms",
                ratio(theirs, ours),
                f"{100 * value.value:.6f} % (± {value.bound:.0e}) | {100 * simulate():.2f} % (± 3e-4)",
            ]
        )
    return rows


def main() -> None:
    show(
        "Theory: CPU time, this process",
        ["job", "strat", "rival", "ratio", "strat | rival"],
        [*bootstrap_rows(), *error_rows()],
    )
    for name, table, repetitions in (("Table I", table_1, 1000), ("Table II", table_2, 1000)):
        start, cpu = time.perf_counter(), time.process_time()
        done = table(repetitions=repetitions, progress=_bar)
        wall = time.perf_counter() - start
        z = np.abs(np.array(done.column("z"), dtype=float))
        used = time.process_time() - cpu
        print(
            f"\nF&H {name}, {repetitions:,} repetitions of 40 cells: {wall:.0f} s ({used:.0f} s of CPU, "
            f"{os.cpu_count()} cores); printed averages within 3 standard errors: {(z < 3).sum()} of {len(z)}"
        )


def _bar(done: int, total: int) -> None:
    print(f"\r{'#' * done}{'.' * (total - done)} {done}/{total}", end="", flush=True)


if __name__ == "__main__":
    main()
