"""Ranks of embeddings on a GPU, equal for every probe to those of float64 scores.

The work is quadratic, probes × gallery, and no score is stored. A fused kernel multiplies in bfloat16 and decides
each pair whose score lies further from its probe's threshold than the proven error bound (`strat.recognition.bounds`);
the few pairs inside the bound are scored again in float64, in the fixed order that the CPU uses too.

What is exact: all four columns. `mate` and `best_nonmate` are float64 scores (every non-mate that could be the best one
is scored in float64), `above` and `tied` compare float64 scores.

To read it in order: `counting` is the whole in outline. `rows` brings probes and gallery to the card, `mates` finds
each probe's threshold, `space` rounds rows to bfloat16, `fused` runs a kernel over them (`portable`, or `hopper` on a
Hopper GPU), `recheck` decides in float64 what is left, and `float64` counts where that would be nearly everything.
Below them lie `pairs`, the float64 score itself, and `device`; above, `embeddings` takes the arguments of the CPU.
"""

from strat.recognition.gpu.counting import FORMS, KERNELS, Counts, count_better
from strat.recognition.gpu.embeddings import ranks_of_embeddings

__all__ = ["FORMS", "KERNELS", "Counts", "count_better", "ranks_of_embeddings"]
