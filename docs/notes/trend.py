import strat

place = list(range(60))
growing = strat.mean([one / 2 + one**3 % 11 % 5 for one in place])
raised = strat.estimate(growing, on=strat.Design.systematic(order=place))
silent = strat.estimate(growing, on=strat.Design.systematic(order=place, population=600, start=4))
