"""What looking every night costs and saves: `python validation/gate_looks.py [series]` prints the table of the docs.

Clusters of five items arrive one by one, with a difference of two systems that is −1 to 1 in steps of 0.2; the margin
is 0.05. A gate of fixed size is planned for a power of 0.8 at no difference; the gate that is asked every night stops
as soon as its limits settle it, at three times that size at the latest.
"""

from __future__ import annotations

import sys

import numpy as np

from strat.comparison import confidence_sequence

MARGIN, NIGHT = 0.05, 10
GAINS = (0.05, 0.025, 0.0, -0.05, -0.1, -0.15)


def units(rng: np.random.Generator, number: int, gain: float) -> np.ndarray:
    """The mean difference of two systems in each cluster."""
    skill = rng.normal(0.0, 0.15, number)
    new, old = np.clip(0.6 + gain + skill, 0, 1), np.clip(0.6 + skill, 0, 1)
    return (rng.binomial(5, new) - rng.binomial(5, old)) / 5


def main(series: int) -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    deviation = units(rng, 100_000, 0.0).std()
    fixed = int(np.ceil(((1.645 + 0.8416) * deviation / MARGIN) ** 2))
    print(f"fixed size: {fixed} clusters")
    print(
        "| true difference | fixed size, asked once: not worse, worse % | fixed-n limits asked every night | "
        "confidence sequence every night | mean clusters until settled (of fixed) |"
    )
    print("| ---: | ---: | ---: | ---: | ---: |")
    nights = np.arange(NIGHT, 3 * fixed + 1, NIGHT) - 1
    for gain in GAINS:
        once, nightly, sequence, spent = np.zeros(2), np.zeros(2), np.zeros(2), []
        for _ in range(series):
            x = units(rng, 3 * fixed, gain)
            n = np.arange(1, len(x) + 1)
            mean = np.cumsum(x) / n
            se = np.sqrt(np.maximum(np.cumsum(x**2) / n - mean**2, 1e-12) / n)
            plain = [mean - 1.645 * se > -MARGIN, mean + 1.645 * se < -MARGIN]
            once += [part[fixed - 1] for part in plain]
            nightly += first_of([part[nights] for part in plain])[0]
            limits = confidence_sequence(x, planned=fixed, level=0.9)
            claim, when = first_of([limits.low[nights] > -MARGIN, limits.high[nights] < -MARGIN])
            sequence += claim
            spent.append(nights[when] + 1 if when is not None else len(x))
        cells = [f"{100 * a / series:.1f}, {100 * b / series:.1f}" for a, b in (once, nightly, sequence)]
        print(f"| {gain:+g} | {' | '.join(cells)} | {np.mean(spent):.0f} ({np.mean(spent) / fixed:.2f}) |", flush=True)


def first_of(claims: list[np.ndarray]) -> tuple[np.ndarray, int | None]:
    """Which of two claims is made first, and at which look; none and None if neither is."""
    places = [np.flatnonzero(claim) for claim in claims]
    first = [int(place[0]) if len(place) else len(claims[0]) for place in places]
    if min(first) == len(claims[0]):
        return np.zeros(2), None
    which = int(np.argmin(first))
    return np.eye(2)[which], first[which]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
