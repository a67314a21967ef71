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
        "single-stage-unit",
        "design",
        "In {n:parent} a single {unit} was sampled. How {units} vary there cannot be estimated, and is not in the "
        "standard error.",
        effect="The interval is too short by that.",
        do="Sample two {units} or more in each.",
    ),
    Kind(
        "collapsed-strata",
        "design",
        {
            "": "Each {stratum} of one {unit} was joined with a neighbour. What joined {strata} differ by then counts "
            "as variance, which is too large by an amount that one {unit} does not show.",
            "others": "Each {stratum} of one {unit} was joined with a neighbour. What joined {strata} differ by then "
            "counts as variance, which is about {least:.3g}{most:? to {most:.3g}} times what it would be if these "
            "{strata} vary as those of several {units} do.",
            "pairs": "Each {stratum} of one {unit} was joined with a neighbour. What joined {strata} differ by then "
            "counts as variance. The difference that all pairs have in common alone makes it about "
            "{least:.3g}{most:? to {most:.3g}} times too large.",
        },
        do="Join similar {strata}, by a number that is known of each: `design.collapsed(by=…)`.",
        do_on_command_line="Join similar {strata}, by a column of numbers: --collapse-by.",
    ),
    Kind(
        "trend",
        "design",
        "The values drift along the order{several:? in {several:stratum}}. Where a systematic sample starts then moves "
        "its mean, which differences of neighbours do not show. The variance of an evenly distributed start is added.",
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
        "The {strata} have other shares in the one sample than in the other, so that part of the difference is their "
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
)
