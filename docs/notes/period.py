import strat

hour = list(range(96))
load = [[5, 9, 12, 9, 5, 2, 1, 2][one % 8] for one in hour]
raised = strat.estimate(strat.mean(load), on=strat.Design.systematic(order=hour))
silent = strat.estimate(strat.mean([one**3 % 101 for one in hour]), on=strat.Design.systematic(order=hour))
