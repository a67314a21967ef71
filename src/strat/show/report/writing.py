"""Where a report begins: one HTML file written whole, or its text."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from strat.base import extras
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.show.render import write as write_whole


@checked
def write(results: Any, path: str | Path, title: str | None = None) -> Path:
    """Write the report of one result, or of several, as one self-contained HTML file; returns its path.

    The file is written whole or not at all. It needs no network, holds the numbers as JSON for machines, and stays
    under 6 MB.

    Parameters
    ----------
    results
        An evaluation, a comparison, an estimate, a curve or any other result; a list of them (the first one gives the
        answer on top); or a mapping from names to them.
    path
        Where to write, such as ``"report.html"``.
    title
        The page's title.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise StratError.about("path", f"must end in .html, got {str(path)!r}.")
    now = datetime.now()
    write_whole(target, _page(results, title, f"{now.day} {now:%B %Y}"))
    return target


@checked
def render(results: Any, title: str | None = None) -> str:
    """The report as text; the arguments are those of `write`.

    Examples
    --------
    >>> import strat
    >>> accuracy = strat.estimate(strat.accuracy(["a", "b"], ["a", "a"]), on=strat.Design.simple_random(n=2))
    >>> page = render(accuracy, title="Two rows")
    >>> "<title>Two rows</title>" in page, "Accuracy is 0.5" in page
    (True, True)
    """
    return _page(results, title)


def _page(results: Any, title: str | None, written: str = "") -> str:
    extras.load("jinja2")
    from strat.show.report.page import page

    return page(results, title, written)
