"""Rates of few subjects by Wilson's limits and on the logit scale: ``python -m validation.subject_limits [samples]``.

FNMR at a false match rate and equal error rates, subjects against subjects, in layouts that the second grid does not
have. Coverage of 95 % intervals in percent, and how much wider those on the logit scale are on average.
"""

from __future__ import annotations

import sys

import numpy as np

from .held_out.scores import verified

SAMPLES = 500
LAYOUTS: tuple[tuple[int, float, float, float | None], ...] = (
    # subjects, distance of mated scores, share of the variance that is a subject's own, false match rate (None: equal)
    (18, 3.4, 0.15, 0.03), (20, 2.6, 0.1, 0.05), (30, 3.0, 0.05, 0.01), (35, 2.2, 0.1, 0.1), (40, 2.8, 0.2, 0.02),
    (60, 3.6, 0.1, 0.002), (80, 3.3, 0.1, 0.001),
    (12, 2.2, 0.1, None), (20, 3.0, 0.1, None), (25, 3.6, 0.05, None), (40, 2.0, 0.15, None), (60, 4.0, 0.1, None),
)  # fmt: skip


def compared(
    subjects: int, gap: float, shared: float, fmr: float | None, samples: int
) -> tuple[float, float, float, float]:
    """True rate; coverage by Wilson's limits and on the logit scale; width of the latter over that of the former."""
    draw, rng = verified(subjects, gap, shared, fmr), np.random.default_rng(11)
    held, widths = np.zeros(2), np.zeros(2)
    for _ in range(samples):
        trial = draw(rng)
        for place, method in enumerate(("wilson", "logit")):
            low, high = trial.extra["estimate"].interval(method=method)
            held[place] += low <= trial.truth <= high
            widths[place] += high - low
    return trial.truth, *(held / samples).tolist(), float(widths[1] / widths[0])


def main(samples: int = SAMPLES) -> None:
    """Print a line for each layout."""
    print("| subjects | rate | true value | Wilson % | logit % | width of logit over Wilson |\n" + "| ---: " * 6 + "|")
    for layout in LAYOUTS:
        truth, wilson, logit, ratio = compared(*layout, samples)
        rate = "EER" if layout[3] is None else f"FNMR at FMR {layout[3]:g}"
        print(f"| {layout[0]} | {rate} | {truth:.3f} | {100 * wilson:.1f} | {100 * logit:.1f} | {ratio:.2f} |",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
