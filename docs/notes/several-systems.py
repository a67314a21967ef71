import strat

table = {"system": ["old"] * 10 + ["new"] * 10, "item": list(range(10)) * 2}
labels = {"truth": ["cat", "dog"] * 10, "predicted": ["cat", "dog", "dog", "dog"] * 5}
raised = strat.look({**table, **labels})
silent = strat.look({**table, "score": [1, 0, 1, 1] * 5})
