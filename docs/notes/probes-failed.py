import numpy as np

scores = np.random.default_rng(1).normal(size=(30, 30)) + 3 * np.eye(30)
failed = scores.copy()
failed[4] = -1
np.savez("scores.npz", scores=scores, subject=np.arange(30))
np.savez("failed.npz", scores=failed, subject=np.arange(30))
raised = "strat recognize --similarity failed.npz --failed-score -1"
silent = "strat recognize --similarity scores.npz"
