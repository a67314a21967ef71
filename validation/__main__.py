"""``python -m validation``: run the laboratory and write its pages."""

from __future__ import annotations

import argparse
from pathlib import Path

from .run import PARTS, RESULTS, SEED, TRIALS, run_all


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m validation", description=main.__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"trials a scenario (default {TRIALS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of the run (default {SEED})")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--part", action="append", choices=PARTS, help="run this part only (repeat for more)")
    parser.add_argument("--only", default="", help="run scenarios whose name holds this text")
    parser.add_argument("--fresh", action="store_true", help="forget stored results")
    parser.add_argument("--pages", action="store_true", help="write the pages from the stored results, run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are stored")
    options = parser.parse_args()
    if not options.pages:
        run_all(
            trials=options.trials, seed=options.seed, jobs=options.jobs, parts=tuple(options.part or PARTS),
            only=options.only, fresh=options.fresh, path=options.results,
        )  # fmt: skip
    from .page import write_pages

    for path in write_pages(options.results):
        print(path)


main.__doc__ = "Run every scenario of the laboratory that is not stored yet, and write its pages."

if __name__ == "__main__":
    main()
