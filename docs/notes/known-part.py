import strat

right = strat.proportion([1] * 95 + [0] * 10)
small = [row < 5 for row in range(105)]  # all five of them right
large = [not one for one in small]
both = strat.stack("group", small=strat.domain(right, small), large=strat.domain(right, large))
groups = strat.estimate(both, on=strat.Design.simple_random(n=105))
raised = groups.map(lambda share: share[..., 0] - share[..., 1])
silent = groups.map(lambda share: share[..., 1])
