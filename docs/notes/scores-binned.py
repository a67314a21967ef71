from pathlib import Path

import strat

rows = [f"{row % 2},{row * 37 % 101 / 101}" for row in range(200)]
Path("scores.csv").write_text("\n".join(["ill,score", *rows]))
raised = strat.evaluate("scores.csv", truth="ill", score="score", metrics="auc", bins=10)
silent = strat.evaluate("scores.csv", truth="ill", score="score", metrics="auc")
