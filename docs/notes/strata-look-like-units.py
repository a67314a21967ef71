import strat

table = {"right": [1, 1, 0] * 60, "passage": [row // 2 for row in range(180)]}
raised = strat.evaluate(table, score="right", strata="passage")
silent = strat.evaluate(table, score="right", units="passage")
