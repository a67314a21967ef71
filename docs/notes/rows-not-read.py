import strat

raised = strat.look({"right": [0, 1] * 100_001})
silent = strat.look({"right": [0, 1] * 50})
