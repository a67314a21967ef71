import strat

seconds = {"seconds_old": [3, 4, 5, 4], "seconds_new": [2, 4, 4, 3]}
raised = strat.compare(seconds, score=["seconds_old", "seconds_new"])
silent = strat.compare(seconds, score=["seconds_old", "seconds_new"], higher_is_better=False)
