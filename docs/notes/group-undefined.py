import strat

table = {"ill": [0, 1] * 10 + [0] * 10, "score": range(30), "site": ["north"] * 20 + ["south"] * 10}
raised = strat.evaluate(table, truth="ill", score="score", metrics="auc", by="site")
silent = strat.evaluate({**table, "ill": [0, 1] * 15}, truth="ill", score="score", metrics="auc", by="site")
