import strat

raised = strat.evaluate({"score": [0.5, 0.75, 1, -1, 0.25, -1]}, score="score")
silent = strat.evaluate({"score": [0.5, 0.75, 1, 0, 0.25, 0]}, score="score")
