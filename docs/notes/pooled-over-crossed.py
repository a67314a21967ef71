import strat

rows = range(80)
table = {"ill": [row % 20 % 3 == 0 for row in rows], "score": [row * 7 % 20 for row in rows]}
table |= {"reader": [row // 20 for row in rows], "case": [row % 20 for row in rows]}
design = strat.Sampling(crossed=["reader", "case"])
raised = strat.evaluate(table, truth="ill", score="score", metrics="auc", design=design)
silent = strat.evaluate(table, score="score", metrics="mean", design=design)
