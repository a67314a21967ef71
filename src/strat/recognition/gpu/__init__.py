"""Ranks of embeddings on a GPU, equal for every probe to those of float64 scores.

The work is quadratic, probes × gallery, and no score is stored. Rows are written as 8-bit digits, whose products and
sums are exact in int32, so that a fast score misses the float64 one by no more than the digits' residuals allow
(`strat.recognition.rounding`; nothing is assumed about the hardware). It is a cascade: one digit looks at every pair
and keeps each probe's largest score in each tile of 128 entries; two digits look again at the few tiles that can
matter; the few pairs inside their bound are scored in float64, in the fixed order that the CPU uses too.

What is exact: all four columns. `mate` and `best_nonmate` are float64 scores (every non-mate that could be the best one
is scored in float64), `above` and `tied` compare float64 scores.

To read it in order: `counting` is the whole in outline. `rows` brings probes and gallery to the card, `mates` finds
each probe's threshold, `space` writes rows as digits, `fused` runs the kernels over them (`portable`, or `hopper` for
the first look on a Hopper GPU), `recheck` decides in float64 what is left, and `float64` counts where that would be
nearly everything. Below them lie `pairs`, the float64 score itself, and `device`; above, `group` adds up the counts of
several GPUs and `embeddings` takes the arguments of the CPU.
"""

from strat.recognition.gpu.counting import FORMS, KERNELS, Counts, count_better
from strat.recognition.gpu.embeddings import ranks_of_embeddings

__all__ = ["FORMS", "KERNELS", "Counts", "count_better", "ranks_of_embeddings"]
