import strat

tries = {"system": ["old"] * 8 + ["new"] * 8, "item": [1, 1, 2, 2, 3, 3, 4, 4] * 2, "epoch": [1, 2] * 8}
tries["score"] = [1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0]
first = {name: values[::2] for name, values in tries.items()}
raised = strat.compare(tries)
silent = strat.compare(first)
