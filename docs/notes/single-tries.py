import strat

solved = [1, 1, 0, 1, 0] * 10
once = strat.Design.simple_random(items=range(50), population=50)  # every item there is
twice = strat.Design.simple_random(items=list(range(25)) * 2, population=25)
raised = strat.estimate(strat.proportion(solved), on=once)
silent = strat.estimate(strat.proportion(solved), on=twice)
