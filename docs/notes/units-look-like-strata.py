import strat

table = {"right": [1, 1, 0, 1] * 50, "subject": ["law", "art", "music", "history"] * 50}
raised = strat.evaluate(table, score="right", units="subject")
silent = strat.evaluate(table, score="right", strata="subject")
