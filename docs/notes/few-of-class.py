import strat

truth = [0] * 95 + [1] * 5
score = [*range(95), 90, 92, 93, 96, 97]
raised = strat.estimate(strat.auc(truth, score), on=strat.Design.simple_random(n=100))
silent = strat.estimate(strat.auc(truth * 10, score * 10), on=strat.Design.simple_random(n=1_000))
