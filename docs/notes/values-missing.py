import strat

table = {"truth": ["cat", "dog", "owl", "cat"] * 5, "predicted": ["cat", "dog", "NA", "cat"] * 5}
raised = strat.look(table)
silent = strat.look({**table, "predicted": ["cat", "dog", "dog", "cat"] * 5})
