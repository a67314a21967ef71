from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold

import strat

X, y = [[row] for row in range(40)], [0, 1, 1, 1] * 10
patients = [row // 2 for row in range(40)]
raised = strat.protocols.cross_validation(
    DummyClassifier(), X, y, units=patients, cv=KFold(4, shuffle=True, random_state=0)
)
silent = strat.protocols.cross_validation(DummyClassifier(), X, y, units=patients, cv=4)
