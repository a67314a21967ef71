import strat

right = [int(row * 37 % 101 < 60) for row in range(400)]
german = [row % 4 == 1 for row in range(400)]
labelled = [label if row % 3 == 0 else None for row, label in enumerate(right)]
fair = [0.1 + 0.8 * one for one in right]
harsh = [one - 0.4 * there for one, there in zip(fair, german, strict=True)]
table = {"right": labelled, "german": german}
raised = strat.evaluate({**table, "judge": harsh}, score="right", proxy="judge", by="german")
silent = strat.evaluate({**table, "judge": fair}, score="right", proxy="judge", by="german")
