"""Notes about the source of the data: rows that were left out, columns, labels, files and logs."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = ()
