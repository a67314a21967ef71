import json
from pathlib import Path

import strat


def instances(folder, *perturbations):
    right = {"name": {"name": "exact_match"}, "count": 1, "sum": 1}
    rows = [{"instance_id": f"id{k}", "train_trial_index": 0, "stats": [right]} for k in range(3)]
    rows += [{**rows[0], "perturbation": {"name": name}} for name in perturbations]
    Path(folder).mkdir()
    Path(folder, "run_spec.json").write_text(json.dumps({"name": "quiz:model=gpt"}))
    Path(folder, "per_instance_stats.json").write_text(json.dumps(rows))


instances("with_typos", "typos")
instances("plain")
raised = strat.data.read_logs("with_typos")
silent = strat.data.read_logs("plain")
