"""TREC runs judged by qrels: average precision, nDCG, precision, reciprocal rank, recall, ERR and bpref of each topic.

Values are those of `strat.measures.fields.retrieval`, which are trec_eval's; a document without judgement is
not relevant; a topic that a run lacks scores 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from strat.base.errors import StratError, short
from strat.base.notes import Note
from strat.data.logs.item_table import Run
from strat.data.logs.samples import Samples
from strat.data.untrusted import DEFAULT, Limits, number, text_lines
from strat.measures.fields.retrieval import MEASURES, ranked

RUNS = (".run", ".trec", ".res")
SCORES: dict[str, tuple[str, int | None]] = {
    "ap": ("map", None),
    "ndcg@10": ("ndcg", 10),
    "ndcg": ("ndcg", None),
    "P@10": ("p", 10),
    "rr": ("mrr", None),
    "recall@1000": ("recall", 1000),
    "err@20": ("err", 20),
    "bpref": ("bpref", None),
}  # what a row of the table holds: name -> (measure, how many documents from the top)
Judgements = dict[str, dict[str, int]]  # topic -> document -> grade


def is_qrels(path: Path) -> bool:
    """Whether a file's name says that it holds judgements."""
    return "qrels" in path.name.lower() and path.suffix.lower() in ("", ".txt", ".qrels", ".qrel", ".test", ".tsv")


def is_run(path: Path) -> bool:
    """Whether a file's name says that it is a run."""
    return path.suffix.lower() in RUNS


def read_qrels(path: Path, limits: Limits = DEFAULT) -> Judgements:
    """The grade of each judged document of each topic."""
    judged: Judgements = {}
    for line, parts in lines_of(path, "topic, iteration, document, grade", 4, limits):
        try:
            judged.setdefault(parts[0], {})[parts[2]] = int(float(parts[3]))
        except (ValueError, OverflowError):
            raise StratError(f"`{path}`, line {line}, must end in a grade, got {short(repr(parts[3]))}.") from None
    if not judged:
        raise StratError(f"`{path}` must hold at least one judgement, got none.")
    return judged


def read_scores(path: Path, limits: Limits = DEFAULT) -> tuple[dict[str, dict[str, float]], str]:
    """The score of each document of each topic of a run, and the run's tag."""
    ranked: dict[str, dict[str, float]] = {}
    system = path.stem
    for line, parts in lines_of(path, "topic, Q0, document, rank, score, run", 6, limits):
        score = number(parts[4])
        if not np.isfinite(score):
            raise StratError(f"`{path}`, line {line}, must have a score, got {short(repr(parts[4]))}.")
        documents = ranked.setdefault(parts[0], {})
        if parts[2] in documents:
            raise StratError(f"`{path}`, line {line}: document {short(parts[2])!r} comes twice for topic {parts[0]!r}.")
        documents[parts[2]], system = score, parts[5]
    return ranked, system


def read_run(path: Path, judged: Judgements, limits: Limits = DEFAULT) -> list[Run]:
    """One run: a row for each judged topic that has a relevant document."""
    ranked, system = read_scores(path, limits)
    run = Samples(path, system, "")
    topics = [topic for topic, grades in judged.items() if any(grade > 0 for grade in grades.values())]
    if not set(topics) & set(ranked):
        raise StratError(f"`{path}` must rank documents for topics of the qrels, got none in common.")
    for topic in topics:
        run.add(topic, scores_of(ranked.get(topic, {}), judged[topic]))
    absent = sum(topic not in ranked for topic in topics)
    if absent:
        facts = {"case": "topics", "absent": absent, "of": len(topics)}
        run.run.notes.append(Note("log-incomplete", facts).of(file=path.name))
    return [run.done()]


def scores_of(documents: dict[str, float], grades: dict[str, int]) -> dict[str, float]:
    """The measures of one topic.

    Examples
    --------
    The relevant documents a and c are at ranks 1 and 3: AP is (1/1 + 2/3) / 2.

    >>> scores = scores_of({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 1, "b": 0, "c": 1})
    >>> round(scores["ap"], 4), scores["rr"], scores["P@10"]
    (0.8333, 1.0, 0.2)
    """
    ranking = ranked(documents, grades, np.array(list(documents.values()), float))
    return {name: MEASURES[measure](ranking, k) for name, (measure, k) in SCORES.items()}


def lines_of(path: Path, layout: str, fields: int, limits: Limits = DEFAULT) -> Iterator[tuple[int, list[str]]]:
    """Number and words of each line that is not empty; the `layout` tells what a line must have."""
    try:
        with path.open("rb") as file:
            for line, text in enumerate(text_lines(file, limits.line), 1):
                parts = text.split()
                if parts and len(parts) < fields:
                    raise StratError(f"`{path}`, line {line}, must have {layout}, got {short(repr(text.strip()))}.")
                if parts:
                    yield line, parts
    except OSError as error:
        raise StratError(f"`{path}` can't be read: {error.strerror or error}.") from None
    except (ValueError, UnicodeDecodeError) as error:
        if isinstance(error, StratError):
            raise
        raise StratError(f"`{path}` must be lines of UTF-8 text: {error}.") from None
