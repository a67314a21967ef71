import strat

minutes = [5, 7, 6] * 20
design = strat.Design.simple_random(weights=[1] * 58 + [1_000, 1_000])
raised = strat.estimate(strat.mean(minutes), on=design)
silent = strat.estimate(strat.mean(minutes), on=strat.Design.simple_random(n=60))
