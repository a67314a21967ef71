import json
from pathlib import Path

import strat


def log(file, **changed):
    samples = [{"id": k, "epoch": 1, "scores": {"match": {"value": "C"}}} for k in (1, 2, 3)]
    about = {"task": "quiz", "model": "gpt"}
    Path(file).write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": samples} | changed))


log("stopped.json", status="cancelled")
log("done.json")
raised = strat.data.read_logs(["stopped.json"], incomplete="keep")
silent = strat.data.read_logs(["done.json"], incomplete="keep")
