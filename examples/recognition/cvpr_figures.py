"""The seven figures of CVPR section 5, redrawn, with what of its claims is seen.

    python examples/recognition/cvpr_figures.py [FOLDER]

With the shared data (the folder named by STRAT_SHARED, or ../shared) the systems are eigenfaces with the Euclidean
distance (PCA-L2), whitened eigenfaces with the cosine (PCA-MahCos) and local binary patterns (LBP) on the 150 subjects
of FERET that no system was trained on, with their frontal images. Without it, three generated recognisers stand in.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from reproduce.entries import Setting  # noqa: E402

from reproduce import cvpr  # noqa: E402


def main(folder: str = "examples/recognition/figures") -> None:
    """Draw all seven, and say of each claim whether it is seen."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    shared = Path(os.environ.get("STRAT_SHARED", ROOT.parent / "shared"))
    figures = [entry for entry in cvpr.ENTRIES if entry.id.startswith("cvpr/figure")]
    for number, entry in enumerate(figures, 1):
        found = entry.make(Setting(shared))
        if number == 1:
            print(*found.notes)
        assert found.picture is not None
        ax = found.picture()
        ax.set_title(f"{entry.where}. {entry.title}", fontsize=9, loc="left")
        ax.figure.savefig(out / f"cvpr_{number}.png", dpi=110)
        plt.close(ax.figure)
        for value in found.values:
            printed = "" if value.printed is None else f' (CVPR: "{value.printed}")'
            print(f"{entry.where}: {value.what}{printed}: {value.ours}. {value.note}")


if __name__ == "__main__":
    main(*sys.argv[1:])
