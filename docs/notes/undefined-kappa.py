import strat

raised = strat.kappa(["yes"] * 20, ["yes"] * 20)
silent = strat.kappa(["yes", "no"] * 10, ["yes"] * 20)
