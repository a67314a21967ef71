import strat

table = {"id": range(100), "task": ["law"] * 80 + ["art"] * 20}
raised = strat.sample(table, size=10, items="id", strata="task")
silent = strat.evaluate({"right": [1, 0] * 5}, score="right")
