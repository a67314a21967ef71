import strat

median = strat.quantile(range(30), 0.5)
design = strat.Design.simple_random(n=30)
raised = strat.estimate(median, on=strat.jackknife(design))
silent = strat.estimate(median, on=design)
