import numpy as np

import strat

faces = strat.datasets.recognizer(subjects=12, images=4, rng=3)
np.savez("images.npz", embeddings=faces.embeddings, subject=faces.subject)
enrolled, probes = faces.split()
for name, rows in (("gallery", enrolled), ("probes", probes)):
    np.savez(f"{name}.npz", embeddings=faces.embeddings[rows], subject=faces.subject[rows])
raised = "strat recognize --images images.npz --per-subject 4"
silent = "strat recognize --probes probes.npz --gallery gallery.npz"
