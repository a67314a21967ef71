"""All that was reproduced on one self-contained page."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reproduce.entries import APART, SEEN, Reproduced, Value
from strat.base.text import counted
from strat.show.render import shown


def summary(made: Sequence[Reproduced]) -> str:
    """How many values agree, and what the others are, in a sentence for each kind.

    Examples
    --------
    >>> from reproduce import ENTRIES, chosen, reproduce
    >>> summary([reproduce(e) for e in chosen(ENTRIES, ["nyssen/example", "strat/21"])])
    '4 printed values in 2 entries: 4 agree. 2 values by formula: 1 derived, 1 differs by an erratum.'
    """
    every = [v for m in made for v in m.found.values]
    values = [v for v in every if v.verdict not in APART]
    entries = "1 entry" if len(made) == 1 else f"{len(made)} entries"
    printed, derived = ([v for v in values if (v.printed is None) == none] for none in (False, True))
    skipped = sum(bool(m.skipped) for m in made)
    parts = _counts(printed)
    if skipped:
        parts.append(f"{skipped} entr{'y was' if skipped == 1 else 'ies were'} skipped for want of data")
    said = f"{counted(len(printed), 'printed value', '')} in {entries}{': ' if parts else ''}{', '.join(parts)}."
    if derived:
        said += f" {counted(len(derived), 'value', '')} by formula: {', '.join(_counts(derived))}."
    claims = [v.ours == SEEN for v in every if v.verdict == "other data"]
    if claims:
        said += f" {counted(len(claims), 'claim', '')} on other data than the source's: {sum(claims)} seen there."
    generated = sum(v.verdict == "generated data" for v in every)
    if generated:
        said += f" {counted(generated, 'claim', '')} shown on generated data only, and not counted."
    return said


def _counts(values: Sequence[Value]) -> list[str]:
    """How often each verdict was given, in words."""
    counts = Counter(v.verdict.split()[0] for v in values)
    return [f"{counts[key]} {one if counts[key] == 1 else many}" for key, (one, many) in WORDS.items() if counts[key]]


_WIDE = "compatible (a tolerance of over a tenth of the value)"
WORDS = {
    "agrees": ("agrees", "agree"),
    "derived": ("derived", "derived"),
    "compatible": (_WIDE, _WIDE),
    "open": ("open", "open"),
    "erratum": ("differs by an erratum", "differ by an erratum"),
    "trap": ("is a trap for readers", "are traps for readers"),
    "scan": ("is damaged in our copy", "are damaged in our copy"),
    "undecided": ("is too noisy to say", "are too noisy to say"),
    "differs": ("differs", "differ"),
}


def render(made: Sequence[Reproduced], sources: dict[str, str], *, command: str, slow: bool) -> str:
    """The page as text: sections by source, an entry a fold, pictures inside the file."""
    import strat

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {"cell": _cell, "picture": _picture, "words": _words}
    grouped = [(name, [m for m in made if m.entry.id.startswith(f"{key}/")]) for key, name in sources.items()]
    return environment.get_template("page.html.j2").render(
        summary=summary(made),
        version=strat.__version__,
        date=date.today().isoformat(),
        speed="with many repetitions of each simulation" if slow else "with few repetitions of each simulation",
        command=command,
        sources=[(name, members) for name, members in grouped if members],
    )


def _cell(value: Any) -> str:
    return "" if value is None else shown(value)


def _words(values: Sequence[Value]) -> str:
    return "; ".join(f"{v.what} {_cell(v.ours)}" for v in values[:4])


def _picture(made: Reproduced) -> str:
    """The picture as a data address; drawn off screen whatever the person's own setting is."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    assert made.found.picture is not None
    backend = mpl.get_backend()
    plt.switch_backend("agg")
    try:
        ax = made.found.picture()
        file = io.BytesIO()
        ax.figure.savefig(file, format="png", dpi=110)
        plt.close(ax.figure)
    finally:
        plt.switch_backend(backend)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
