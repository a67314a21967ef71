"""Retrieval and ranking: nDCG, MAP, MRR, P@k, recall@k, ERR and bpref, each a mean over queries.

The unit is the query (topic); test sets are strata. Documents are ranked as trec_eval ranks them: by decreasing score,
and among equal scores by decreasing name, where scores are equal if they are in single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strat.base.errors import StratError, one_of, some
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.measures.base import Statistic
from strat.measures.quotients import row_mean
from strat.measures.register import RUNS, measure


@dataclass(frozen=True, eq=False)
class Ranked:
    """One query: the grades of its ranked documents (nan: not judged), all grades that were judged, and ties."""

    grades: Array
    judged: Array
    tied: bool = False

    @property
    def hits(self) -> Array:
        """1 where the document of that rank is relevant."""
        return np.asarray(self.grades > 0, float)

    @property
    def relevant(self) -> int:
        """How many relevant documents were judged."""
        return int((self.judged > 0).sum())


def _ndcg(q: Ranked, k: int | None) -> float:
    gains, best = np.maximum(np.nan_to_num(q.grades[:k]), 0.0), np.sort(np.maximum(q.judged, 0.0))[::-1][:k]
    ideal = best @ _discounts(len(best))
    return float(gains @ _discounts(len(gains)) / ideal) if ideal > 0 else 0.0


def _discounts(n: int) -> Array:
    return 1.0 / np.log2(np.arange(2, n + 2))


def _average_precision(q: Ranked, k: int | None) -> float:
    hits = q.hits[:k]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(hits @ precision / q.relevant) if q.relevant else 0.0


def _reciprocal_rank(q: Ranked, k: int | None) -> float:
    places = np.flatnonzero(q.hits[:k])
    return 1.0 / float(places[0] + 1) if len(places) else 0.0


def _precision(q: Ranked, k: int | None) -> float:
    hits = q.hits[:k]
    return float(hits.sum() / (k or max(len(hits), 1)))


def _recall(q: Ranked, k: int | None) -> float:
    return float(q.hits[:k].sum() / q.relevant) if q.relevant else 0.0


def _expected_reciprocal_rank(q: Ranked, k: int | None, highest: float = 4.0) -> float:
    """Chapelle et al. (2009), eq. 5: a reader stops at a document with probability (2^grade − 1) / 2^highest."""
    stop = (2.0 ** np.maximum(np.nan_to_num(q.grades[:k]), 0.0) - 1.0) / 2.0**highest
    going = np.concatenate([[1.0], np.cumprod(1.0 - stop)[:-1]]) if len(stop) else stop
    return float((going * stop / np.arange(1, len(stop) + 1)).sum())


def _bpref(q: Ranked, k: int | None) -> float:
    """Buckley and Voorhees (2004): judged non-relevant documents above each relevant one, as trec_eval counts them."""
    grades = q.grades[:k]
    wrong = (grades == 0).astype(float)  # a negative grade counts as not judged
    known_wrong = int((q.judged == 0).sum())
    above = np.cumsum(wrong)[grades > 0]
    least = min(q.relevant, known_wrong)
    parts = np.where(above > 0, 1.0 - np.minimum(above, q.relevant) / max(least, 1), 1.0)
    return float(parts.sum() / q.relevant) if q.relevant else 0.0


MEASURES: dict[str, Callable[[Ranked, int | None], float]] = {
    "ndcg": _ndcg,
    "map": _average_precision,
    "mrr": _reciprocal_rank,
    "p": _precision,
    "recall": _recall,
    "err": _expected_reciprocal_rank,
    "bpref": _bpref,
}


@checked
def per_query(
    qrels: Mapping[Any, Any], run: Mapping[Any, Any], *, measure: str = "ndcg", k: int | None = None
) -> dict[str, Any]:
    """A table with one row for each judged query, in sorted order: ``{"query": …, measure: …}``.

    A query that the run does not answer has 0, as with ``trec_eval -c``. The usual unit is the query.

    Parameters
    ----------
    qrels
        From query to the grades of judged documents, whole numbers: ``{query: {document: grade}}``; a grade above 0 is
        relevant.
    run
        From query to its documents' scores: ``{query: {document: score}}``.
    measure
        "ndcg", "map", "mrr", "p", "recall", "err" or "bpref".
    k
        How many documents from the top count; None: all.

    Examples
    --------
    >>> per_query({"q1": {"b": 1}, "q2": {"c": 1}}, {"q1": {"a": 2.0, "b": 1.0}}, measure="mrr")
    {'query': ['q1', 'q2'], 'mrr': array([0.5, 0. ])}
    """
    one_of("measure", measure, tuple(MEASURES))
    queries, rankings = _ranked(qrels, run)
    return {"query": queries, measure: _values(rankings, measure, k)}


def _values(rankings: Sequence[Ranked], measure: str, k: int | None) -> Array:
    if k is not None and k < 1:
        raise StratError.about("k", f"must be at least 1, got {k}.")
    return np.array([MEASURES[measure](query, k) for query in rankings])


def _ranked(qrels: Mapping[Any, Any], run: Mapping[Any, Any]) -> tuple[list[Any], list[Ranked]]:
    """The judged queries in sorted order, each with its ranking."""
    for name, given in (("qrels", qrels), ("run", run)):
        if not isinstance(given, Mapping) or not given:
            raise StratError.about(name, f"must map queries to documents and numbers, got {some([given])}.")
    try:
        queries = sorted(qrels)
    except TypeError:
        raise StratError.about("qrels", f"must have queries of one type, got {some(qrels)}.") from None
    if not any(query in run for query in queries):
        raise StratError.about("run", f"must answer a query of `qrels`, got {some(run, 2)} for {some(queries, 2)}.")
    rankings = [_one_query(query, run.get(query, {}), qrels[query]) for query in queries]
    if _are_scores(qrels.values()) and not _are_scores(run[query] for query in queries if query in run):
        raise StratError.about(
            "qrels",
            "must hold grades, got a different number for every document, which only `run` may have; qrels come first.",
        )
    return queries, rankings


def _are_scores(lists: Iterable[Mapping[Any, Any]]) -> bool:
    """Whether no two documents of a query have the same number, as in a run and as in hardly any grades."""
    sizes = [(len(documents), len(set(documents.values()))) for documents in lists]
    return max(size for size, _ in sizes) > 2 and all(size == distinct for size, distinct in sizes)


def _one_query(query: Any, scores: Any, grades: Any) -> Ranked:
    given, judged = _numbers("run", query, scores), _numbers("qrels", query, grades)
    if (judged % 1 != 0).any():
        raise StratError.about(
            "qrels",
            f"must hold whole grades, got {judged[judged % 1 != 0][0]:g} for query {query!r}; qrels come first.",
        )
    try:
        return ranked(scores, dict(zip(grades, judged.tolist(), strict=True)), given)
    except TypeError:
        raise StratError.about("run", f"must name documents by one type, got several for query {query!r}.") from None


def _numbers(argument: str, query: Any, documents: Any) -> Array:
    try:
        values = np.array(list(documents.values()), float)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise StratError.about(
            argument, f"must map documents to numbers, got {some([documents])} for {query!r}."
        ) from None
    if values.ndim != 1 or not np.isfinite(values).all():
        raise StratError.about(argument, f"must hold finite numbers, got another for query {query!r}.")
    return values


def ranked(scores: Mapping[Any, Any], grades: Mapping[Any, Any], numbers: Array) -> Ranked:
    """The documents of one query in trec_eval's order; `numbers` are the values of `scores`.

    Only judged documents are placed: after those with a higher score, and those of the same score and a greater name.

    >>> ranked({"a": 1.0, "b": 1.0}, {"a": 1}, np.array([1.0, 1.0])).grades.tolist()
    [nan, 1.0]
    """
    with np.errstate(over="ignore"):
        single = -np.asarray(numbers, np.float32)
        judged = [name for name in grades if name in scores]
        own = -np.array([scores[name] for name in judged], float).astype(np.float32)
    order = np.argsort(single, kind="stable")
    ordered = single[order]
    places, after = (np.searchsorted(ordered, own, side=side) for side in ("left", "right"))
    if (after - places > 1).any():
        places = places + _greater_names(judged, list(scores), order, places, after)
    in_order = np.full(len(numbers), np.nan)
    in_order[places] = [grades[name] for name in judged]
    tied = bool((ordered[1:] == ordered[:-1]).any())
    return Ranked(in_order, np.array(list(grades.values()), float), tied)


def _greater_names(judged: list[Any], names: list[Any], order: Codes, first: Codes, last: Codes) -> Codes:
    """For each judged document, how many of the same score have a greater name."""
    in_order = order.tolist()
    runs = zip(judged, first.tolist(), last.tolist(), strict=True)
    counts = [sum([names[i] > own for i in in_order[a:b]]) if b - a > 1 else 0 for own, a, b in runs]
    return np.array(counts, np.intp)


def _mean(name: str, qrels: Mapping[Any, Any], run: Mapping[Any, Any], measure: str, k: int | None) -> Statistic:
    """The mean over judged queries, with notes on unanswered queries and on ties."""
    queries, rankings = _ranked(qrels, run)
    title = name if k is None else f"{name}@{k}"
    statistic = row_mean(title, _values(rankings, measure, k), link="logit", bounds=(0.0, 1.0))
    absent = sum(query not in run for query in queries)
    return replace(statistic, higher_is_better=True, notes=_notes(rankings, absent))


def _notes(rankings: Sequence[Ranked], absent: int) -> tuple[Note, ...]:
    tied = sum(query.tied for query in rankings)
    unanswered = Note("unanswered-queries", {"absent": absent, "of": len(rankings)}) if absent else None
    ties = Note("tied-documents", {"tied": tied, "of": len(rankings)}) if tied else None
    return tuple(note for note in (unanswered, ties) if note)


@measure("ndcg", needs=RUNS, at="k", unit="score", files="runs", reference="Järvelin and Kekäläinen 2002")
@checked
def ndcg(qrels: Mapping[Any, Any], run: Mapping[Any, Any], *, k: int | None = None) -> Statistic:
    """The normalized discounted cumulative gain: gain grade, discount log2(rank + 1), as trec_eval's ndcg_cut.

    Rows are the judged queries in sorted order; each adds (its nDCG, 1). The usual unit is the query.

    Parameters
    ----------
    qrels, run, k
        As for `per_query`.

    Examples
    --------
    >>> float(ndcg({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}).value().round(4))
    0.6309
    """
    return _mean("nDCG", qrels, run, "ndcg", k)


@measure("map", "mean_average_precision", needs=RUNS, at="k", unit="score", files="runs")
@checked
def mean_average_precision(qrels: Mapping[Any, Any], run: Mapping[Any, Any], *, k: int | None = None) -> Statistic:
    """MAP, the mean over queries of the average precision; each query adds (its average precision, 1).

    The usual unit is the query.

    Parameters
    ----------
    qrels, run, k
        As for `per_query`.

    Examples
    --------
    >>> float(mean_average_precision({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}).value())
    0.5
    """
    return _mean("MAP", qrels, run, "map", k)


@measure("mrr", "rr", needs=RUNS, at="k", unit="score", files="runs")
@checked
def mrr(qrels: Mapping[Any, Any], run: Mapping[Any, Any], *, k: int | None = None) -> Statistic:
    """The mean over queries of 1 / rank of the first relevant document; for ranks alone: `mean_reciprocal_rank`.

    Each query adds (its reciprocal rank, 1). The usual unit is the query.

    Parameters
    ----------
    qrels, run, k
        As for `per_query`.

    Examples
    --------
    >>> float(mrr({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}).value())
    0.5
    """
    return _mean("MRR", qrels, run, "mrr", k)


@measure("p", "precision", needs=RUNS, at="k", files="runs")
@checked
def precision_at_k(qrels: Mapping[Any, Any], run: Mapping[Any, Any], *, k: int = 10) -> Statistic:
    """P@k, the mean over queries of relevant documents among the first k, over k.

    Each query adds (its precision, 1). The usual unit is the query.

    Parameters
    ----------
    qrels, run, k
        As for `per_query`.

    Examples
    --------
    >>> float(precision_at_k({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, k=2).value())
    0.5
    """
    return _mean("P", qrels, run, "p", k)


@measure("recall", needs=RUNS, at="k", files="runs")
@checked
def recall_at_k(qrels: Mapping[Any, Any], run: Mapping[Any, Any], *, k: int = 10) -> Statistic:
    """Recall@k, the mean over queries of relevant documents among the first k, over all relevant ones.

    Each query adds (its recall, 1). The usual unit is the query.

    Parameters
    ----------
    qrels, run, k
        As for `per_query`.

    Examples
    --------
    >>> float(recall_at_k({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, k=2).value())
    1.0
    """
    return _mean("recall", qrels, run, "recall", k)


@measure(
    "err", "expected_reciprocal_rank", needs=RUNS, at="k", unit="score", files="runs", reference="Chapelle et al. 2009"
)
@checked
def expected_reciprocal_rank(qrels: Mapping[Any, Any], run: Mapping[Any, Any], *, k: int | None = 20) -> Statistic:
    """ERR@k with grades up to 4, as in gdeval; each query adds (its ERR, 1).

    The usual unit is the query.

    Parameters
    ----------
    qrels, run, k
        As for `per_query`.

    Examples
    --------
    >>> float(expected_reciprocal_rank({"q": {"a": 4}}, {"q": {"a": 1.0}}).value())
    0.9375
    """
    return _mean("ERR", qrels, run, "err", k)


@measure("bpref", needs=RUNS, unit="score", files="runs", reference="Buckley and Voorhees 2004")
@checked
def bpref(qrels: Mapping[Any, Any], run: Mapping[Any, Any]) -> Statistic:
    """Binary preference, which looks only at judged documents; each query adds (its bpref, 1).

    The usual unit is the query.

    Parameters
    ----------
    qrels, run
        As for `per_query`.

    Examples
    --------
    >>> float(bpref({"q": {"a": 0, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}).value())
    0.0
    """
    return _mean("bpref", qrels, run, "bpref", None)
