import strat

scores = {"old": [1] * 200, "new": [1] * 180 + [0] * 20}
raised = strat.gate(scores, baseline="old", score=["old", "new"], margin=0.3)
silent = strat.gate(scores, baseline="new", candidate="old", score=["old", "new"], margin=0.3)
