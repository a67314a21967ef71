"""What was asked of `compare`: its arguments as one value, the kind of source, and what can't apply to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strat.base.errors import StratError, one_of, plain, some
from strat.base.validate.names import Names, listed
from strat.data.joining import UNMATCHED, tables_of
from strat.data.logs import ItemTable
from strat.data.logs.reading import is_logs
from strat.designs.sampling import Sampling
from strat.measures.register import AUTO
from strat.verbs.two_phase import Proxy

OF_LOGS = "for tables: it is for logs of benchmarks"
OF_LONG = "it is for long tables"
# what a kind of source has no use for, and why
LEFT_OUT: dict[str, dict[str, tuple[str, ...]]] = {
    "columns": {
        f"where each system has a column: {OF_LONG}": ("system", "epoch"),
        "for one table with a column for each system: every system has its rows": ("unmatched",),
        "where each system has a column, which names it": ("name",),
        OF_LOGS: ("failed", "incomplete", "runs"),
    },
    "tables": {
        f"where each system has a table: {OF_LONG}": ("system", "epoch"),
        OF_LOGS: ("failed", "incomplete", "runs"),
    },
    "labels": {
        "beside `truth`; for repeats, score each row and give `score` without it": ("epoch",),
        "for a long table, which names its systems": ("name",),
        OF_LOGS: ("failed", "incomplete", "runs"),
    },
    "long": {
        "for a long table, which names its systems": ("name",),
        OF_LOGS: ("failed", "incomplete", "runs"),
    },
    "logs": {
        "for logs and folders, which are read by the usual names": (
            *("system", "items", "score", "epoch", "weights", "missing"),
        ),
    },
    "items": {
        "for items that are read already: give it where they are read": (
            *("system", "items", "score", "epoch", "strata", "units", "weights", "missing", "na"),
            *("failed", "incomplete", "runs", "name"),
        ),
    },
}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """How the source of :func:`compare` is read, under the names of its arguments."""

    name: tuple[str, ...] | None
    unmatched: str
    missing: str
    na: Names | None
    failed: str
    incomplete: str
    runs: str

    def __post_init__(self) -> None:
        """Refuse what a caller can't ask for."""
        one_of("unmatched", self.unmatched, UNMATCHED)

    @property
    def of_logs(self) -> dict[str, Any]:
        """The arguments of :func:`read_logs` among them."""
        return {name: getattr(self, name) for name in ("name", "na", "failed", "incomplete", "runs")}


@dataclass(frozen=True)
class Asked:
    """What was asked of :func:`compare`, under the names of its arguments."""

    truth: str | None
    predicted: tuple[str, ...]
    score: tuple[str, ...]
    system: str | None
    items: str | None
    epoch: str | None
    sampling: Sampling
    by: tuple[str, ...]
    metrics: Any
    reading: Reading
    positive: object = None
    threshold: float | None = None
    average: str | None = AUTO
    higher_is_better: bool | None = None
    proxy: Proxy | None = None

    @property
    def role(self) -> str:
        """What the systems' columns hold."""
        return "predicted" if self.predicted else "score"

    @property
    def values(self) -> tuple[str, ...]:
        """The systems' columns, or the one column of what each of them predicted or scored."""
        return self.predicted or self.score

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns of the rows, by role."""
        drawn = {role: self.sampling.columns[role] for role in ("strata", "units")}
        return {"truth": self.truth, **drawn, "items": self.items, "weights": self.sampling.weights, **self.further}

    @property
    def further(self) -> dict[str, str]:
        """The columns that make groups, are crossed or ordered, or hold a number for each stratum."""
        groups = {f"by_{k}": name for k, name in enumerate(self.by)}
        return {**groups, **self.sampling.drawn, **self.sampling.by_stratum}

    def value_of(self, argument: str) -> Any:
        """What was given for an argument of :func:`compare`."""
        owner = next(one for one in (self, self.reading, self.sampling) if hasattr(one, argument))
        return getattr(owner, argument)


def names_of(name: str | Names | None) -> tuple[str, ...] | None:
    """What to call the systems, one name each (None: by what the source says)."""
    return None if name is None else tuple(listed("name", name))


def kind_of_source(source: Any, asked: Asked) -> str:
    """What `source` is: one table with a column for each system, one table for each, a long one, logs, or items."""
    if isinstance(source, ItemTable):
        return "items"
    _check_values(asked)
    one = len(asked.values) == 1
    several = _is_mapping_of_tables(source) or (isinstance(source, list | tuple) and asked.items is not None)
    if one and several and asked.system is None and tables_of(source, asked.reading.name) is not None:
        return "tables"
    if _is_mapping_of_tables(source):
        raise StratError.about(
            "predicted",
            f"or `score` must name the one column that each of the tables has, got {some(asked.values) or 'none'}.",
        )
    if asked.system is not None and asked.truth is not None and one:
        return "labels"
    if len(asked.values) > 1:
        return "columns"
    if asked.predicted or asked.truth is not None:
        raise StratError.about(
            asked.role,
            "must name two systems or more, got one column; name one for each system, or give one file "
            "for each and `items`, or `system` and `items` of a long table.",
        )
    return "logs" if is_logs(source) else "long"


def _check_values(asked: Asked) -> None:
    """Fail unless the columns are labels beside their truth, or scores, or neither."""
    if asked.predicted and asked.score:
        raise StratError.about("predicted", "and `score` must not be given together; compare labels, or scores.")
    if asked.predicted and asked.truth is None:
        raise StratError.about("truth", "must name the column of true labels beside `predicted`, got None.")
    if asked.truth is not None and not asked.values:
        raise StratError.about("truth", "must come with `predicted` or `score`, got neither.")


def _is_mapping_of_tables(source: Any) -> bool:
    return isinstance(source, dict) and tables_of(source, None) is not None


def check_arguments(kind: str, asked: Asked) -> None:
    """Refuse what was asked where it can't apply, so that nothing is ignored silently."""
    for why, names in LEFT_OUT[kind].items():
        refuse_given(why, **{name: asked.value_of(name) for name in names})
    of_classes = {name: getattr(asked, name) for name in ("positive", "threshold", "average")}
    if asked.truth is None:
        refuse_given("without `truth`: there are no classes", **of_classes)
    elif asked.predicted:
        refuse_given("beside `predicted`: it is for scores", threshold=asked.threshold)
    if kind in ("columns", "tables", "labels") and asked.sampling.strata is None:
        refuse_given("without `strata`: it says what to do with strata of one unit", lone=asked.sampling.lone)
        refuse_given(
            "without `strata`: it says what a unit label in two strata means", nested=asked.sampling.nested or None
        )
    if kind in ("tables", "labels") and asked.items is None:
        raise StratError.about("items", "must name the column of items, on which the systems are joined, got None.")


def refuse_given(why: str, **given: Any) -> None:
    """Fail if one of these arguments was given."""
    for name, value in given.items():
        if value is not None and not (isinstance(value, str | tuple) and value in ("error", AUTO, ())):
            text = value[0] if isinstance(value, tuple) and len(value) == 1 else value
            raise StratError.about(name, f"must be left out {why}, got {plain(text)!r}.")
