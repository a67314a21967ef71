from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB

import strat

features, labels = [[row % 7] for row in range(40)], [0, 1] * 20
raised = strat.cross_validate(RidgeClassifier(), features, labels, cv=4, scoring="average_precision")
silent = strat.cross_validate(GaussianNB(), features, labels, cv=4, scoring="average_precision")  # has probabilities
