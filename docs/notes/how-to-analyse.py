import strat

table = {"id": range(100), "task": ["law"] * 80 + ["art"] * 20, "judge": [row % 10 / 10 for row in range(100)]}
raised = strat.sample(table, size=10, items="id", strata="task")
silent = strat.sample(table, size=20, items="id", judge="judge")
