import strat

truth = [0] * 120 + [1] * 40
score = [*range(120), *range(80, 160, 2)]
design = strat.Design.simple_random(n=160)
raised = strat.estimate(strat.measures.rate_within(truth, score, fpr=0.01), on=design)
silent = strat.estimate(strat.measures.rate_within(truth, score, fpr=0.1), on=design)
