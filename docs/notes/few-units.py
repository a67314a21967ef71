import strat

right = [1] * 16 + [0] * 4 + [1] * 17 + [0] * 3 + [1] * 15 + [0] * 5  # three students, 20 questions each
few, many = ([row // 20 for row in range(60 * times)] for times in (5, 15))
raised = strat.estimate(strat.proportion(right * 5), on=strat.Design.clustered(units=few))
silent = strat.estimate(strat.proportion(right * 15), on=strat.Design.clustered(units=many))
