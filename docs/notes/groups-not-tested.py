import strat

table = {"right": [1] * 20 + [1, 0, 1, 1] * 5, "sex": ["f"] * 20 + ["m"] * 20}
raised = strat.evaluate(table, score="right", by="sex")
silent = strat.evaluate({**table, "right": [1, 1, 0, 1] * 10}, score="right", by="sex")
