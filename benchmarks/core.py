"""The core against R's survey and svy: replication, large designs, maps of many statistics, import time."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import strat
from benchmarks.harness import best, fresh, r_survey, ratio, rival, show

L = 4000


def data(strata: int, units: int = 2, seed: int = 1) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    n = strata * units
    return np.repeat(np.arange(strata), units), rng.random(n) + 0.5, rng.random(n), rng.random(n) + 1


def ours_two() -> None:
    strata, weight, y, x = data(L)
    replicates = strat.brr(strat.Design.stratified(strata=strata, weights=weight))
    strat.estimate(strat.mean(y), on=replicates)
    strat.estimate(strat.ratio(y, x), on=replicates)


def ours_curve(curve: np.ndarray) -> None:
    strata, weight, *_ = data(L)
    replicates = strat.brr(strat.Design.stratified(strata=strata, weights=weight))
    strat.estimate(strat.mean(curve), on=replicates)


R_SCRIPT = f"""
suppressMessages(library(survey)); set.seed(1); L <- {L}
d <- data.frame(s=rep(1:L, each=2), w=runif(2*L)+.5, y=runif(2*L), x=runif(2*L)+1, u=1:(2*L))
t0 <- proc.time()
rd <- as.svrepdesign(svydesign(ids=~u, strata=~s, weights=~w, data=d), type="BRR")
m <- svymean(~y, rd); r <- svyratio(~y, ~x, rd)
t1 <- proc.time(); cat("two", sum((t1-t0)[1:2]), "\\n")
for (j in 1:20) d[[paste0("c", j)]] <- as.numeric(runif(2*L) < .5)
rd$variables <- d
t2 <- proc.time(); m <- svymean(as.formula(paste("~", paste0("c", 1:20, collapse="+"))), rd)
t3 <- proc.time(); cat("curve", sum((t1-t0)[1:2]) + 10*sum((t3-t2)[1:2]), "\\n")
"""


def svy_times() -> dict[str, float] | None:
    if rival("svy") is None:
        return None
    code = f"""
import time, numpy as np, polars as pl, svy
rng = np.random.default_rng(1); L = {L}
d = pl.DataFrame({{"s": np.repeat(np.arange(L), 2), "u": np.tile([0, 1], L), "w": rng.random(2*L)+.5,
                  "y": rng.random(2*L), "x": rng.random(2*L)+1,
                  **{{f"c{{j}}": (rng.random(2*L) < .5).astype(float) for j in range(20)}}}})
design = svy.Design(stratum="s", psu="u", wgt="w")
t = time.process_time()
s = svy.Sample(data=d, design=design).weighting.create_brr_wgts()
s.estimation.mean("y"); s.estimation.ratio("y", "x")
two = time.process_time() - t
t = time.process_time()
for j in range(20): s.estimation.mean(f"c{{j}}")
result = {{"two": two, "curve": two + 10 * (time.process_time() - t)}}
"""
    return fresh(code)


def against_rivals() -> None:
    rng = np.random.default_rng(2)
    curve = (rng.random((2 * L, 200)) < 0.5).astype(float)
    ours = {"two": best(ours_two), "curve": best(lambda: ours_curve(curve))}
    r, svy = r_survey(R_SCRIPT) or {}, svy_times() or {}
    names = {"two": f"BRR of a mean and a ratio, L = {L:,} × 2", "curve": "the same for a curve of 200 points"}
    rows = [
        [
            names[k],
            f"{ours[k]:.4f} s",
            f"{r[k]:.1f} s" if k in r else "-",
            ratio(r.get(k), ours[k]),
            f"{svy[k]:.2f} s" if k in svy else "-",
            ratio(svy.get(k), ours[k]),
        ]
        for k in names
    ]
    head = ["design + standard errors (CPU seconds)", "strat", "R survey", "ratio", "svy", "ratio"]
    show("Rivals (their curve is 10 × 20 points)", head, rows)


JOBS = {
    "fully balanced BRR, L = 1,000,000 × 2": ("np.full(1_000_000, 2)", "brr", "total"),
    "general BRR, L = 100,000 × 3 (3^12 replicates)": ("np.full(100_000, 3)", "brr", "mean"),
    "generalized, 1,000,000 units in strata of 2 to 7": (
        "np.random.default_rng(0).integers(2, 8, 222_300)",
        "generalized",
        "total",
    ),
}


def large_designs() -> None:
    rows = []
    for name, (sizes, method, statistic) in JOBS.items():
        code = f"""
