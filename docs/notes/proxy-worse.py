import strat

right = [int(row * 37 % 101 < 60) for row in range(300)]
labelled = [label if row % 5 == 0 else None for row, label in enumerate(right)]
noise = [row * 53 % 97 / 97 for row in range(300)]  # knows nothing
proxy = strat.Proxy("judge", estimator="difference")
raised = strat.evaluate({"right": labelled, "judge": noise}, score="right", proxy=proxy)
silent = strat.evaluate({"right": labelled, "judge": [0.1 + 0.8 * one for one in right]}, score="right", proxy=proxy)
