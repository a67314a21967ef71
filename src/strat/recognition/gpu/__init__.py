"""Ranks of embeddings on a GPU, equal for every probe to those of float64 scores."""

from strat.recognition.gpu.counting import FORMS, KERNELS, Counts, count_better, ranks_of_embeddings

__all__ = ["FORMS", "KERNELS", "Counts", "count_better", "ranks_of_embeddings"]
