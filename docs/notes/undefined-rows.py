import strat

design = strat.Design.simple_random(n=30)
truth = [[1, 0, 1], [0, 1, 0], [1, 1, 0]] * 10  # three tags for each of 30 pictures
guess = [[1, 0, 0], [0, 0, 0], [1, 1, 0]] * 10  # of which some get none
raised = strat.estimate(strat.precision(truth, guess, average="samples"), on=design)
silent = strat.estimate(strat.recall(truth, guess, average="samples"), on=design)
