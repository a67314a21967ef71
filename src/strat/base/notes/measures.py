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
        do="To choose the value, set `zero_division`.",
        do_on_command_line="Read it as undefined, not as 0.",
    ),
    Kind(
        "undefined-rows",
        "measure",
        "In {n:row} (such as row {first}) {measure} has no label to divide by, so that it is undefined. Its value "
        "there is 0.",
        do="To choose the value, set `zero_division`.",
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
        "With k = {k}, not less than the number of classes ({classes}), the share is 1 for any scores.",
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
        "Of {of:query} {absent:,} {absent:has/have} no answer and {absent:counts/count} 0.",
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
)
