import strat

votes = {"left": ["a", "b", "c", "a"] * 6, "right": ["b", "c", "a", "c"] * 6, "winner": ["left", "left", "right"] * 8}
prompts = [row // 2 for row in range(24)]
raised = strat.votes(votes)
silent = strat.votes({**votes, "prompt": prompts}, units="prompt")
