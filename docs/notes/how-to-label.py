import strat

table = {"id": range(100), "judge": [row % 10 / 10 for row in range(100)]}
raised = strat.sample(table, size=20, items="id", judge="judge")
silent = strat.sample(table, size=20, items="id")
