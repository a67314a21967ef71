"""Notes about what is measured, whatever its value is."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "classes-like-ids",
        "measure",
        "The truth has {classes:,} classes for {rows:,.0f} rows, as an id has.",
        effect="A measure that averages over classes then averages over single rows.",
        do="Check that `truth` names the column with the true classes.",
        do_on_command_line="Check that --truth names the column with the true classes.",
    ),
    Kind(
        "macro-average",
        "measure",
        "{measure} is the macro average over all classes. {do}",
        do="To look at one class, name it in `positive`.",
        do_on_command_line="To look at one class, name it: --positive.",
    ),
    Kind(
        "pooled-over-crossed",
        "measure",
        "Rows are pooled over {factors!r}, so that scores of different readers or judges are compared with each other.",
        effect="Reader studies report the mean of the readers' own values.",
        do="For that of the AUC use `strat.comparison.readers`.",
        do_on_command_line="For that of the AUC use `strat.comparison.readers` in Python.",
    ),
    Kind(
        "looks-coded",
        "measure",
        "{codes:g} beside scores from 0 to 1 in {columns!r} {codes:is/are} averaged as {codes:it stands/they "
        "stand}. {do}",
        do="If these are codes (no answer, not run), leave those rows out or score them 0.",
    ),
    Kind(
        "looks-spent",
        "measure",
        "A larger {column!r} is taken as better. {do}",
        do="If it is spent or lost, give `higher_is_better=False`.",
        do_on_command_line="If it is spent or lost, give --lower-is-better.",
    ),
    Kind(
        "distinct-rows",
        "measure",
        "It was computed from {distinct:,} distinct rows with weights, not from {rows:row}.",
        do="Make sure that it does not count rows.",
    ),
    Kind(
        "scores-binned",
        "measure",
        "Scores were put into {bins:,} bins of width {width:.4g}.{auc:? This moves the AUC by at most {auc:.2g}.}"
        "{halved:? This moves the {halved} by at most {half:.2g}.}{others:? How far this moves {others} and their "
        "standard errors is not known.} {do}",
        do="More `bins` make it smaller.",
        do_on_command_line="More --bins make it smaller.",
    ),
    Kind(
        "positive-unknown",
        "measure",
        "Which class is positive, {a!r} or {b!r}? F1, recall and AUC look at one. {do}",
        do="Name it in `positive`.",
        do_on_command_line="Name it: --positive.",
    ),
    Kind(
        "fixed-seed",
        "measure",
        "`random_state` of {models} is fixed, so that variation between seeds is not measured.",
        do="To include it, leave `random_state` None.",
    ),
    Kind(
        "scores-of-several-models",
        "measure",
        "Scores of {models:model} are ranked together, as if they were on one scale.",
        do="Use the mean of the folds' values, which needs no such scale.",
    ),
    Kind(
        "vote-term",
        "measure",
        "{term}: {value:.4f}, {percent:g} % {low:.4f} to {high:.4f} (log odds{tie:? of a tie against a win}).",
    ),
)
