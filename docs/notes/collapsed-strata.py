import strat

town = list(range(20))  # each a stratum with one household
spent = strat.mean([20 + one // 4 * 5 + one * 7 % 4 for one in town])
raised = strat.estimate(spent, on=strat.Design.stratified(strata=town, lone="collapse"))
silent = strat.estimate(spent, on=strat.Design.stratified(strata=[one // 2 for one in town], lone="collapse"))
