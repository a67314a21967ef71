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

from strat.report.reproduce.entries import APART, Reproduced, Value
from strat.tables.out import shown


def summary(made: Sequence[Reproduced]) -> str:
    """How many values agree, in a sentence.

    Examples
    --------
    >>> from strat.report.reproduce import ENTRIES, chosen, reproduce
    >>> summary([reproduce(e) for e in chosen(ENTRIES, ["nyssen/example", "strat/21"])])
    '6 printed values in 2 entries: 5 agree, 1 differs by an erratum.'
    """
    counts = Counter(v.verdict.split()[0] for m in made for v in m.found.values if v.verdict not in APART)
    words = {
        "agrees": ("agrees", "agree"),
        "erratum": ("differs by an erratum", "differ by an erratum"),
        "open": ("differs and is open", "differ and are open"),
        "differs": ("differs", "differ"),
    }
    parts = [f"{counts[key]} {one if counts[key] == 1 else many}" for key, (one, many) in words.items() if counts[key]]
    skipped = sum(bool(m.skipped) for m in made)
    if skipped:
        parts.append(f"{skipped} entr{'y was' if skipped == 1 else 'ies were'} skipped for want of data")
    number = sum(counts.values())
    values = "printed value" if number == 1 else "printed values"
    entries = "entry" if len(made) == 1 else "entries"
    return f"{number} {values} in {len(made)} {entries}: {', '.join(parts)}."


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
