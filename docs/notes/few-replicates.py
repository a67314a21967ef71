import strat

design = strat.Design.simple_random(n=30)
minutes = strat.mean([3, 5, 4, 8, 6] * 6)
raised = strat.estimate(minutes, on=strat.bootstrap(design, replicates=50))
silent = strat.estimate(minutes, on=strat.bootstrap(design, replicates=1_000))
