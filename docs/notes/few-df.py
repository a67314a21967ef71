import strat

table = {"right": [1, 1, 0, 1] * 30, "hospital": [row // 20 for row in range(120)]}
raised = strat.check(table, score="right", units="hospital", trials=50)["mean"]
silent = strat.check(table, score="right", trials=50)["mean"]
