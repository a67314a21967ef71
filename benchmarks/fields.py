"""Measures of fields beside their reference tools: how far the values differ, and the time of value and interval.

`python -m benchmarks fields` prints both, the first as the lines of the table in `docs/howto/fields.md`.
"""

from __future__ import annotations

from importlib.metadata import version

import strat
from benchmarks.fields_cases import Case, cases
from benchmarks.harness import best, ratio, show


def whole(case: Case) -> None:
    """The interval, from the data."""
    ours = case.ours()
    if isinstance(ours, strat.Statistic):
        strat.estimate(ours, on=strat.Design.simple_random(n=len(ours))).interval()
    else:
        case.value(ours)  # chosen among groups: its value is made with its limits


def main() -> None:
    equal, times = [], []
    for case in cases():
        off = abs(case.value(case.ours()) - case.theirs())
        equal.append([case.name, f"{case.package} {version(case.package)}", f"{off:.1g}"])
        jobs = (case.theirs, lambda case=case: case.value(case.ours()), lambda case=case: whole(case))
        theirs, value, ours = (best(job, 2) for job in jobs)
        times.append([case.name, f"{1e3 * theirs:.1f}", f"{1e3 * value:.1f}", f"{1e3 * ours:.1f}", ratio(theirs, ours)])
    print("| measure | tool | largest difference |\n| --- | --- | --- |")
    print(*(f"| {' | '.join(line)} |" for line in equal), sep="\n")
    head = ["measure", "tool's value, ms", "our value, ms", "our interval, ms", "interval beside tool"]
    show("CPU time", head, times)


if __name__ == "__main__":
    main()
