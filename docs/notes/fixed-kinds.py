import strat

person = [row // 3 for row in range(120)]
pose = ["front", "half", "profile"] * 40  # profiles fail
matched = strat.proportion([row % 3 < 2 and row % 10 > 0 for row in range(120)])
raised = strat.estimate(matched, on=strat.Design.stratified(strata=person))
silent = strat.estimate(matched, on=strat.Design.blocks(units=person, kinds=pose))
