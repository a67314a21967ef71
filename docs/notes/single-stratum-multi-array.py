import strat

hours = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
marks = [2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11]
design = strat.Design.simple_random(n=12)
raised = strat.estimate(strat.correlation(hours, marks), on=strat.multi_array(design))
silent = strat.estimate(strat.correlation(hours, marks), on=strat.jackknife(design))
