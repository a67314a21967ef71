import numpy as np

import strat

faces = strat.datasets.recognizer(subjects=12, images=4, rng=3)
np.savez("images.npz", embeddings=faces.embeddings, subject=faces.subject)
np.savez("fewer.npz", embeddings=faces.embeddings[1:], subject=faces.subject[1:])
raised = "strat recognize --images fewer.npz --per-subject 4"
silent = "strat recognize --images images.npz --per-subject 4"
