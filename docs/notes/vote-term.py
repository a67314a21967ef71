import strat

votes = {"left": ["a", "b", "c", "a"] * 6, "right": ["b", "c", "a", "c"] * 6, "winner": ["left", "left", "right"] * 8}
raised = strat.votes(votes, home=True)
silent = strat.votes(votes)
