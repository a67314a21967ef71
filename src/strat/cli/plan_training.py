"""`strat plan design-samples`: how many rows to train on, from theory or from a measured learning curve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from strat import gaussian, planning
from strat.base.errors import StratError
from strat.cli.options import Level, Picture, leave_out, numbers_of
from strat.cli.output import Json, Sheet, emit
from strat.cli.plan_options import SCHEMA, BayesError, Linear, save, show, show_plan, thinned


def design_samples(
    ctx: typer.Context,
    features: Annotated[int | None, typer.Option(help="Number of features, for F&H's theory.")] = None,
    degradation: Annotated[float | None, typer.Option(help="Wanted excess over Bayes' error.")] = None,
    bayes_error: BayesError = 0.1,
    linear: Linear = False,
    samples: Annotated[int | None, typer.Option(help="Samples of a class to split into design and test.")] = None,
    sizes: Annotated[str | None, typer.Option(help="Measured learning curve: sizes, such as 50,100,200.")] = None,
    errors: Annotated[str | None, typer.Option(help="Measured learning curve: errors at these sizes.")] = None,
    error: Annotated[float | None, typer.Option(help="Wanted error on the learning curve.")] = None,
    level: Level = 0.95,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Design samples for a wanted degradation, from theory or a learning curve; or the design-test split.

    strat plan design-samples --features 8 --bayes-error 0.1 --degradation 0.005

    strat plan design-samples --features 8 --bayes-error 0.1 --samples 200

    strat plan design-samples --sizes 50,100,200,400 --errors 0.15,0.12,0.11,0.105 --error 0.102
    """
    curve, theoretical = ("sizes", "errors", "error"), ("features", "degradation", "bayes_error", "linear", "samples")
    if sizes is not None and errors is not None and error is not None:
        leave_out(ctx, *theoretical, why="with a measured learning curve")
        _curve(sizes, errors, error, level, plot, as_json)
    elif features is not None and degradation is not None:
        leave_out(ctx, *curve, "samples", "level", why="with --features and --degradation, which follow from theory")
        distance = gaussian.distance_for_error(bayes_error)
        answer = planning.design_samples_for(
            degradation=degradation, features=features, distance=distance, linear=linear
        )
        show_plan(answer, plot, as_json)
    elif features is not None and samples is not None:
        leave_out(ctx, *curve, "level", why="with --features and --samples, which follow from theory")
        distance = gaussian.distance_for_error(bayes_error)
        split = planning.design_test_split(samples=samples, features=features, distance=distance, linear=linear)
        rows = thinned(split.sizes, split.degradations, split.standard_errors)
        show(split, plot, as_json, columns=("design", "degradation", "standard error"), rows=rows)
    else:
        raise StratError(
            "`strat plan design-samples` must have `--features` with `--degradation` or `--samples`, or a learning "
            "curve: `--sizes`, `--errors` and `--error`."
        )


def _curve(sizes: str, errors: str, error: float, level: float, plot: Path | None, as_json: bool) -> None:
    curve = planning.fit_learning_curve(numbers_of("--sizes", sizes), numbers_of("--errors", errors))
    samples = curve.samples_for(error, level)
    grid = [float(samples.number) * f for f in (0.25, 0.5, 1.0, 2.0, 4.0)]
    low, high = curve.interval(grid, level)
    rows = [
        (round(g), float(m), float(a), float(b))
        for g, m, a, b in zip(grid, curve.predict(grid), low, high, strict=True)
    ]
    data = {
        "error": error,
        "number": samples.number,
        "low": samples.low,
        "high": samples.high,
        "level": level,
        "floor": curve.floor,
        "slope": curve.slope,
        "power": curve.power,
    }
    save(curve, plot)
    notes = (f"The curve's floor is {curve.floor:.4g}; an extrapolation is as good as its points.",)
    emit(Sheet(SCHEMA, ("samples", "error", "low", "high"), rows, str(samples), notes, data), as_json=as_json)
