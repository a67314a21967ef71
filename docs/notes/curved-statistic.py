import strat

income = [1, 1, 2, 1, 1, 2, 1, 1, 2, 400]
design = strat.Design.simple_random(n=10)
raised = strat.estimate(strat.statistic(lambda w: (w @ income) ** -2), on=strat.jackknife(design))
silent = strat.estimate(strat.mean(income), on=strat.jackknife(design))
