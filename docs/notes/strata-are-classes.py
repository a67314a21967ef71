import strat

table = {"truth": ["cat"] * 20 + ["dog"] * 20, "predicted": ["cat"] * 18 + ["dog"] * 17 + ["cat"] * 5}
raised = strat.evaluate(table, truth="truth", predicted="predicted", strata="truth")
silent = strat.evaluate(table, truth="truth", predicted="predicted")
