"""Makes the data of the unequal designs: run here, then `Rscript survey_unequal.R`, whose output is kept beside it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np


def main() -> None:
    rng = np.random.default_rng(20_261_115)
    for name, sizes in {
        "unequal_3_5": [3, 5] * 5,
        "equal_6x5": [5] * 6,
        "mixed_2_to_7": [2, 3, 4, 5, 6, 7, 2, 3],
    }.items():
        rows = []
        for h, n in enumerate(sizes):
            for unit in range(n):
                shift = rng.normal(scale=2)
                for _ in range(rng.integers(2, 7)):
                    x = 20 + shift + h + rng.normal(scale=4)
                    z = x + rng.normal(scale=5) + 30
                    weight = round(float(rng.uniform(5, 30)), 2)
                    row = [h + 1, f"{h + 1:02d}_{unit + 1}", weight, int(rng.random() < 0.8), round(x, 3), round(z, 3)]
                    rows.append(row)
        with (Path(__file__).parent / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["stratum", "psu", "weight", "y", "x", "z"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
