import strat

raised = strat.estimate(strat.mean([3.0] * 20), on=strat.Design.simple_random(n=20))
silent = strat.estimate(strat.mean([3.0, 4.0] * 10), on=strat.Design.simple_random(n=20))
