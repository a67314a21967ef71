"""Re-identification on the command line: mAP and match rates with the camera rule, of one or more systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.text import counted
from strat.cli.options import naming
from strat.cli.output import Sheet
from strat.cli.recognition_figures import Figure, Wish, lines
from strat.cli.recognition_sources import Source
from strat.recognition import Reidentification, read_labels, reidentification

SCHEMA, SEVERAL = "strat/reidentify/1", "strat/reidentify-systems/1"
COLUMNS = ("figure", "at", "estimate", "se", "low", "high", "df")


@dataclass(frozen=True)
class Cameras:
    """The files with the cameras of probes and gallery, and the labels that stand for no subject."""

    probes: Path | None
    gallery: Path | None
    junk: str | None

    def read(self) -> dict[str, Any]:
        """The arguments of `reidentification`."""
        if (self.probes is None) != (self.gallery is None):
            raise StratError("`--cameras` and `--gallery-cameras` must come together, got one of them.")
        given: dict[str, Any] = {}
        for name, option, path in (
            ("probe_cameras", "--cameras", self.probes),
            ("gallery_cameras", "--gallery-cameras", self.gallery),
        ):
            if path is not None:
                with naming(path=option, labels=option):
                    given[name] = read_labels(path)
        return given


def searched(sources: dict[str, Source], wish: Wish, cameras: Cameras) -> Sheet:
    """The figures of each system, and paired differences from the first."""
    given = cameras.read()
    results = {name: _one(source, cameras.junk, given) for name, source in sources.items()}
    rows: list[list[Any]] = []
    for name, result in results.items():
        rows += [[name, *row] for figure in _figures(result, wish) for row in lines(*figure, wish.level)]
    (first, one), *others = results.items()
    for name, other in others:
        rows += [[f"{first} − {name}", *row] for row in lines("mAP", "", one.difference(other), wish.level)]
    notes = [Note("probes-left-out", {"probes": one.left_out})] if one.left_out else []
    head = (
        f"{counted(len(one.rank), 'probe')} of {counted(len(np.unique(one.subject)), 'subject')} against "
        f"{counted(one.gallery_size, 'image')}" + (", camera rule" if given else "")
    )
    notes.append(Note("ties-counted", {"case": "search", "population": True}))
    if len(results) == 1:
        return Sheet(SCHEMA, COLUMNS, [row[1:] for row in rows], head, notes)
    notes.append(Note("paired-systems", {"case": "probes"}))
    return Sheet(SEVERAL, ("system", *COLUMNS), rows, head, notes)


def _one(source: Source, junk: str | None, given: dict[str, Any]) -> Reidentification:
    sides = source.searched("--reidentification")
    marks = None if junk is None else _typed(junk.split(","), sides["gallery"])
    with naming(probe_cameras="--cameras", gallery_cameras="--gallery-cameras", junk="--junk"):
        return reidentification(**sides, **given, junk=marks)


def _typed(marks: list[str], labels: NDArray[Any]) -> list[Any]:
    """The marks as labels of the gallery's kind: numbers among numbers."""
    if labels.dtype.kind not in "iuf":
        return marks
    try:
        return [float(mark) if labels.dtype.kind == "f" else int(mark) for mark in marks]
    except ValueError:
        raise StratError(
            f"`--junk` must be numbers as the labels of the gallery are, got {','.join(marks)!r}."
        ) from None


def _figures(result: Reidentification, wish: Wish) -> list[Figure]:
    at = sorted({k for k in wish.at if k <= result.gallery_size}) or [1]
    return [("mAP", "", result.mean_average_precision()), ("CMC at rank", at, result.cmc(at))]
