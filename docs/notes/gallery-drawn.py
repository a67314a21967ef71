import numpy as np

who = np.repeat(np.arange(20), 2)
table = np.random.default_rng(3).normal(size=(40, 20)) + 2 * (who[:, None] == np.arange(20))
np.savez("scores.npz", table=table, probes=who, gallery=np.arange(20))
raised = "strat recognize --similarity scores.npz --sampled-gallery --at 1,3"
silent = "strat recognize --similarity scores.npz --at 1,3"
