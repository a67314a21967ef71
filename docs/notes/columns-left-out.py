import strat

raised = strat.look({"right": [1, 0], "scores": [[0.5, 0.25], [0.75]]})
silent = strat.look({"right": [1, 0], "score": [0.5, 0.75]})
