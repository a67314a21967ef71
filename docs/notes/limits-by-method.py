import strat

right = strat.proportion([1, 1, 0, 1] * 6)
design = strat.Design.stratified(strata=[row // 2 for row in range(24)])
raised = strat.estimate(right, on=strat.brr(design))
silent = strat.estimate(right, on=design)
