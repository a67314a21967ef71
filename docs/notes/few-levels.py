import strat

case = [row // 6 for row in range(240)]
right = strat.proportion([row * 7 % 11 > 2 for row in range(240)])
three, six = [row % 3 for row in range(240)], [row % 6 for row in range(240)]
raised = strat.estimate(right, on=strat.Design.crossed({"reader": three, "case": case}))
silent = strat.estimate(right, on=strat.Design.crossed({"reader": six, "case": case}))
