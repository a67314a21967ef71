"""Notes about how the data was drawn, and how the design takes it to be drawn."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "plan-ignored",
        "design",
        {
            "analysis": "The plan has a {planned} analysis, and the design is {kind}. Change the one or the other.",
            "structure": "The plan samples the population with {missing}, which the analysis ({kind}) ignores. "
            "Intervals {sure:will usually/may} be {direction}. Give the {missing} to the design.",
        },
    ),
    Kind(
        "strata-are-classes",
        "design",
        "The {strata} are the classes of the truth, and rows have no weights. Measures that mix classes (accuracy, "
        "precision, F1, …) hold for classes in the proportions of this sample. {do}",
        do="For those of the population give `weights`, or the `population` of each {stratum}.",
        do_on_command_line="For those of the population give --weights, or the --population of each {stratum}.",
    ),
    Kind(
        "negative-correlation",
        "design",
        "Rows of {a unit} differ more than rows of different {units} do (design effect {effect:.2g}, a negative "
        "intraclass correlation), as where each {unit} is seen under the same fixed kinds (pose, prompt, sensor). The "
        "interval holds for other {units} under these very kinds, in these numbers.",
        do="If the rows of {a unit} are such kinds, name their column: `strat.Sampling(units=…, kinds=…)`.",
        do_on_command_line="If the rows of {a unit} are such kinds, name their column: --kinds.",
    ),
    Kind(
        "single-tries",
        "design",
        "{once:,} of {of:item} {once:was/were} tried once, which does not show how their tries vary. The differences "
        "between such {items} take its place, so that the interval is somewhat too wide.",
        do="Try these {items} again.",
    ),
    Kind(
        "looks-clustered",
        "design",
        "Rows of the same {column!r} are correlated (intraclass correlation {icc:.2f}, {levels:level}).{plain:? The "
        "standard error of {of} is {plain:.3g} as it stands.} {do}",
        do="{sampled:?With `units={column!r}` it is {sampled:.3g}, if the levels were sampled.}{fixed:? With "
        "`strata={column!r}` it is {fixed:.3g}, if they are fixed groups.}",
        do_on_command_line="{sampled:?With --units {column!q} it is {sampled:.3g}, if the levels were sampled.}"
        "{fixed:? With --strata {column!q} it is {fixed:.3g}, if they are fixed groups.}",
    ),
    Kind(
        "units-look-like-strata",
        "design",
        "The column {column!r} has only {levels:level} for {rows:row}. As units they are a sample of such groups, and "
        "the interval becomes very wide. {do}",
        do="If they cover everything (the subjects of a benchmark), they are strata: `strata={column!r}`.",
        do_on_command_line="If they cover everything (the subjects of a benchmark), they are strata: "
        "--strata {column!q}.",
    ),
    Kind(
        "strata-look-like-units",
        "design",
        "The column {column!r} has {levels:level} for {rows:row}, and strata are few fixed groups. {do}",
        do="If its levels were sampled, they are units: `units={column!r}`.",
        do_on_command_line="If its levels were sampled, they are units: --units {column!q}.",
    ),
    Kind(
        "systems-pooled",
        "design",
        "The column {column!r} has {levels:level}{once:?, and each {each!r} occurs once in each}{often:?, and each "
        "{each!r} occurs {often:,} times in each}. {sure:These look like several systems. Their/If these are several systems, their} rows are measured as "
        "those of one. {do}",
        do="To compare them, use `strat.compare`, or keep the rows of one.{unclear:? If they are no systems, give "
        "`units={unclear!r}`.}",
        do_on_command_line="To compare them, use `strat compare`, or keep the rows of one.{unclear:? If they are no "
        "systems, give --units {unclear!q}.}",
    ),
    Kind(
        "role-not-chosen",
        "design",
        "The column {column!r} is not used as {role} in spite of its name, because it makes no design of the {items}.",
        do="To be told why, name it in `{role}`.",
        do_on_command_line="To be told why, name it: --{role}.",
    ),
    Kind(
        "labels-not-random",
        "design",
        "The labelled rows are no random sample of all: by {proxy!r} they differ by {gap:.4g} (p = {p:.2g}). The "
        "estimate may be biased. {do}",
        do="Say how labels were sampled: `strat.Proxy(…, probability=…)` or `strat.Proxy(…, label_strata=…)`.",
        do_on_command_line="Say how labels were sampled: --probability or --label-strata.",
    ),
    Kind(
        "votes-as-units",
        "design",
        "Every vote is taken as independent. The intervals are too short if votes share prompts or raters. {do}",
        do="Name what was sampled: `units=…`, or for both `design=strat.Sampling(crossed=…)`.",
        do_on_command_line="Name what was sampled: --units, or for both --crossed.",
    ),
    Kind(
        "drawn-again",
        "design",
        "The seed {seed} gives the same sample again.",
    ),
    Kind(
        "how-to-label",
        "design",
        "Label these rows. {do}",
        do="Join the labels and `probability` to all rows by {item}, and evaluate these with "
        "`proxy=strat.Proxy(…, probability='probability')`.",
        do_on_command_line="Join the labels and the column of probabilities to all rows by {item}, and evaluate these: "
        "`strat evaluate --proxy … --probability probability`.",
    ),
    Kind(
        "how-to-analyse",
        "design",
        "Analyse these rows as they were sampled. Inference is then for the whole table. {do}",
        do="Type `{call}`.",
        do_on_command_line="Type `{command}`.",
    ),
)
