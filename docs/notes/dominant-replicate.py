import numpy as np

import strat

rng = np.random.default_rng(1)
height = rng.normal(size=600)
weight = 0.6 * height + 0.8 * rng.normal(size=600)
strata = np.repeat(np.arange(300), 2)
by_size = strat.Design.stratified(strata=strata, units=height**2 + weight**2)  # the more extreme unit comes second
as_listed = strat.Design.stratified(strata=strata)
raised = strat.estimate(strat.correlation(height, weight), on=strat.brr(by_size))
silent = strat.estimate(strat.correlation(height, weight), on=strat.brr(as_listed))
