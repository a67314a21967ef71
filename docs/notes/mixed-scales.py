import strat

share, per_cent = [0.82, 0.75, 0.91, 0.68], [79.0, 73.0, 88.0, 70.0]
raised = strat.comparison.signed_rank(share, per_cent)
silent = strat.comparison.signed_rank(share, [one / 100 for one in per_cent])
