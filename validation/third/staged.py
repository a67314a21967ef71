"""Two stages of very unequal districts: sizes with a long tail, means that follow the size, few districts."""

from __future__ import annotations

import numpy as np

import strat

from ..held_out.procedures import estimated
from ..trials import Array, Draw, Rng, Scenario, Trial

LAYOUTS = (  # drawn and all districts, schools drawn of each, spread of log sizes, correlation, slope on size, share
    (25, 300, 4, 1.2, 0.3, 0.0, False),
    (25, 300, 4, 1.2, 0.3, 0.7, False),
    (12, 150, 6, 0.9, 0.4, 0.3, False),
    (60, 600, 3, 1.5, 0.2, 0.3, False),
    (10, 60, 5, 0.5, 0.3, 0.0, False),
    (35, 500, 5, 1.2, 0.3, 0.3, True),
    (18, 40, 3, 1.0, 0.5, 0.0, False),
    (15, 400, 8, 1.6, 0.5, 0.5, False),
    (40, 757, 5, 1.3, 0.6, 0.2, True),
)


def world(rng: Rng, districts: int, spread: float, icc: float, slope: float) -> tuple[Array, Array, Array]:
    """Schools of each district, the district of each school, and what schools have."""
    sizes = np.maximum(1, np.rint(np.exp(rng.normal(np.log(6), spread, districts)))).astype(int)
    log = np.log(sizes)
    means = np.sqrt(icc) * (rng.normal(size=districts) + slope * (log - log.mean()) / max(log.std(), 1e-9))
    district = np.repeat(np.arange(districts), sizes)
    return sizes, district, means[district] + np.sqrt(1 - icc) * rng.normal(size=len(district))


def two_stages(drawn: int, districts: int, schools: int, spread: float, icc: float, slope: float, share: bool) -> Draw:
    """The mean, or the share beyond 0.8, of a population of its own in each draw; R's degrees of freedom as a rival."""

    def draw(rng: Rng) -> Trial:
        sizes, district, y = world(rng, districts, spread, icc, slope)
        y = (y > 0.8).astype(float) if share else y
        chosen = rng.choice(districts, drawn, replace=False)
        rows = [rng.permutation(np.flatnonzero(district == one))[:schools] for one in chosen]
        each = np.array([len(part) for part in rows])
        row = np.concatenate(rows)
        design = strat.Design.staged(
            {"district": np.repeat(np.arange(drawn), each), "school": row},
            population={"district": districts, "school": np.repeat(sizes[chosen], each)},
        )
        trial = estimated(strat.mean(y[row]), design, float(y.mean()))
        as_r = strat.estimate(strat.mean(y[row]), on=design, df="design").interval()
        trial.extra.update({"limits": {"default": trial.extra["estimate"].interval(), "df of R": as_r}, "span": np.inf})
        return trial

    return draw


SCENARIOS = [
    Scenario(
        f"{n} of {m} districts, up to {k} schools, sizes {s}, slope {b}{', a share' if share else ''}",
        "two stages", f"{n} of {m} districts", lambda a=(n, m, k, s, icc, b, share): two_stages(*a), ("limits",))
    for n, m, k, s, icc, b, share in LAYOUTS
]  # fmt: skip
