import strat

judge = [1, 1, 1, 1, 0] * 200
labels = [one if row < 40 else None for row, one in enumerate(judge)]
corrected = [1 - labels[0], *labels[1:]]
raised = strat.evaluate({"judge": judge, "label": labels}, score="label", proxy="judge")
silent = strat.evaluate({"judge": judge, "label": corrected}, score="label", proxy="judge")
