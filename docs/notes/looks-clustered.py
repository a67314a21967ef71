import strat

right = [1] * 50 + [0, 1] * 25  # of ten passages with ten questions each, five are easy
table = {"right": right, "passage": [row // 10 for row in range(100)]}
raised = strat.evaluate(table, score="right")
silent = strat.evaluate(table, score="right", units="passage")
