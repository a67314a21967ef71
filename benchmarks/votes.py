"""Rankings from votes against the packages that make them: a million votes on 200 systems, with clustered intervals."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import strat
from benchmarks.harness import best, fresh, ratio, rival, show

SYSTEMS, VOTES, PROMPTS, WORKERS = 200, 1_000_000, 2_000, 100
TENTH = VOTES // 10


def drawn(votes: int = VOTES) -> dict[str, Any]:
    """Votes of workers on prompts, with system names."""
    rng = np.random.default_rng(8)
    strength = np.linspace(-1.5, 1.5, SYSTEMS)
    left = rng.integers(0, SYSTEMS, votes)
    right = (left + rng.integers(1, SYSTEMS, votes)) % SYSTEMS
    d = strength[left] - strength[right]
    u = rng.random(votes)
    winner = np.where(u < 0.15, "tie", np.where(rng.random(votes) < 1 / (1 + np.exp(-d)), "left", "right"))
    names = np.array([f"system {k:03d}" for k in range(SYSTEMS)])
    return {
        "left": names[left],
        "right": names[right],
        "winner": winner,
        "prompt": rng.integers(0, PROMPTS, votes),
        "worker": rng.integers(0, WORKERS, votes),
    }


def _evalica(table: dict[str, Any], fit: float, own: Any) -> list[Any] | None:
    evalica = rival("evalica")
    if evalica is None:
        return None
    words = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    outcomes = [words[w] for w in table["winner"].tolist()]
    left, right = table["left"].tolist(), table["right"].tolist()
    answer: list[Any] = []
    seconds = best(lambda: answer.append(evalica.bradley_terry(left, right, outcomes, tolerance=1e-8, limit=1000)), 1)
    scores = np.log(answer[-1].scores.sort_index().to_numpy())
    gap = np.abs(scores - scores.mean() - own).max()
    return ["evalica bradley_terry (no intervals)", seconds, ratio(seconds, fit), f"strengths within {gap:.1e}"]


def _choix(table: dict[str, Any], fit: float) -> list[Any] | None:
    choix = rival("choix")
    if choix is None:
        return None
    first, second = (np.unique(table[side], return_inverse=True)[1][:TENTH] for side in ("left", "right"))
    won = table["winner"][:TENTH]
    pairs = np.where((won == "left")[:, None], np.stack([first, second], 1), np.stack([second, first], 1))
    data = [tuple(pair) for pair in pairs[won != "tie"].tolist()]
    seconds = best(lambda: choix.ilsr_pairwise(SYSTEMS, data, alpha=1e-6), 1)
    return ["choix ilsr_pairwise (no intervals)", seconds, ratio(seconds, fit), "a tenth of the votes, no ties"]


ARENA_RANK = """
import time
import numpy as np, pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
table = dict(np.load({path!r}))
frame = pd.DataFrame({{"model_a": table["left"], "model_b": table["right"], "winner": table["winner"]}})
frame["winner"] = frame["winner"].map({{"left": "model_a", "right": "model_b", "tie": "tie"}})
times = []
for _ in range(2):
    start = time.process_time()
    data = PairDataset.from_pandas(frame)
    answer = BradleyTerry({systems}).compute_ratings_and_cis(data)
    times.append(time.process_time() - start)
result = {{"first": times[0], "again": times[1]}}
"""


def _arena_rank(table: dict[str, Any], fit: float) -> list[Any] | None:
    """In the interpreter that STRAT_RIVALS_PYTHON names: arena-rank wants versions of NumPy and JAX of its own."""
    python = os.environ.get("STRAT_RIVALS_PYTHON")
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "votes.npz")
        np.savez(path, **{name: table[name] for name in ("left", "right", "winner")})
        times = fresh(ARENA_RANK.format(path=path, systems=SYSTEMS), python=python)
    if times is None:
        return None
    again = f"intervals by vote; {times['again']:.2f} s when compiled"
    return ["arena-rank fit and sandwich", times["first"], ratio(times["first"], fit), again]


def main() -> None:
    table = drawn()
    sides = table["left"], table["right"], table["winner"]
    designs = {
        "by vote": lambda: strat.Design.simple_random(n=VOTES),
        "by prompt": lambda: strat.Design.clustered(table["prompt"]),
        "by worker": lambda: strat.Design.clustered(table["worker"]),
    }
    if hasattr(strat.Design, "crossed"):
        designs["by prompt and worker"] = lambda: strat.Design.crossed(
            {"prompt": table["prompt"], "worker": table["worker"]}
        )
    value: list[Any] = []
    fit = best(lambda: value.append(strat.bradley_terry(*sides).value()), 2)
    rows = [["strat, strengths alone", fit, "1", ""]]
    for name, make in designs.items():
        answer: list[Any] = []
        seconds = best(
            lambda make=make, answer=answer: answer.append(strat.estimate(strat.bradley_terry(*sides), on=make()).se), 1
        )
        rows.append(
            [f"strat, intervals {name}", seconds, ratio(seconds, fit), f"median se {np.median(answer[-1]):.4f}"]
        )
    rows += [row for row in (_evalica(table, fit, value[-1]), _choix(table, fit), _arena_rank(table, fit)) if row]
    show(
        f"Bradley-Terry: {SYSTEMS} systems, {VOTES:,} votes, {PROMPTS:,} prompts, {WORKERS} workers",
        ["who", "seconds", "ratio", ""],
        [[f"{v:.2f}" if isinstance(v, float) else str(v) for v in row] for row in rows],
    )


if __name__ == "__main__":
    main()
