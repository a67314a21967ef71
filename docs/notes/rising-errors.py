import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from strat import protocols

rng, time = np.random.default_rng(0), np.arange(400)
label = rng.integers(0, 2, size=400)
turning = rng.normal(size=(400, 2)) + label[:, None] * (1 - 2 * (time > 250))[:, None]
steady = rng.normal(size=(400, 2)) + label[:, None]
raised = protocols.cross_validation(GaussianNB(), turning, label, cv=TimeSeriesSplit(5))
silent = protocols.cross_validation(GaussianNB(), steady, label, cv=TimeSeriesSplit(5))
