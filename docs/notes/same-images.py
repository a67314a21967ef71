import numpy as np

import strat

faces = strat.datasets.recognizer(subjects=12, images=4, rng=3)
np.savez("all.npz", scores=faces.embeddings @ faces.embeddings.T, subject=faces.subject)
raised = "strat recognize --similarity all.npz"
silent = "strat recognize --similarity all.npz --per-subject 4"
