"""Notes about the source of the data: rows that were left out, columns, labels, files and logs."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
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
)
