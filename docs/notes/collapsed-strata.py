import strat

town = list(range(20))  # each a stratum with one household
spent = strat.mean([30, 35, 35, 30, 29, 38, 33, 31, 30, 34] * 2)
raised = strat.estimate(spent, on=strat.Design.stratified(strata=town, lone="collapse"))
silent = strat.estimate(spent, on=strat.Design.stratified(strata=[one // 2 for one in town], lone="collapse"))
