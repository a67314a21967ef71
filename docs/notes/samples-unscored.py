import json
from pathlib import Path

import strat


def log(file, **changed):
    samples = [{"id": k, "epoch": 1, "scores": {"match": {"value": "C"}}} for k in (1, 2, 3)]
    about = {"task": "quiz", "model": "gpt"}
    Path(file).write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": samples} | changed))


failed = {"id": 2, "epoch": 1, "scores": {}, "error": {"message": "timeout"}}
log("failures.json", samples=[{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}, failed])
log("done.json")
raised = strat.data.read_logs(["failures.json"], failed="zero")
silent = strat.data.read_logs(["done.json"], failed="zero")
