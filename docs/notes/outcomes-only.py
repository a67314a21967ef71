import json
from pathlib import Path

import strat

for system, solved in (("old", ["task-1"]), ("new", ["task-1", "task-2"])):
    outcomes = {"no_generation": ["task-3"], "no_logs": [], "resolved": solved}
    Path(system, "results").mkdir(parents=True)
    Path(system, "results", "results.json").write_text(json.dumps(outcomes))
raised = strat.data.read_logs(["old", "new"])
silent = strat.compare({"system": ["old", "old", "new", "new"], "item": [1, 2, 1, 2], "score": [0, 1, 1, 1]})
