"""Notes about how the data was drawn, and how the design takes it to be drawn."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "plan-ignored",
        "design",
        {
            "analysis": "The plan is for a {planned} analysis, but the design is {kind}. Change one of them.",
            "structure": "The plan samples the population with {missing}, which the analysis ({kind}) ignores. "
            "Intervals {sure:will usually/may} be {direction}. Name the {missing} in the design.",
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
        "intraclass correlation), as happens where each {unit} is seen under the same fixed kinds (pose, prompt, "
        "sensor). The interval holds for other {units} under these very kinds, in these numbers.",
        do="If the rows of {a unit} are such kinds, name their column: `strat.Sampling(units=…, kinds=…)`.",
        do_on_command_line="If the rows of {a unit} are such kinds, name their column: --kinds.",
    ),
    Kind(
        "single-tries",
        "design",
        "{once:,} of {of:item} {once:was/were} tried once, which does not show how their tries vary. The differences "
        "between such {items} stand in for that variation, so that the interval is somewhat too wide.",
        do="Try these {items} again.",
    ),
    Kind(
        "looks-clustered",
        "design",
        "Rows of the same {column!r} are correlated (intraclass correlation {icc:.2f}, {levels:level}).{plain:? The "
        "standard error of {of} is {plain:.3g} without it.} {do}",
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
        "{each!r} occurs {often:,} times in each}. {sure:These look like several systems. Their/If these are several "
        "systems, their} rows are measured as those of one. {do}",
        do="To compare them, use `strat.compare`, or keep the rows of one.{unclear:? If they are not systems, give "
        "`units={unclear!r}`.}",
        do_on_command_line="To compare them, use `strat compare`, or keep the rows of one.{unclear:? If they are not "
        "systems, give --units {unclear!q}.}",
    ),
    Kind(
        "role-not-chosen",
        "design",
        "The column {column!r} is not used as {role} in spite of its name, because no design fits the {items} with it.",
        do="To see why, name it in `{role}`.",
        do_on_command_line="To see why, name it: --{role}.",
    ),
    Kind(
        "labels-not-random",
        "design",
        "The labelled rows are not a random sample of all rows: in {proxy!r} they differ by {gap:.4g} (p = {p:.2g}). "
        "The estimate may be biased. {do}",
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
    Kind(
        "single-stage-unit",
        "design",
        "In {n:parent} a single {unit} was sampled. How {units} vary there cannot be estimated, and is not in the "
        "standard error.",
        effect="That makes the interval too short.",
        do="Sample two {units} or more in each.",
    ),
    Kind(
        "collapsed-strata",
        "design",
        {
            "": "Each {stratum} of one {unit} was joined with a neighbour. Differences between joined {strata} "
            "count as variance, which is too large by an amount that one {unit} does not show.",
            "others": "Each {stratum} of one {unit} was joined with a neighbour. Differences between joined {strata} "
            "count as variance, which is about {least:.3g}{most:? to {most:.3g}} times what it would be if these "
            "{strata} vary as those of several {units} do.",
            "pairs": "Each {stratum} of one {unit} was joined with a neighbour. Differences between joined {strata} "
            "count as variance. The difference that all pairs have in common alone makes it about "
            "{least:.3g}{most:? to {most:.3g}} times too large.",
        },
        do="Join similar {strata}, by a number that is known of each: `design.collapsed(by=…)`.",
        do_on_command_line="Join similar {strata}, by a column of numbers: --collapse-by.",
    ),
    Kind(
        "trend",
        "design",
        "The values drift along the order{several:? in {several:stratum}}. The mean then depends on where the "
        "systematic sample starts, which differences of neighbours do not show. The variance of an evenly distributed "
        "start is added.",
        do="If the start is known, give it, which takes the drift out: `strat.Design.systematic(…, start=…)`.",
        do_on_command_line="If the start is known, give it, which takes the drift out: --start.",
    ),
    Kind(
        "period",
        "design",
        "The values repeat every {period:.3g} {units} of the sample. A period that fits the step of the sample biases "
        "the mean and leaves no trace, and differences of neighbours misjudge its variance.",
        do="Compare with a sample of another step, or with a random one.",
    ),
    Kind(
        "crossed-components",
        "design",
        "The variance comes from {shares:.0%}. Twice as many levels of {factor!r} would bring the standard error to "
        "{ratio:.0%} of this one, the largest gain of any factor.",
        do="To make the interval shorter, sample more levels of {factor!r}.",
    ),
    Kind(
        "few-levels",
        "design",
        "There are only {levels} levels of {factors!r}, whose contribution to the variance is poorly estimated.",
        do="Sample more levels of {factors!r}.",
    ),
    Kind(
        "fixed-kinds",
        "design",
        "Within {a stratum} {units} differ {ratio:.2g} times as much as {strata} do (mean squares), more than random "
        "draws explain. This is seen where {units} are of fixed kinds (pose, prompt, sensor).",
        effect="The standard error is then too large.",
        do="If they are of fixed kinds, name these, with the {strata} as units: "
        "`strat.Design.blocks(units=…, kinds=…)`.",
        do_on_command_line="If they are of fixed kinds, name these, with the {strata} as units: --units, --kinds.",
    ),
    Kind(
        "other-stratum-shares",
        "design",
        "The shares of the {strata} differ between the two samples, so that part of the difference is due to their "
        "mix.",
        do="Give both designs the same shares: `design.reweighted(…)`.",
        do_on_command_line="In Python, give both designs the same shares: `design.reweighted(…)`.",
    ),
    Kind(
        "no-subjects",
        "design",
        "These scores have no subjects, so that comparisons are taken as independent. The interval is too short "
        "wherever comparisons share a subject. {do}",
        do="Give the subjects of both sides: `strat.recognition.verification_of_trials(…, probes=…, gallery=…)`.",
        do_on_command_line="Give the subjects of both sides: --columns, or --id-pattern.",
    ),
    Kind(
        "subjects-inferred",
        "design",
        "Subjects were inferred from the mated comparisons. Images that a chain of them joins are one subject, and any "
        "other image is a subject of its own. Intervals are too short if such images share subjects.",
        do="Name the columns of subjects, or give a pattern that finds the subject in the name of an image: "
        "`strat.recognition.read_trials(…, pattern=…)`.",
        do_on_command_line="Name the columns of subjects (--columns), or give a pattern that finds the subject in the "
        "name of an image (--id-pattern).",
    ),
    Kind(
        "units-split",
        "design",
        "The splits put rows of one {unit} on both sides, so that results look better than they are.",
        do="Give a number of folds, or a splitter that keeps groups together, such as GroupKFold.",
    ),
    Kind(
        "tested-by-units",
        "design",
        "Rows of the same {column!r} are correlated (intraclass correlation {icc:.2f}, {levels:level}) and are tested "
        "as units. {do}",
        do="To take rows as independent, leave out `units`.",
        do_on_command_line="To take rows as independent, give --independent.",
    ),
    Kind(
        "paired-systems",
        "design",
        {
            "comparisons": "Differences pair the systems by comparison and by subject.",
            "probes": "Differences pair the systems by probe.",
        },
    ),
    Kind(
        "experiment-design",
        "design",
        "{subjects:subject} are {one_kind:the strata/sampled under fixed kinds of images}, and {images:probe image} of "
        "each are the units. Standard errors are by {method}.",
    ),
    Kind(
        "subjects-left-out",
        "design",
        "{subjects:subject} with fewer than {images:image} {subjects:is/are} left out.",
        do="To keep them, add images.",
    ),
    Kind(
        "gallery-effect",
        "design",
        "Gallery effect, {galleries}: {test}.",
        do="If there is one, average over galleries.",
    ),
    Kind(
        "gallery-drawn",
        "design",
        "With subjects sampled as probes and as gallery entries, standard errors are: {se:.4f}. The part of the "
        "probes: {probes:.4f}. The part of the gallery: {gallery:.4f}.",
    ),
)
