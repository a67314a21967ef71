import strat

shares = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.6, 0.3, 0.1]] * 10
raised = strat.top_k_accuracy([0, 1, 2] * 10, shares, k=3)
silent = strat.top_k_accuracy([0, 1, 2] * 10, shares, k=2)
