import strat

raised = strat.look({"diagnosis": ["benign", "malignant"] * 10, "predicted": ["benign"] * 20})
silent = strat.look({"diagnosis": [0, 1] * 10, "predicted": [0] * 20})
