import strat

solved = [1, 0] * 15 + [1] * 9 + [0] + ([1] * 9 + [0]) * 16  # three students have half of it right, the others 9 of 10
students = [row // 10 for row in range(200)]
raised = strat.estimate(strat.proportion(solved), on=strat.Design.clustered(units=students))
silent = strat.estimate(strat.proportion([1, 0, 0, 1, 1] * 40), on=strat.Design.simple_random(n=200))
