"""`Sample`: the drawn items with weights and what the strata held, and lists for test runners."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, some
from strat.base.notes import Note, records
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes, encode
from strat.designs.sampling import DEFAULTS
from strat.show.render import Sheet
from strat.show.sheet_result import SheetResult
from strat.verbs.look import look
from strat.verbs.steps import Step


@dataclass(frozen=True, eq=False, repr=False)
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
    about
        The columns of the table, of the drawn rows.
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
    about: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of rows drawn."""
        return len(self.item)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The drawn rows with their weights, by name, and what the table said of them."""
        return {**{self.called(role): values for role, values in self.drawn.items()}, **self.about}

    def called(self, role: str) -> str:
        """The name of a column that was added: one that the table has already is kept as it was."""
        return f"drawn_{role}" if role in self.about else role

    @property
    def drawn(self) -> dict[str, NDArray[Any]]:
        """What was added to the columns of the table, by role."""
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
        return {role: values for role, values in named.items() if values is not None}

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
            data={
                **{role: values.tolist() for role, values in self.drawn.items()},
                "columns": {name: values.tolist() for name, values in self.about.items()},
                "seed": self.seed,
                "notes": records(self.notes),
            },
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """How to analyse what was drawn."""
        again = Note("drawn-again", {"seed": self.seed})
        if self.probability is not None:
            return (Note("how-to-label"), again)
        step = self.analysis()
        return (Note("how-to-analyse", {"call": step.call, "command": step.command}), again)

    def analysis(self, file: str | None = None) -> Step:
        """The evaluation of these rows as they were drawn, as a `.call`, and as a `.command` of the file they are in.

        >>> import strat
        >>> items = {"id": range(100), "task": ["a"] * 80 + ["b"] * 20, "correct": [1, 0] * 50}
        >>> drawn = strat.verbs.sample(items, size=10, items="id", strata="task")
        >>> print(drawn.analysis("drawn.csv").command)
        strat evaluate drawn.csv --score correct --strata stratum --weights weight --population population
        """
        design: dict[str, Any] = {}
        for field_name, role in (("strata", "stratum"), ("units", "unit"), ("order", "order")):
            design |= {field_name: self.called(role)} if role in self.drawn else {}
        design |= {"weights": self.called("weight"), "population": self.called("population")}
        design |= {"lone": "collapse"} if self._lone else {}
        design |= {"nested": True} if self._nested else {}
        measured = self.measured or {"score": "COLUMN"}
        return Step("analysis", "evaluate", {**measured, **design}, () if file is None else (file,))

    @cached_property
    def measured(self) -> dict[str, Any]:
        """What an evaluation would measure, by role, as far as :func:`strat.look` recognizes it."""
        steps = look(self.about).steps if self.about else ()
        first = next((step for step in steps if step.verb == "evaluate"), None)
        return {} if first is None else {role: name for role, name in first.roles.items() if role not in DEFAULTS}

    @property
    def _strata(self) -> Codes:
        return np.zeros(len(self), np.int64) if self.stratum is None else encode("stratum", self.stratum)[0]

    @property
    def _units(self) -> Codes:
        """The unit of each row; the same label in two strata is two units."""
        if self.unit is None:
            return np.arange(len(self))
        codes, labels = encode("unit", self.unit)
        return self._strata * len(labels) + codes

    @property
    def _lone(self) -> bool:
        """Whether only one of several units was drawn in some stratum."""
        first = np.unique(self._units, return_index=True)[1]
        taken = np.bincount(self._strata[first])
        return bool(((taken[self._strata] == 1) & (self.population > 1)).any())

    @property
    def _nested(self) -> bool:
        """Whether a label names units of several strata."""
        return self.unit is not None and len(np.unique(self._units)) > len(np.unique(self.unit))

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
