import strat

right = [int(row * 37 % 101 < 60) for row in range(300)]
labelled = [label if row % 5 == 0 else None for row, label in enumerate(right)]
judge = [0.1 + 0.8 * label for label in right]
raised = strat.evaluate({"right": labelled, "judge": judge}, score="right", proxy="judge")
silent = strat.evaluate({"right": right[::5]}, score="right")
