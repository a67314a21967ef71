import strat

judge = [row * 53 % 97 / 97 for row in range(300)]
right = [int(row * 37 % 101 < 50 + 18 * (one > 0.5)) for row, one in enumerate(judge)]  # the judge hardly knows
labelled = [label if row % 3 == 0 else None for row, label in enumerate(right)]
sure = [0.1 + 0.8 * label for label in right]
raised = strat.evaluate({"right": labelled, "judge": judge}, score="right", proxy="judge")
silent = strat.evaluate({"right": labelled, "judge": sure}, score="right", proxy="judge")
