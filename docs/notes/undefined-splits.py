from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold

import strat

features, labels = [[row % 7] for row in range(40)], [0] * 20 + [0, 1] * 10
models = {"a": DummyClassifier(strategy="prior"), "b": DummyClassifier(strategy="uniform")}
raised = strat.compare_models(models, features, labels, metrics="auc", cv=KFold(4)).pair("a", "b")
silent = strat.compare_models(models, features, labels, metrics="auc", cv=4).pair("a", "b")
