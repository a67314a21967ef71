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
)
