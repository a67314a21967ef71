from sklearn.dummy import DummyClassifier

import strat

features, labels = [[row % 7] for row in range(40)], [0, 1] * 20
raised = strat.cross_validate(DummyClassifier(), features, labels, cv=4)
silent = strat.evaluate({"label": labels, "predicted": [0] * 40}, truth="label", predicted="predicted")
