from sklearn.dummy import DummyClassifier
from sklearn.model_selection import ShuffleSplit

import strat

features, labels = [[row % 7] for row in range(40)], [0, 1] * 20
raised = strat.cross_validate(DummyClassifier(), features, labels, cv=ShuffleSplit(1, test_size=0.25, random_state=1))
silent = strat.cross_validate(DummyClassifier(), features, labels, cv=4)
