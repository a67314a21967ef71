import strat

table = {"model": ["old"] * 20 + ["new"] * 20, "question": list(range(20)) * 2, "right": [1, 0, 1, 1] * 10}
one = {name: values[:20] for name, values in table.items()}
raised = strat.evaluate(table, score="right")
silent = strat.evaluate(one, score="right")
