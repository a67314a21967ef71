import json
from pathlib import Path

import strat


def log(file, **changed):
    samples = [{"id": k, "epoch": 1, "scores": {"match": {"value": "C"}}} for k in (1, 2, 3)]
    about = {"task": "quiz", "model": "gpt"}
    Path(file).write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": samples} | changed))


both = [{"id": k, "epoch": 1, "scores": {"match": {"value": "C"}, "style": {"value": 0.5}}} for k in (1, 2)]
log("two_scores.json", samples=both)
raised = strat.data.read_logs(["two_scores.json"])
silent = strat.data.read_logs(["two_scores.json"], metrics="match")
