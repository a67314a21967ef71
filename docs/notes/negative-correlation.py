import strat

solved = [1, 1, 0] * 40  # by 40 models: each solves the first two prompts, and not the third
models = [row // 3 for row in range(120)]
raised = strat.estimate(strat.proportion(solved), on=strat.Design.clustered(units=models))
silent = strat.estimate(strat.proportion(solved), on=strat.Design.blocks(units=models, kinds=[1, 2, 3] * 40))
