"""Comparisons with rivals, in one run, as tables of ratios. `python -m benchmarks` runs them all."""
