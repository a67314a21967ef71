import strat

raised = strat.look({f"question {number}": [0, 1] for number in range(500)})
silent = strat.look({f"question {number}": [0, 1] for number in range(50)})
