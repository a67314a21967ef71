import strat

ids = [f"case {k}" for k in range(1_000)]
design = strat.Design.simple_random(n=1_000)
raised = strat.estimate(strat.f1(ids, ids, average="macro"), on=design)
silent = strat.estimate(strat.f1(["yes", "no"] * 500, ["yes"] * 1_000, average="macro"), on=design)
