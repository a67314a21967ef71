import strat

reader = [row % 6 for row in range(240)]
case = [row // 6 for row in range(240)]
right = strat.proportion([(r * c + r + c) % 5 > 0 for r, c in zip(reader, case, strict=True)])
raised = strat.estimate(right, on=strat.Design.crossed({"reader": reader, "case": case}))
silent = strat.estimate(right, on=strat.Design.clustered(units=case))
