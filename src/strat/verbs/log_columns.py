"""Logs of one system as the columns of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.data.logs.item_table import ItemTable
from strat.data.logs.reading import is_logs, one_measure, read_logs
from strat.verbs.log_hints import item_hints


@dataclass(frozen=True, eq=False)
class LoggedSystem:
    """The samples of one system, which are scored already, and which of their columns plays which role.

    Attributes
    ----------
    samples
        What was read.
    score, strata, items
        The columns of these roles.
    """

    samples: ItemTable
    score: str
    strata: str | None
    items: str

    def notes(self, units: str | None, weights: str | None) -> tuple[Note, ...]:
        """What the reader of the logs had to say, and fields that look like clusters where none are named."""
        hints = [] if units else item_hints(self.samples, strata=self.strata, used=(self.items, weights))
        return (*self.samples.notes, *hints)


def logged_system(
    source: Any, *, labelled: bool, metric: Any, score: str | None, strata: str | None, items: str | None
) -> LoggedSystem | None:
    """The one system of logs, if that is what the source is.

    Parameters
    ----------
    source
        What `evaluate` was given: files or folders of logs, samples that are read already, or anything else.
    labelled
        Whether columns of labels or scores were named, as for a plain table.
    metric
        The measure of the logs to take (None: their first).
    score, strata, items
        The columns that were asked for; those of the samples by default.
    """
    if isinstance(source, ItemTable):
        if metric is not None:
            raise StratError.about(
                "metrics", f"must be given where the logs are read, got {metric!r} for samples that are."
            )
        samples = source
    elif not labelled and is_logs(source):
        samples = read_logs(source, metrics=one_measure(metric))
    else:
        return None
    if len(samples.systems) > 1:
        raise StratError.about(
            "source", f"must hold logs of one system, got {len(samples.systems)}; use `strat compare` for several."
        )
    own = None if samples.strata is None else "strata"
    return LoggedSystem(samples, score or "score", strata or own, items or "items")
