import strat

table = {"animal": ["cat", "dog", "owl"] * 20, "guess": ["cat", "dog", "dog"] * 20}
raised = strat.evaluate(table, truth="animal", predicted="guess", metrics="recall")
silent = strat.evaluate(table, truth="animal", predicted="guess", metrics="recall", positive="cat")
