"""Files of fields, a reference and what systems made of it, as rows: texts, RTTM, TREC, COCO and masks.

Each kind of file says what a row is and how a measure is made of chosen rows of one system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, near, short, some
from strat.base.validate.columns import load
from strat.data.logs.trec import lines_of, read_qrels, read_scores
from strat.data.untrusted import json_object, read_bytes
from strat.measures.base import Statistic
from strat.measures.register import Measure, entered, named

UTTERANCE = re.compile(r"^(.*)\(([^()\s]+)\)\s*$")  # a line of a .trn file: words, and the utterance in brackets


@dataclass(frozen=True)
class Items:
    """The rows of one reference and of what systems made of it.

    Attributes
    ----------
    item
        What a row is: "line" (counted from 1), "utterance", "recording", "topic", "image" or "case".
    labels
        The name of each row.
    reference
        From labels to what the measures take.
    hypotheses
        The same for each system.
    columns
        What else is known of each row, such as the speaker.
    chosen
        From a reference or a hypothesis and labels to what the measures take of these rows alone.
    """

    item: str
    labels: list[Any]
    reference: Any
    hypotheses: list[Any]
    columns: dict[str, list[Any]] = field(default_factory=dict)
    chosen: Callable[[Any, Sequence[Any]], Any] = lambda whole, labels: [whole[label] for label in labels]

    def measured(self, measure: Measure, rows: Sequence[int], system: int) -> Statistic:
        """The measure of these rows of one system."""
        labels = [self.labels[row] for row in rows]
        return of_files(measure, self.chosen(self.reference, labels), self.chosen(self.hypotheses[system], labels))


def read_items(reference: Path, hypotheses: Sequence[Path], kind: str) -> Items:
    """The rows of files of one kind."""
    return READERS[kind](reference, hypotheses)


def measure_of(name: str) -> Measure:
    """The measure of files that a word means.

    >>> measure = measure_of("nDCG@10")
    >>> measure.files, measure.given
    ('runs', {'k': 10})
    """
    try:
        measure = named(name, files=True)
    except StratError:
        measure = None
    if measure is None or measure.files is None:
        known = [word.rpartition(":")[2] for word, one in entered().items() if one.files]
        example = "a number follows some, as in 'ndcg@10'" if "@" in name else near(name.lower(), known)
        raise StratError.about("metrics", f"must be measures of files, got {name!r}; {example}")
    return measure


def of_files(measure: Measure, reference: Any, hypothesis: Any) -> Statistic:
    """The statistic of what a reference and a hypothesis hold."""
    if measure.files == "texts":
        return measure.build({"truth": reference, "predicted": hypothesis})
    outlines = measure.files == "boxes" and hypothesis and "segmentation" in hypothesis[0]
    return measure.function(reference, hypothesis, **measure.given, **({"kind": "segm"} if outlines else {}))


def _texts(reference: Path, hypotheses: Sequence[Path]) -> Items:
    """Lines of plain text, which belong together by their number; or of .trn files, by utterance."""
    if reference.suffix.lower() == ".trn":
        left, others = _utterances(reference), [_utterances(path) for path in hypotheses]
        for path, other in zip(hypotheses, others, strict=True):
            _same(path, "utterances", left, other)
        speaker = [re.split(r"[-_]", label)[0] for label in left]  # as sclite has it
        return Items("utterance", list(left), left, others, {"speaker": speaker})
    lines, texts = _lines(reference), [_lines(path) for path in hypotheses]
    for path, text in zip(hypotheses, texts, strict=True):
        if len(text) != len(lines):
            raise StratError(f"`{path}` must have as many lines as `{reference}` ({len(lines):,}), got {len(text):,}.")
    numbers = range(1, len(lines) + 1)
    numbered = [dict(zip(numbers, each, strict=True)) for each in (lines, *texts)]
    return Items("line", list(numbers), numbered[0], numbered[1:])


def _lines(path: Path) -> list[str]:
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise StratError(f"`{path}` must be UTF-8 text, got byte {error.start} that is not.") from None
    if not lines:
        raise StratError(f"`{path}` must have at least one line, got none.")
    return lines


def _utterances(path: Path) -> dict[str, str]:
    """The words of each utterance of a .trn file."""
    words: dict[str, str] = {}
    for number, line in enumerate(_lines(path), 1):
        parts = UTTERANCE.match(line)
        if line.strip() and (parts is None or parts[2] in words):
            raise StratError(
                f"`{path}`, line {number}, must be words and a new utterance in brackets, got {short(repr(line))}."
            )
        if parts is not None:
            words[parts[2]] = parts[1].strip()
    return words


def _same(path: Path, what: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    """Refuse items that only one of two files has."""
    alone = [*(label for label in left if label not in right), *(label for label in right if label not in left)]
    if alone:
        raise StratError(f"`{path}` must have the {what} of the reference, got {some(alone, 3)} in one of them alone.")


def _turns(reference: Path, hypotheses: Sequence[Path]) -> Items:
    """Recordings of RTTM files; a system that found nobody in a recording has no turns in it."""
    left, others = _rttm(reference), [_rttm(path) for path in hypotheses]
    for path, other in zip(hypotheses, others, strict=True):
        unknown = [label for label in other if label not in left]
        if unknown:
            raise StratError(f"`{path}` must have recordings of `{reference}`, got {some(unknown, 3)}.")
    return Items("recording", list(left), left, [{label: o.get(label, []) for label in left} for o in others])


def _rttm(path: Path) -> dict[str, list[tuple[float, float, str]]]:
    """The turns of each recording: the lines that start with SPEAKER."""
    turns: dict[str, list[tuple[float, float, str]]] = {}
    for number, parts in lines_of(path, "SPEAKER, recording, channel, start, duration, …, …, name", 1):
        if parts[0] != "SPEAKER":
            continue
        try:
            start, duration, speaker = float(parts[3]), float(parts[4]), parts[7]
        except (ValueError, IndexError):
            raise StratError(
                f"`{path}`, line {number}, must have SPEAKER, recording, channel, start, duration, two more and the "
                f"speaker's name, got {short(repr(' '.join(parts)))}."
            ) from None
        turns.setdefault(parts[1], []).append((start, start + duration, speaker))
    if not turns:
        raise StratError(f"`{path}` must have lines that start with SPEAKER, got none.")
    return turns


def _retrieval(reference: Path, hypotheses: Sequence[Path]) -> Items:
    """Topics of the qrels."""
    qrels, runs = read_qrels(reference), [read_scores(path)[0] for path in hypotheses]

    def chosen(whole: Mapping[str, Any], labels: Iterable[str]) -> dict[str, Any]:
        return {label: whole[label] for label in labels if label in whole}

    return Items("topic", sorted(qrels), qrels, list(runs), chosen=chosen)


def _images(reference: Path, hypotheses: Sequence[Path]) -> Items:
    """Images of COCO's annotations, and results as COCO has them."""
    truth, *results = (json_object(read_bytes(path), str(path)) for path in (reference, *hypotheses))
    for name in ("images", "annotations"):
        _with_images(reference, name, truth.get(name) if isinstance(truth, dict) else None)
    for path, given in zip(hypotheses, results, strict=True):
        _with_images(path, "results", given)
    labels = sorted({one["id"] for one in truth["images"]})
    whole = set(labels)

    def chosen(given: Any, wanted: Sequence[Any]) -> Any:
        some_images = set(wanted)
        if some_images == whole:
            return given
        if isinstance(given, list):
            return [one for one in given if one["image_id"] in some_images]
        objects = [one for one in given["annotations"] if one["image_id"] in some_images]
        return {**given, "images": [i for i in given["images"] if i["id"] in some_images], "annotations": objects}

    return Items("image", labels, truth, results, chosen=chosen)


