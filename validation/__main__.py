"""``python -m validation``: run the laboratory and write its pages."""

from __future__ import annotations

import argparse
from pathlib import Path

from .run import GRIDS, PARTS, SEED, TRIALS, parts_of, run_all


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m validation", description=main.__doc__)
    parser.add_argument("--grid", choices=tuple(GRIDS), default="first",
                        help="what defaults were chosen on, what none was, or what hurts")  # fmt: skip
    parser.add_argument("--samples", "--trials", type=int, default=TRIALS, dest="trials",
                        help=f"samples a scenario (default {TRIALS}; 400 for a look)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of the run (default {SEED})")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--part", action="append", choices=PARTS, help="run this part only (repeat for more)")
    parser.add_argument("--only", default="", help="run scenarios whose name holds this text")
    parser.add_argument("--fresh", action="store_true", help="forget stored results")
    parser.add_argument("--pages", action="store_true", help="write the pages from the stored results, run nothing")
    parser.add_argument("--results", type=Path, help="where results are stored (default: beside the laboratory)")
    parser.add_argument("--table", action="store_true", help="print the table of a later grid, write no page")
    options = parser.parse_args()
    results = options.results or GRIDS[options.grid]
    if not options.pages:
        run_all(
            trials=options.trials, seed=options.seed, jobs=options.jobs, only=options.only, fresh=options.fresh,
            parts=tuple(options.part or parts_of(options.grid)), path=results,
        )  # fmt: skip
    from .page import held_out_table, write_pages

    if options.table:
        print(held_out_table(options.grid, results))
        return
    first, second, third = ({**GRIDS, options.grid: results}).values()
    pages = write_pages(first, second=second, third=third)
    for path in pages:
        print(path)


main.__doc__ = "Run every scenario of the laboratory that is not stored yet, and write its pages."

if __name__ == "__main__":
    main()
