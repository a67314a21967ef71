import strat

scores = {"old": [1, 0, 1, 1] * 10, "new": [1, 1, 1, 0] * 10}
raised = strat.gate(scores, baseline="old", score=["old", "new"], margin=0.02)
silent = strat.gate(scores, baseline="old", score=["old", "new"], margin=0.9)
