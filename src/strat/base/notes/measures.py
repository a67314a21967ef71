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
)
