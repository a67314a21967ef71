import strat

table = {"ill": [1] + [0] * 19, "score": range(20)}
raised = strat.check(table, truth="ill", score="score", metrics="auc", trials=50)["auc"]
silent = strat.check({"right": [1, 0] * 20}, score="right", trials=50)["mean"]
