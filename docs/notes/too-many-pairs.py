import numpy as np

images = np.random.default_rng(1).normal(size=(40, 4))
for number in (20, 40):
    np.savez(f"{number}.npz", embeddings=images[:number], subject=np.arange(number))
limits = {"trial_scores": 1_000}  # where it is 268,435,456
raised = "strat recognize --probes 40.npz --gallery 40.npz"
silent = "strat recognize --probes 20.npz --gallery 20.npz"
