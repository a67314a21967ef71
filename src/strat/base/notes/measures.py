"""Notes about what is measured, whatever its value is."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "classes-like-ids",
        "measure",
        "The truth has {classes:,} classes for {rows:,.0f} rows, like a column of ids.",
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
        do="For the AUC use `strat.comparison.readers`.",
        do_on_command_line="For the AUC use `strat.comparison.readers` in Python.",
    ),
    Kind(
        "looks-coded",
        "measure",
        "{codes:g} beside scores from 0 to 1 in {columns!r} {codes:is/are} averaged like a score. {do}",
        do="If these are codes (no answer, not run), leave those rows out or score them 0.",
    ),
    Kind(
        "looks-spent",
        "measure",
        "A larger {column!r} is taken as better. {do}",
        do="If less of it is better, give `higher_is_better=False`.",
        do_on_command_line="If less of it is better, give --lower-is-better.",
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
        "Scores were put into {bins:,} bins of width {width:.4g}. This moves the value by at most {bound:.2g}"
        "{within:?, and that of a group by at most {within:.2g}}. {do}",
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
        do="To include it, leave `random_state` at None.",
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
    Kind(
        "spelled-labels",
        "measure",
        "{these!r} {these:counts as another label/count as other labels} than {those!r}.",
        effect="Rows with such labels count as wrong.",
        do="Use one spelling in `truth` and `predicted`, unless these are different labels.",
        do_on_command_line="Use one spelling in --truth and --predicted, unless these are different labels.",
    ),
    Kind(
        "disjoint-labels",
        "measure",
        "No predicted label ({predicted!r}) occurs in the truth ({truth!r}), so that no prediction can be correct.",
        do="Check that `truth` and `predicted` name columns of the same labels.",
        do_on_command_line="Check that --truth and --predicted name columns of the same labels.",
    ),
    Kind(
        "class-left-out",
        "measure",
        "{labels:The class/The classes} {labels!r} {labels:is/are} predicted and never {labels:occurs/occur} in the "
        "truth. {labels:It is/They are} left out of the average.",
        effect="Such predictions count as wrong for the other classes.",
        do="If the class should count, add rows of it.",
    ),
    Kind(
        "undefined-share",
        "measure",
        {
            "precision": "The {n:class/classes}{labels:? {labels!r}} {n:is/are} never predicted, so that {measure} is "
            "undefined. Its value is 0. {do}",
            "recall": "The {n:class/classes}{labels:? {labels!r}} never {n:occurs/occur}, so that {measure} is "
            "undefined. Its value is 0. {do}",
            "": "{measure} of the {n:class/classes}{labels:? {labels!r}} has nothing to divide by, so that it is "
            "undefined. Its value is 0. {do}",
        },
        do="To choose the value, give `zero_division` to the function of the measure, such as `strat.f1`.",
        do_on_command_line="Read it as undefined, not as 0.",
    ),
    Kind(
        "undefined-rows",
        "measure",
        "In {n:row} (such as row {first}) {measure} has no label to divide by, so that it is undefined. Its value "
        "there is 0.",
        do="To choose the value, give `zero_division` to the function of the measure, such as `strat.f1`.",
        do_on_command_line="Read it as undefined, not as 0.",
    ),
    Kind(
        "undefined-kappa",
        "measure",
        "Kappa is undefined where only one class occurs. Its value is nan.",
        do="Report the accuracy: `strat.accuracy(…)`.",
        do_on_command_line="Report the accuracy: --metric accuracy.",
    ),
    Kind(
        "trivial-top-k",
        "measure",
        "With k = {k} and {classes:class} the share is 1, whatever the scores are.",
        do="Choose a smaller k.",
    ),
    Kind(
        "signature",
        "measure",
        "The signature of sacrebleu is {signature}.",
        do="Report it with the score.",
    ),
    Kind(
        "unanswered-queries",
        "measure",
        "Of {of:query} {absent:,} {absent:has/have} no answer and {absent:counts/count} as 0.",
        do="If the run is incomplete, add the answers.",
    ),
    Kind(
        "tied-documents",
        "measure",
        "In {tied:,} of {of:query} documents have equal scores. They are ranked by decreasing name, as trec_eval does.",
        do="Break the ties in the run.",
    ),
    Kind(
        "mixed-scales",
        "measure",
        {
            "medians": "{a} and {b} have medians of {first:g} and {second:g}. One looks like a fraction and the other "
            "like a percentage. {do}",
            "means": "{a} and {b} have means of {first:g} and {second:g}. One looks like a fraction and the other like "
            "a percentage. {do}",
        },
        do="If so, bring both to one unit.",
    ),
    Kind(
        "ties-counted",
        "measure",
        {
            "": "The target is {population:the population of subjects/these very subjects}. {tied:probe} tied with a "
            "non-mate (counted {ties}). Computed by {method}.",
            "search": "The target is the population of subjects. Ties count against the system.",
        },
        do_on_command_line="To count ties otherwise, give --ties.",
    ),
)
