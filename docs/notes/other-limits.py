import strat

scores = {"a": [1, 0, 1, 1, 0, 1] * 5, "b": [1, 0, 0, 1, 0, 1] * 5, "c": [1, 1, 1, 1, 0, 1] * 5}
board = strat.compare(scores, score=["a", "b", "c"])
raised = board.difference("a", "b")
silent = board
