"""A leaderboard for other people's pages: one self-contained HTML file without any request, and a JSON feed."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.escaping import escape_json
from strat.base.files import atomic
from strat.base.limits import LIMITS
from strat.base.notes import records
from strat.base.validate.arguments import checked
from strat.show.colours import BLUE, GREY
from strat.show.render import jsonable
from strat.verbs import Leaderboard

SCHEMA = "strat/board/2"
WIDTH, HEIGHT = 260, 18
STYLE = f"""
.strat{{font:14px/1.5 system-ui,sans-serif;color:#1b1f24;border-collapse:collapse}}
.strat caption,.strat-notes{{text-align:left;color:#57606a;font:12px/1.5 system-ui,sans-serif;padding:4px 0}}
.strat th{{text-align:left;font-weight:600;border-bottom:1px solid #d0d7de;padding:2px 10px 2px 0}}
.strat td{{padding:2px 10px 2px 0;border-bottom:1px solid #eaeef2;white-space:nowrap}}
.strat td.n,.strat th.n{{text-align:right;font-variant-numeric:tabular-nums}}
.strat tr[data-k]:hover td,.strat tr.at td{{background:#ddf4ff}}
.strat tr.tie td{{background:#f6f8fa}} .strat svg{{vertical-align:middle}}
.strat .mark{{stroke:{BLUE};stroke-width:2}} .strat .dot{{fill:{BLUE}}} .strat .axis{{stroke:{GREY};stroke-width:.5}}
"""
SCRIPT = """
(function(me){var box=me.parentNode.querySelector('.strat'),D=JSON.parse(me.previousElementSibling.textContent),
rows=box.querySelectorAll('tr[data-k]');function f(x){return (x>0?'+':'')+x.toFixed(4)}
rows.forEach(function(r){var k=+r.dataset.k;if(k>=D.low.length)return;
function on(){rows.forEach(function(o){var j=+o.dataset.k,c=o.querySelector('.gap');
if(j===k){c.textContent='';o.className='at';return}if(j>=D.low.length)return;
var d=D.score[j]-D.score[k],l=D.low[j][k],h=-D.low[k][j];
o.className=l<=0&&h>=0?'tie':'';c.textContent=f(d)+'  ('+f(l)+' to '+f(h)+')'})}
function off(){rows.forEach(function(o){o.className='';o.querySelector('.gap').textContent=''})}
r.addEventListener('mouseenter',on);r.addEventListener('focus',on);r.addEventListener('mouseleave',off);r.addEventListener('blur',off)})
})(document.currentScript);
"""


@checked
def board_feed(board: Leaderboard) -> dict[str, Any]:
    """A leaderboard as plain values for a page or a program, with the schema "strat/board/2".

    One entry for each system, best first: score with limits, the ranks that it may have, whether it is tied with the
    best, and the value of every further measure (cost, tokens).

    Examples
    --------
    >>> from strat.verbs import compare
    >>> feed = board_feed(compare({"A": [1, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 1, 1]}, score=["A", "B"]))
    >>> feed["schema"], [(one["system"], one["first_rank"], one["last_rank"]) for one in feed["systems"]]
    ('strat/board/2', [('A', 1, 2), ('B', 1, 2)])
    """
    low, high = board.estimate.interval(board.level)
    first, last = board.ranks()
    tied = set(board.tied)
    further = {name: _values(one) for name, one in list(board.boards.items())[1:]}
    systems = [
        {
            "system": system,
            "score": float(board.estimate.point[k]), "low": float(np.ravel(low)[k]), "high": float(np.ravel(high)[k]),
            "first_rank": int(first[k]), "last_rank": int(last[k]), "tied_with_best": system in tied,
            "further": {name: one[system] for name, one in further.items()},
        }
        for k, system in enumerate(board.systems)
    ]  # fmt: skip
    feed: dict[str, Any] = jsonable(
        {
            "schema": SCHEMA, "measure": _measure(board), "level": board.level,
            "design": str(board.estimate.design),
            "higher_is_better": board.many.higher_is_better, "systems": systems, "notes": records(board.notes),
        }
    )  # fmt: skip
    return feed


def _measure(board: Leaderboard) -> str:
    """What the board calls its measure; scores of a table have none of their own."""
    return board.estimate.name if board.measure in ("", "mean") else board.measure


def _values(board: Leaderboard) -> dict[str, dict[str, float]]:
    """From system to its value of a further measure, with limits."""
    low, high = board.estimate.interval(board.level)
    lines = zip(board.systems, board.estimate.point, np.ravel(low), np.ravel(high), strict=True)
    return {system: {"value": float(v), "low": float(a), "high": float(b)} for system, v, a, b in lines}


@checked
def board_page(board: Leaderboard, path: str | Path) -> Path:
    """Write one HTML file to embed or to publish: ranks, ties, intervals, and paired differences on hover.

    It asks no server for anything: styles, pictures (SVG) and a script of a few lines are inside. Pointing at a system
    shows every other system − this one with simultaneous limits, and shades those that are not distinguishable from it.

    Parameters
    ----------
    board
        A leaderboard; its further measures, such as cost and tokens, become columns.
    path
        The file to write, which must end in .html.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise StratError.about("path", f"must end in .html, got {str(target)!r}.")
    with atomic(target) as file:
        file.write(_html(board).encode(errors="backslashreplace"))
    return target


def _html(board: Leaderboard) -> str:
    feed = board_feed(board)
    further = list(feed["systems"][0]["further"])
    ends = [one[end] for one in feed["systems"] for end in ("low", "high") if one[end] is not None]
    span = (min(ends), max(ends)) if ends else (0.0, 1.0)
    body = "".join(_row(k, one, further, span) for k, one in enumerate(feed["systems"]))
    notes = "".join(f'<p class="strat-notes">{escape(note)}</p>' for note in _sentences(board, feed))
    caption = f"<caption>{escape(str(feed['design']))}</caption>"
    head = _head(board, str(feed["measure"]), further, span)
    table = f'<table class="strat">{caption}<thead>{head}</thead><tbody>{body}</tbody></table>'
    title = escape(f"{feed['measure']}: {len(board.systems)} systems")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head>"
        f"<body><div>{table}{_hover(board)}{notes}</div></body></html>\n"
    )


def _head(board: Leaderboard, measure: str, further: list[str], span: tuple[float, float]) -> str:
    percent = f"{100 * board.level:g} %"
    number = "".join(f'<th class="n">{escape(name)}</th>' for name in further)
    scale = f"{_short(span[0])} to {_short(span[1])}"
    return (
        f'<tr><th>rank</th><th>system</th><th class="n">{escape(measure)}</th>'
        f"<th>{percent} interval, on a scale of {scale}</th>"
        f"{number}<th>difference, {percent} for all pairs</th></tr>"
    )


def _sentences(board: Leaderboard, feed: dict[str, Any]) -> list[str]:
    """What a reader of the page should know."""
    hint = "Point at a system to see every other one − this one; those that are not distinguishable from it are shaded."
    of_some = (
        [f"Differences are shown between the first {LIMITS.paired_systems} systems."]
        if len(board.systems) > LIMITS.paired_systems
        else []
    )
    return [hint, *of_some, *(str(note["text"]) for note in feed["notes"])]


def _hover(board: Leaderboard) -> str:
    """The numbers that differences are computed from when somebody points at a system, and the script."""
    shown = range(min(len(board.systems), LIMITS.paired_systems))
    critical = board.many.critical(board.level)
    low, _ = board.many.between(shown, shown).limits(critical)
    score = board.estimate.point[: len(shown)].tolist()
    numbers = {"score": score, "low": low.round(6).tolist(), "critical": critical}
    data = escape_json(json.dumps(jsonable(numbers))).replace("<", "\\u003c")
    return f'<script type="application/json">{data}</script><script>{SCRIPT}</script>'


def _row(k: int, one: dict[str, Any], further: list[str], span: tuple[float, float]) -> str:
    first, last = one["first_rank"], one["last_rank"]
    ranks = str(first) if first == last else f"{first}–{last}"
    cells = "".join(_further(one["further"][name]) for name in further)
    return (
        f'<tr data-k="{k}" tabindex="0"><td>{ranks}</td><td>{escape(one["system"])}</td>'
        f'<td class="n">{_short(one["score"])}</td><td>{_interval(one, span)}</td>{cells}<td class="gap"></td></tr>'
    )


def _further(one: dict[str, Any]) -> str:
    """The value of a further measure, with its interval where somebody points at it."""
    return f'<td class="n" title="{_short(one["low"])} to {_short(one["high"])}">{_short(one["value"])}</td>'


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}" if abs(value) >= 10 else f"{value:.4f}"


def _interval(one: dict[str, Any], span: tuple[float, float]) -> str:
    """The interval as a line with a dot, on the scale that all systems share."""
    if one["low"] is None or one["high"] is None:
        return ""
    width = (span[1] - span[0]) or 1.0
    low, dot, high = (4 + (WIDTH - 8) * (one[name] - span[0]) / width for name in ("low", "score", "high"))
    title = escape(f"{one['system']}: {one['score']:.4f}, {one['low']:.4f} to {one['high']:.4f}")
    middle = HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{title}"><title>{title}</title>'
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{middle}" y2="{middle}"/>'
        f'<line class="mark" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>'
        f'<circle class="dot" cx="{dot:.1f}" cy="{middle}" r="3.5"/></svg>'
    )
