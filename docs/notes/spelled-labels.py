import strat

design = strat.Design.simple_random(n=40)
truth = ["Yes", "No"] * 20
raised = strat.estimate(strat.accuracy(truth, ["yes", "No"] * 20), on=design)
silent = strat.estimate(strat.accuracy(truth, ["Yes", "No"] * 20), on=design)