def _with_images(path: Path, name: str, given: Any) -> None:
    """Refuse a list of COCO's whose parts do not say which image they are of."""
    key = "id" if name == "images" else "image_id"
    parts = given if isinstance(given, list) else [given]
    bad = [one for one in parts if not isinstance(one, dict) or not isinstance(one.get(key), int)]
    if bad or not isinstance(given, list):
        raise StratError(f"`{path}` must hold COCO's {name}, each with a whole number {key!r}, got {some(bad[:1])}.")


def _masks(reference: Path, hypotheses: Sequence[Path]) -> Items:
    """Cases: arrays of an .npz file, or the .npy files of a folder."""
    left, others = _arrays(reference), [_arrays(path) for path in hypotheses]
    for path, other in zip(hypotheses, others, strict=True):
        _same(path, "cases", left, other)
    return Items("case", list(left), left, others)


def _arrays(path: Path) -> dict[str, Any]:
    if path.is_dir():
        arrays = {file.stem: load("reference", file)[""] for file in sorted(path.glob("*.npy"))}
    else:
        arrays = dict(load("reference", path))
    if not arrays:
        raise StratError(f"`{path}` must hold an array for each case: a folder of .npy files, or an .npz file.")
    return arrays


READERS: dict[str, Callable[[Path, Sequence[Path]], Items]] = {
    "texts": _texts,
    "turns": _turns,
    "runs": _retrieval,
    "boxes": _images,
    "masks": _masks,
}
