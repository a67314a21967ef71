from sklearn.dummy import DummyClassifier

import strat

X, y = [[row] for row in range(200)], [row % 10 == 0 for row in range(200)]
raised = strat.protocols.repeated_holdout(DummyClassifier(), X, y, repeats=5)
silent = strat.protocols.repeated_holdout(DummyClassifier(), X, y, repeats=5, stratify=False)
