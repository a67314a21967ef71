import strat

design = strat.Design.simple_random(n=20)
truth = ["cat", "dog"] * 10
raised = strat.estimate(strat.balanced_accuracy(truth, ["cat", "cow", *truth[2:]]), on=design)
silent = strat.estimate(strat.balanced_accuracy(truth, ["dog", "cat", *truth[2:]]), on=design)
