import strat

design = strat.Design.simple_random(n=20)
truth, guess = ["benign", "malignant"] * 10, ["B", "M"] * 10
full = {"B": "benign", "M": "malignant"}
raised = strat.estimate(strat.accuracy(truth, guess), on=design)
silent = strat.estimate(strat.accuracy(truth, [full[one] for one in guess]), on=design)
