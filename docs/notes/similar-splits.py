from sklearn.dummy import DummyClassifier

from strat import protocols

X, y = [[row] for row in range(200)], [row % 10 == 0 for row in range(200)]
raised = protocols.repeated_holdout(DummyClassifier(), X, y, repeats=5)
silent = protocols.repeated_holdout(DummyClassifier(), X, y, repeats=5, stratify=False)
