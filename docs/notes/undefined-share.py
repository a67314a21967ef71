import strat

design = strat.Design.simple_random(n=30)
truth, never, sometimes = ["ill", "well", "well"] * 10, ["well"] * 30, ["ill", "well", "ill"] * 10
raised = strat.estimate(strat.precision(truth, never, positive="ill"), on=design)
silent = strat.estimate(strat.precision(truth, sometimes, positive="ill"), on=design)
