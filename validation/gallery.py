"""How intervals of match rates fare where the enrolled subjects are a sample too.

``python -m validation.gallery`` prints the table of docs/howto/recognize.md: in each draw other subjects bring their
probes and their gallery entries, and the interval is for the given gallery, or with the gallery drawn.
"""

from __future__ import annotations

import numpy as np

from strat.recognition import gallery_sampling, match_curve, ranks

DRAWS, SUBJECTS, IMAGES = 400, 60, 3
WORLDS = {"0.6": 0.6, "0.87": 0.87, "1.2": 1.2}  # spread of the images of a subject, whose means have spread 1


def searches(noise: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Scores of the later images of each subject with the first ones, subjects drawn anew."""
    who = np.repeat(np.arange(SUBJECTS), IMAGES)
    x = rng.standard_normal((SUBJECTS, 6))[who] + noise * rng.standard_normal((len(who), 6))
    first = np.arange(len(who)) % IMAGES == 0
    s = -np.linalg.norm(x[~first][:, None] - x[first][None], axis=2)
    return {"similarity": s, "probes": who[~first], "gallery": who[first]}


def row(noise: float, seed: int) -> list[str]:
    """True variance of the rank-1 rate, mean estimates of it, and coverage of 95 % intervals, both ways."""
    rng = np.random.default_rng(seed)
    drawn = [searches(noise, rng) for _ in range(DRAWS)]
    given = [match_curve(ranks(**s), at=[1]).of() for s in drawn]
    with_gallery = [gallery_sampling(**s, at=[1]).estimate for s in drawn]
    rates = np.array([float(e.point[0]) for e in given])
    cells = [f"{rates.mean():.3f}", f"{rates.var(ddof=1):.5f}"]
    for estimates in (given, with_gallery):
        low, high = np.array([e.interval() for e in estimates])[:, :, 0].T
        covered = 100 * ((low <= rates.mean()) & (rates.mean() <= high)).mean()
        cells += [f"{np.mean([e.variance[0] for e in estimates]):.5f}", f"{covered:.1f} %"]
    return cells


if __name__ == "__main__":
    for k, (name, noise) in enumerate(WORLDS.items()):
        print(f"| {name} | " + " | ".join(row(noise, k)) + " |")
