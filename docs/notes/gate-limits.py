import strat

scores = {"old": [1, 0, 1, 1] * 10, "new": [1, 1, 1, 0] * 10}
raised = strat.gate(scores, baseline="old", score=["old", "new"], margin=0.2)
silent = strat.compare(scores, score=["old", "new"])
