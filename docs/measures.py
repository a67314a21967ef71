"""Write the tables in docs/reference/measures.md: every measure of the register, by the columns that it needs.

python docs/measures.py              rewrite the tables
python docs/measures.py --check      change nothing; exit with 1 where the page is not that of the register
"""

from __future__ import annotations

import argparse
import html
import math
from pathlib import Path

from strat.measures.register import Measure, every

PAGE = Path(__file__).parent / "reference" / "measures.md"
START, END = "<!-- measures -->\n", "<!-- end of measures -->"
FILES = {
    "runs": "TREC's qrels and runs",
    "turns": "RTTM files",
    "boxes": "COCO's annotations and detections",
    "masks": "masks",
}
HEAD = (
    "| measure | also understood | of | counted in | range | better | source |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n"
)


def tables() -> str:
    """A table for each combination of columns."""
    groups: dict[str, list[Measure]] = {}
    for one in sorted(every(), key=lambda one: (not one.of_tables, len(one.needs), one.needs, one.name)):
        groups.setdefault(_title(one), []).append(one)
    return "".join(f"\n### {title}\n\n{HEAD}" + "".join(map(_line, each)) for title, each in groups.items())


def _title(one: Measure) -> str:
    if one.files in FILES:
        return f"Of {FILES[one.files]}"
    columns = ", ".join(f"`{role}`" for role in one.needs)
    return f"Of {columns}" + ("" if one.reads != "matrix" else ", with a column for each class")


def _line(one: Measure) -> str:
    name = f"{one.name}{one.at}" if one.name[-1] in "@^" else f"{one.name}@{one.at}" if one.at else one.name
    name = f"`{name}`" + (" †" if one.averaged else "")
    also = " ".join(f"`{word}`" for word in one.also)
    low, high = (f"{end:g}" if math.isfinite(end) else "" for end in one.bounds)
    reach = f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}" if high else ""
    better = {True: "higher", False: "lower", None: ""}[one.higher_is_better]
    cells = (name, also, f"{one.of}s", html.escape(one.unit, quote=False), reach, better, one.reference)
    return f"| {' | '.join(cells)} |\n"


def replaced(page: str) -> str:
    """The page with today's tables."""
    before, _, rest = page.partition(START)
    return f"{before}{START}{tables()}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write the tables, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, and say whether the page is up to date")
    page = PAGE.read_text(encoding="utf-8")
    current = replaced(page)
    if parser.parse_args().check:
        return int(current != page)
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
