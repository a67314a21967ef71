import strat

table = {"ill": [0, 1] * 10 + [0] * 10, "old": range(30), "new": range(30), "site": ["north"] * 20 + ["south"] * 10}
asked = {"truth": "ill", "score": ["old", "new"], "metrics": "auc", "baseline": "old", "margin": 0.1}
raised = strat.gate(table, **asked, by="site")
silent = strat.gate(table, **asked)
