"""Notes about the source of the data: rows that were left out, columns, labels, files and logs."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "pairs-repeated",
        "source",
        "In {file} {lines:line} {lines:repeats/repeat} a pair with the same score. Each pair counts once.",
        do="If these are several comparisons of a pair, give each a name of its own.",
    ),
    Kind(
        "templates-alike",
        "source",
        "{n:image} ({names!r}) {n:has/have} one score throughout, {score:g}, as after a failure to make a template. "
        "Their scores count as comparisons.",
        effect="Where they failed, error rates depend on a score that means nothing.",
        do="{listed:If they failed, leave their lines out./If they failed, name them in `failed_probes` or "
        "`failed_gallery`.}",
        do_on_command_line="{listed:If they failed, leave their lines out./If they failed: --failed-score {score:g}.}",
    ),
)
