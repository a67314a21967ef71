import strat
from strat.base.limits import changed

table = {"truth": [0, 1] * 20, "predicted": [0, 1, 1, 1] * 10}


def agreement(truth, predicted):
    return strat.accuracy(truth, predicted)


asked = {"truth": "truth", "predicted": "predicted", "metrics": agreement}
with changed(rows_made_of_cells=10):  # where it is 5,000,000
    raised = strat.evaluate(table, **asked)
silent = strat.evaluate(table, **asked)
