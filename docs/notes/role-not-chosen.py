import strat

long = {"system": ["old"] * 4 + ["new"] * 4, "item": [1, 2, 3, 4] * 2, "score": [1, 0, 1, 0, 1, 1, 0, 1]}
raised = strat.compare({**long, "stratum": ["a", "b", "c", "d"] * 2})  # each has a single item
silent = strat.compare({**long, "stratum": ["a", "a", "b", "b"] * 2})
