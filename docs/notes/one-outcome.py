import strat

patients = [row // 5 for row in range(200)]
design = strat.Design.clustered(units=patients)
raised = strat.estimate(strat.proportion([1] * 200), on=design)
silent = strat.estimate(strat.proportion([1, 1, 1, 0, 1] * 40), on=design)
