import strat

cost = [1.0] * 38 + [1_000.0, 10_000.0]
raised = strat.estimate(strat.mean(cost), on=strat.Design.simple_random(n=40))
silent = strat.estimate(strat.quantile(cost, 0.5), on=strat.Design.simple_random(n=40))
