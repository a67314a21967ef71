import strat

raised = strat.evaluate({"score": ["0,75", "0,5", "1"]}, score="score")
silent = strat.evaluate({"score": ["0.75", "0.5", "1"]}, score="score")
