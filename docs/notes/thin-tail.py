import strat

seconds = list(range(48))
raised = strat.estimate(strat.quantile(seconds, 0.98), on=strat.Design.simple_random(n=48))
silent = strat.estimate(strat.quantile(seconds, 0.75), on=strat.Design.simple_random(n=48))
