from sklearn.dummy import DummyClassifier

import strat

features, labels = [[row % 7] for row in range(40)], [0, 1] * 20
models = {"a": DummyClassifier(strategy="prior"), "b": DummyClassifier(strategy="uniform")}
seeded = {**models, "b": DummyClassifier(strategy="uniform", random_state=1)}
raised = strat.compare_models(seeded, features, labels, cv=4)
silent = strat.compare_models(models, features, labels, cv=4)
