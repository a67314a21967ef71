"""The picture of the page on pictures: six of them with generated data.

Run `python examples/plots_picture.py`; it writes docs/_static/plots.png.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import strat
from strat.datasets import recognizer
from strat.recognition import ranks_of_embeddings


def main() -> None:
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(400), rng.integers(1, 6, 400))
    health = rng.normal(size=400)[patient]
    sick = (rng.random(len(patient)) < 1 / (1 + np.exp(2 - 2 * health))).astype(int)
    risk = 1 / (1 + np.exp(2 - 2 * health - rng.normal(size=len(patient))))
    columns = {"sick": sick, "called": (risk > 0.5).astype(int), "patient": patient}
    site = np.array(["Basel", "Lyon", "Turin", "Vienna"])[patient % 4]
    found = strat.evaluate(
        {**columns, "site": site}, truth="sick", predicted="called", units="patient", metrics=["recall"], by="site"
    )
    data = recognizer(subjects=100, images=4, noise=1.3, rng=1)
    gallery, probes = data.split()
    ranks = ranks_of_embeddings(
        data.embeddings[probes],
        data.embeddings[gallery],
        probe_subjects=data.subject[probes],
        gallery_subjects=data.subject[gallery],
        score="cosine",
    )
    figure, axes = plt.subplots(2, 3, figsize=(15, 10), layout="constrained")
    strat.plot.roc(sick, risk, units=patient, ax=axes[0, 0])
    strat.plot.calibration(sick, risk, units=patient, ax=axes[0, 1])
    strat.plot.precision_recall(sick, risk, units=patient, ax=axes[0, 2])
    strat.plot.det(sick, risk, units=patient, ax=axes[1, 0])
    strat.plot.cmc(ranks, ax=axes[1, 1])
    found.plot(ax=axes[1, 2])
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    target = Path(__file__).parents[1] / "docs" / "_static" / "plots.png"
    figure.savefig(target, dpi=75)
    Image.open(target).convert("RGB").quantize(48).save(target, optimize=True)


if __name__ == "__main__":
    main()
