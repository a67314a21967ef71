"""`strat score`: hypotheses against a reference in the files of a field, with intervals by what was drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from strat.cli import options, output
from strat.cli.output import Form

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
@output.with_output
def score(
    ctx: typer.Context,
    reference: Annotated[
        Path, typer.Argument(metavar="REFERENCE", help="Text, .trn, RTTM, qrels, COCO JSON, .npz, or folder of .npy.")
    ],
    hypotheses: Annotated[
        list[Path], typer.Argument(metavar="HYPOTHESIS…", help="What a system made of it; several are compared.")
    ],
    metric: Annotated[
        list[str],
        typer.Option("--metric", "--metrics", help="wer, bleu, der@0.25, ndcg@10, coco_ap, dice, … (repeat for more)."),
    ],
    about: Annotated[
        Path | None, typer.Option(help="Table of what is known of each row, such as its speaker or patient.")
    ] = None,
    strata: options.Strata = None,
    units: options.Units = None,
    weights: options.Weights = None,
    population: options.PopulationSizes = None,
    crossed: options.Crossed = None,
    kinds: options.Kinds = None,
    order: options.Order = None,
    stages: options.Stages = None,
    lone: options.Lone = "error",
    nested: options.Nested = False,
    by: options.By = None,
    baseline: Annotated[str | None, typer.Option(help="The system that the others are compared with.")] = None,
    level: options.Level = 0.95,
    *,
    form: Form,
) -> None:
    """Score hypotheses against a reference in a field's own files: texts, RTTM, TREC, COCO, masks.

    For example:

      strat score reference.trn hypothesis.trn --metric wer --units speaker

      strat score reference.txt first.txt second.txt --metric bleu --about segments.csv --units document

      strat score reference.rttm hypothesis.rttm --metric der@0.25
    """
    from strat import verbs
    from strat.base.errors import StratError

    with options.naming(**options.spelling(ctx), hypotheses="HYPOTHESIS", reference="REFERENCE"):
        drawn: dict[str, Any] = {"about": about, "by": by or None, "level": level, "design": options.sampling(ctx)}
        if len(hypotheses) == 1:
            if baseline is not None:
                raise StratError.about("baseline", f"must be left out for one hypothesis, got {baseline!r}.")
            result = verbs.evaluate_files(reference, hypotheses[0], metrics=metric, **drawn)
            form.give(result.sheet(), result)
        else:
            if len(metric) > 1:
                raise StratError.about("metrics", f"must be one measure to compare systems, got {len(metric)}.")
            board = verbs.compare_files(reference, hypotheses, metrics=metric[0], baseline=baseline, **drawn)
            form.give(board.sheet(), board)
