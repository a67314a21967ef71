"""Notes about the source of the data: rows that were left out, columns, labels, files and logs."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "rows-dropped",
        "source",
        "{rows:row} with missing values {rows:is/are} left out{marks:?: {marks}}.",
        effect="The result holds for all rows only if values are missing at random.",
    ),
    Kind(
        "number-format",
        "source",
        "The column {column!r} has {comma:?decimal commas}{percent:?{comma:? and }percent signs}{words:?words for "
        "numbers}: {example!r} was read as {value:g}.",
        do="If that is wrong, write plain numbers.",
    ),
    Kind(
        "items-left-out",
        "source",
        {
            "extra": "The systems are compared on the {common:item} that all of them have. Not every system has the "
            "others: {extra}.",
            "lacking": "The systems are compared on the {common:item} that all of them have. {left:item} that some "
            "system lacks {left:is/are} left out: {lacking}.",
        },
        do="To compare on all {items}, complete the runs.",
    ),
    Kind(
        "role-chosen",
        "source",
        {
            "": "The column {column!r} is taken as {role} because of its name.",
            "tasks": "The {tasks:task} are taken as strata.",
        },
        do="If that is wrong, name another column in `{role}`.",
        do_on_command_line="If that is wrong, name another column: --{role}.",
    ),
    Kind(
        "several-runs",
        "source",
        {
            "separate": "There are several runs of {systems}. Each counts as a system.",
            "repeat": "There are several runs of {systems}. They count as further tries.",
            "latest": "There are several runs of {systems}. Only the latest counts.",
        },
        do="To count them otherwise, choose `runs='separate'`, `runs='repeat'` or `runs='latest'`.",
        do_on_command_line="To count them otherwise, choose --runs separate, --runs repeat or --runs latest.",
    ),
    Kind("which-run", "source", "Each run is named after its system, with a number: {runs}."),
    Kind(
        "runs-incomplete",
        "source",
        "{n:run} ended early and {n:is/are} {kept:kept/left out}: {runs}.",
        do="Complete {n:it/them}, or choose `incomplete='{kept:skip/keep}'`.",
        do_on_command_line="Complete {n:it/them}, or choose --incomplete {kept:skip/keep}.",
    ),
    Kind(
        "log-incomplete",
        "source",
        {
            "": "Only {there:,} of {of:what} {there:is/are} in the log.",
            "topics": "Of {of:topic} {absent:,} {absent:is/are} not in the run and {absent:scores/score} 0.",
        },
        do="Complete the run.",
    ),
    Kind(
        "samples-unscored",
        "source",
        "{n:sample} without a score {n:is/are} {zero:counted as 0/left out}: {reasons}.",
        do="To count them otherwise, choose `failed='{zero:drop/zero}'`.",
        do_on_command_line="To count them otherwise, choose --failed {zero:drop/zero}.",
    ),
    Kind(
        "outcomes-only",
        "source",
        "The file results.json lists outcomes, not all instances. The items are the {instances:,} that any of these "
        "files names. What a file does not list as resolved counts as 0.",
        effect="Instances that no file names are left out of all scores.",
        do="To count them, give reports that list every instance.",
    ),
    Kind("copies-left-out", "source", "{copies:perturbed copy} of instances {copies:is/are} left out."),
    Kind(
        "measure-chosen",
        "source",
        "Of several measures in the log {measures:this is/these are} taken: {measures}.",
        do="To take another, name it in `metrics`.",
        do_on_command_line="To take another, name it: --metrics.",
    ),
    Kind(
        "repeats-averaged",
        "source",
        {
            "tries": "Each {item} was tried {least:,}{most:? to {most:,}} times by a system. Limits of one system are "
            "those of the means of {items}, and may differ a little from those of a single evaluation, which counts "
            "tries.",
            "runs": "Values are means of {least:,}{most:? to {most:,}} runs of a system on a data set.",
        },
    ),
    Kind(
        "data-sets-dropped",
        "source",
        "{lost:,} of {of:data set} {lost:is/are} left out because a cell is missing: {names}.",
        do="To keep them, complete the table.",
    ),
    Kind(
        "rows-not-read",
        "source",
        "Only the first {rows:row} were looked at.",
    ),
    Kind(
        "columns-not-read",
        "source",
        "Only the first {columns:,} of {of:column} were looked at.",
        do="To see others, select columns first.",
    ),
    Kind(
        "columns-left-out",
        "source",
        "Columns of neither numbers nor text are left out: {columns!r}.",
    ),
    Kind(
        "values-missing",
        "source",
        "Values are missing: {columns}. {do}",
        do="To leave out their rows, give `missing='drop'`.",
        do_on_command_line="To leave out their rows, give --missing drop.",
    ),
    Kind(
        "several-systems",
        "source",
        "The table has rows of several systems ({system!r}) with labels. {do}",
        do="Add a column that is 1 where {predicted!r} equals {truth!r} and 0 elsewhere, and compare by it.",
    ),
    Kind(
        "rows-not-tested",
        "source",
        "Of {of:row} {untested:,} {untested:is/are} in no test fold.",
        do="Use a splitter that tests every row.",
    ),
    Kind(
        "undefined-splits",
        "source",
        "{splits:split} without a value of {measure} {splits:is/are} left out: a class may be missing from the test "
        "rows.",
        do="Use fewer folds, or folds with the same share of each class.",
    ),
    Kind(
        "pairs-repeated",
        "source",
        "In {file} {lines:line} {lines:repeats/repeat} a pair with the same score. Each pair counts once.",
        do="If the images differ, give each a name of its own.",
    ),
    Kind(
        "templates-alike",
        "source",
        "{n:image} ({names!r}) {n:has/have} one score throughout, {score:g}, as after a failure to make a template. "
        "Such scores count as comparisons. {do}",
        effect="After a failure they mean nothing, and error rates depend on them.",
        do="{listed:Leave the lines of failed images out./Name failed images in `failed_probes` or `failed_gallery`.}",
        do_on_command_line="{listed:Leave the lines of failed images out./Give the score of failed images: "
        "--failed-score {score:g}.}",
    ),
    Kind(
        "templates-failed",
        "source",
        "{probes:?{probes:probe}}{both:? and }{gallery:?{gallery:gallery image}} without a template {n:is/are} left "
        "out of all error rates.",
    ),
    Kind(
        "pairs-not-compared",
        "source",
        "Pairs that were never compared are left out of all rates. There are no ranks without all scores of a probe.",
        do="To have ranks, complete the table.",
    ),
    Kind(
        "same-images",
        "source",
        "The rows and the columns of the table are the same images. Each pair counts once, and no image is compared "
        "with itself. There are no ranks without a gallery.",
        do="To enrol one image of each subject, name the rows that make the gallery.",
        do_on_command_line="To enrol one image of each subject, give --per-subject.",
    ),
    Kind(
        "too-many-pairs",
        "source",
        "There are more than {most:,} comparisons, so that error rates of verification are not computed.",
        do="Use fewer images, or a file of comparisons.",
    ),
    Kind(
        "probes-failed",
        "source",
        "{probes:probe} failed to be acquired or enrolled, and {probes:counts/count} as a miss at every rank.",
    ),
    Kind(
        "probes-left-out",
        "source",
        "{probes:probe} without an image of the same subject in the gallery {probes:is/are} left out.",
    ),
)
