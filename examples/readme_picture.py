"""The picture of the README: how often nominal 95 % intervals hold, by the correlation within units.

Run `python examples/readme_picture.py`; it writes docs/_static/coverage.png and prints the figures.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

import strat

ACCURACY, UNITS, ROWS, TRIALS = 0.8, 100, 20, 1000
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#767676"


def coverage(icc: float, design: strat.Design, rng: np.random.Generator) -> float:
    hits = 0
    for _ in range(TRIALS):
        rate = np.full(UNITS, ACCURACY)
        if icc > 0:
            strength = 1 / icc - 1
            rate = rng.beta(ACCURACY * strength, (1 - ACCURACY) * strength, UNITS)
        right = rng.random((UNITS, ROWS)) < rate[:, None]
        low, high = strat.estimate(strat.proportion(right.ravel()), on=design).interval()
        hits += low <= ACCURACY <= high
    return hits / TRIALS


def main() -> None:
    unit = np.repeat(np.arange(UNITS), ROWS)
    naive, honest = strat.Design.simple_random(n=UNITS * ROWS), strat.Design.clustered(units=unit)
    iccs = [0.0, 0.02, 0.05, 0.1, 0.2, 0.3]
    lines = {
        "rows as independent": [coverage(icc, naive, np.random.default_rng(1)) for icc in iccs],
        "strat, units = subjects": [coverage(icc, honest, np.random.default_rng(1)) for icc in iccs],
    }
    for name, values in lines.items():
        print(name, dict(zip(iccs, values, strict=True)))
    figure, ax = plt.subplots(figsize=(7, 3.6))
    ax.axhspan(0.936, 0.964, color=GREY, alpha=0.15, lw=0, label="what 1,000 trials can't tell from 95 %")
    for (name, values), colour, mark in zip(lines.items(), (ORANGE, BLUE), ("s", "o"), strict=True):
        ax.plot(iccs, values, marker=mark, color=colour, label=name)
    ax.set(
        xlabel="correlation of two rows of the same subject", ylabel="intervals that hold the truth", ylim=(0.45, 1.0)
    )
    ax.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1.0, decimals=0))
    ax.set_title("Nominal 95 % intervals of an accuracy: 100 subjects × 20 rows", loc="left", fontsize=11)
    ax.legend(frameon=False, fontsize=9, loc="lower left")
    ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    target = Path(__file__).parents[1] / "docs" / "_static" / "coverage.png"
    figure.savefig(target, dpi=160)


if __name__ == "__main__":
    main()
