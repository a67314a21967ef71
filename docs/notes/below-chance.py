import strat

ill = [1, 0] * 20
distance = [row % 2 * 2 + row % 5 for row in range(40)]  # smaller for those who are ill
design = strat.Design.simple_random(n=40)
raised = strat.estimate(strat.auc(ill, distance), on=design)
silent = strat.estimate(strat.auc(ill, [-one for one in distance]), on=design)
