import numpy as np

images = np.random.default_rng(1).normal(size=(24, 4))
np.savez("gallery.npz", embeddings=images, subject=np.arange(24))
np.savez("known.npz", embeddings=images[:20] + 0.1, subject=np.arange(20))
np.savez("probes.npz", embeddings=images[:20] + 0.1, subject=np.arange(20) + 6)
raised = "strat recognize --probes probes.npz --gallery gallery.npz --reid"
silent = "strat recognize --probes known.npz --gallery gallery.npz --reid"
