"""`Sample`: the drawn items with weights and what the strata held, and lists for test runners."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.errors import StratError, some
from strat.notebook import in_words
from strat.notes import Note, records
from strat.tables.render import Sheet
from strat.tables.sheet_result import SheetResult
from strat.text import counted
from strat.validate.columns import Array, Codes


@in_words
@dataclass(frozen=True, eq=False)
class Sample(SheetResult):
    """Items that were drawn, with what their analysis needs.

    Attributes
    ----------
    item, stratum, unit
        Labels of the drawn rows; `stratum` and `unit` are None when there are none.
    weight
        How many rows of the whole each drawn row stands for, N_h / n_h.
    population
        For each row, the number of units in its stratum of the whole.
    row
        The place of each drawn row in the table, from 0.
    seed
        The seed that draws the same sample again.
    method
        How units were allocated to strata.
    probability
        Of rows that were drawn to be labelled: with which probability each was chosen (None: not drawn for that).
    order
        The place of each drawn row's unit along the order of a systematic sample; None for others.
    """

    item: NDArray[Any]
    stratum: NDArray[Any] | None
    unit: NDArray[Any] | None
    weight: Array
    population: Array
    row: Codes
    seed: int
    method: str
    of: int
    probability: Array | None = None
    order: Codes | None = None

    def __len__(self) -> int:
        """Number of rows drawn."""
        return len(self.item)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The drawn rows with their weights, by name."""
        named = {
            "item": self.item,
            "stratum": self.stratum,
            "unit": self.unit,
            "weight": self.weight,
            "population": self.population,
            "row": self.row,
            "probability": self.probability,
            "order": self.order,
        }
        return {name: values for name, values in named.items() if values is not None}

    def to_dict(self) -> dict[str, list[Any]]:
        """The drawn rows with their weights, as plain values by name."""
        return {name: values.tolist() for name, values in self.columns().items()}

    def sheet(self) -> Sheet:
        """The drawn rows as a table."""
        columns = self.to_dict()
        rows = list(zip(*columns.values(), strict=True))
        return Sheet(
            "strat/sample/1",
            list(columns),
            rows,
            title=str(self),
            notes=self.notes,
            data={**columns, "seed": self.seed, "notes": records(self.notes)},
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How to analyse what was drawn."""
        again = Note("drawn-again", f"seed {self.seed} draws the same sample again")
        if self.probability is not None:
            how = (
                "join them and `probability` to all rows by item, and evaluate with "
                "proxy=strat.Proxy(…, probability='probability')"
            )
            return (Note("how-to-label", f"label these rows, {how}"), again)
        roles = [f"{o}={n!r}" for o, n in (("strata", "stratum"), ("units", "unit")) if n in self.columns()]
        roles += [] if self.order is None else ["order='order'"]
        roles += ["weights='weight'", "population='population'"]
        how = f"analyse with design=strat.Sampling({', '.join(roles)}): inference is then for the whole benchmark"
        return (Note("how-to-analyse", how), again)

    def to_lm_eval(self) -> str:
        """JSON for `lm_eval --samples`: from the task (the stratum) to the documents' numbers."""
        tasks = np.full(len(self), "task") if self.stratum is None else self.stratum
        chosen: dict[str, list[int]] = {}
        for task, item, row in zip(tasks.tolist(), self.item.tolist(), self.row.tolist(), strict=True):
            chosen.setdefault(str(task), []).append(_document(item, row))
        return json.dumps({task: sorted(ids) for task, ids in sorted(chosen.items())})

    def to_inspect(self) -> str:
        """The list for `inspect eval --sample-id`."""
        bad = [item for item in map(str, self.item.tolist()) if "," in item]
        if bad:
            raise StratError.about(
                "item", f"must hold no comma for --sample-id, got {some(bad, 2)}; rename these items."
            )
        return ",".join(str(item) for item in self.item.tolist())

    def __str__(self) -> str:
        """What was drawn, in one line."""
        where = "" if self.stratum is None else f" in {counted(len(np.unique(self.stratum)), 'stratum')}"
        units = "" if self.unit is None else f", {counted(len(np.unique(self.unit)), 'unit')}"
        return f"{len(self):,} of {counted(self.of, 'item')}{units}{where}, {self.method} allocation, seed {self.seed}"


def _document(item: Any, row: int) -> int:
    """lm-evaluation-harness counts documents of a task from 0: `task/7` and `7` are document 7."""
    tail = str(item).rsplit("/", 1)[-1]
    if not tail.isdecimal():
        raise StratError.about(
            "items", f"must be document numbers for --samples, got {str(item)!r}; use the doc_id column."
        )
    return int(tail)
