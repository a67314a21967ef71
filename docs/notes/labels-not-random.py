import strat

judge = [row % 10 / 10 for row in range(200)]
right = [int(one > 0.4) for one in judge]
best_alone = [label if one > 0.5 else None for label, one in zip(right, judge, strict=True)]
every_third = [label if row % 3 == 0 else None for row, label in enumerate(right)]
raised = strat.evaluate({"right": best_alone, "judge": judge}, score="right", proxy="judge")
silent = strat.evaluate({"right": every_third, "judge": judge}, score="right", proxy="judge")
