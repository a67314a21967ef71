import strat

ranks = [[1, 2, 3], [1, 2, 3], [1, 3, 2]]
raised = strat.comparison.iman_davenport(ranks, higher_is_better=False)
silent = strat.comparison.iman_davenport(ranks * 10, higher_is_better=False)