import time, numpy as np, strat
sizes = {sizes}; strata = np.repeat(np.arange(len(sizes)), sizes)
y = np.random.default_rng(1).random(len(strata))
t, wall = time.process_time(), time.perf_counter()
design = strat.Design.stratified(strata=strata)
got = strat.estimate(strat.{statistic}(y), on=strat.{method}(design))
result = {{"cpu": time.process_time() - t, "wall": time.perf_counter() - wall, "se": got.se,
          "textbook": strat.estimate(strat.{statistic}(y), on=design).se}}
"""
        got = fresh(code)
        if got is not None:
            off = abs(got["se"] / got["textbook"] - 1)
            rows.append([name, f"{got['wall']:.2f} s", f"{got['cpu']:.2f} s", f"{got['peak_mb']:.0f} MB", f"{off:.1e}"])
    show("Large designs (nobody else can)", ["job", "wall", "CPU", "peak memory", "off the textbook value"], rows)


def growth() -> None:
    rows, before = [], None
    for strata in (1_000, 10_000, 100_000, 1_000_000):
        s, _, y, _ = data(strata)

        def job(s: np.ndarray = s, y: np.ndarray = y) -> None:
            strat.estimate(strat.mean(y), on=strat.brr(strat.Design.stratified(strata=s)))

        seconds = best(job, 2)
        unit = seconds / (strata * np.log2(strata)) * 1e9
        rows.append(
            [f"{strata:,}", f"{seconds:.4f} s", f"{unit:.1f} ns", "-" if before is None else f"{seconds / before:.1f}"]
        )
        before = seconds
    show("Growth with the number of strata", ["strata × 2", "CPU", "per L log2 L", "times the line above"], rows)


MAP = """
import time, numpy as np, strat
from strat.algebra import hadamard_columns
rng = np.random.default_rng(1); L, p = 500, 100_000
y = rng.random((2 * L, p)); s = np.repeat(np.arange(L), 2); w = rng.random(2 * L)
held = peak_mb()
t = time.process_time()
{job}
result = {{"cpu": time.process_time() - t, "held": held}}
"""
OURS = "se = strat.estimate(strat.mean(y), on=strat.brr(strat.Design.stratified(strata=s, weights=w))).se"
DENSE = """
H = hadamard_columns(L).astype(float); F = np.empty((len(H), 2 * L)); F[:, ::2] = 1 + H; F[:, 1::2] = 1 - H; F *= w
rep = (F @ y) / F.sum(1, keepdims=True); rep -= w @ y / w.sum(); se = np.sqrt((rep ** 2).mean(0))
"""


def large_map() -> None:
    ours, dense = fresh(MAP.format(job=OURS)), fresh(MAP.format(job=DENSE))
    if ours is None or dense is None:
        return
    extra = ours["peak_mb"] - ours["held"], dense["peak_mb"] - dense["held"]
    rows = [
        ["strat", f"{ours['cpu']:.2f} s", f"{extra[0]:.0f} MB"],
        ["dense product", f"{dense['cpu']:.2f} s", f"{extra[1]:.0f} MB"],
        ["ratio", ratio(dense["cpu"], ours["cpu"]), ratio(extra[1], extra[0])],
    ]
    show("100,000 statistics at once, 500 strata × 2", ["", "CPU", "memory beyond the data"], rows)


def import_time() -> None:
    def seconds(code: str) -> float:
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    numpy, both = seconds("import numpy"), seconds("import strat")
    show(
        "Import",
        ["import numpy", "import strat", "difference"],
        [[f"{numpy:.2f} s", f"{both:.2f} s", f"{both - numpy:.2f} s"]],
    )


def main() -> None:
    against_rivals()
    large_designs()
    growth()
    large_map()
    import_time()


if __name__ == "__main__":
    main()
