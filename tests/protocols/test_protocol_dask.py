"""joblib's Dask backend runs the sessions, and the answer is the same."""

from __future__ import annotations

import numpy as np
import pytest

from strat.datasets import gaussian_classes
from strat.protocols import bootstrap, cross_validation


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_backend_gives_the_same_answer() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is an extra")
    import joblib
    from sklearn.naive_bayes import GaussianNB

    data = gaussian_classes(200, means=[[-1, 0], [1, 0]], rng=1)
    here = cross_validation(GaussianNB(), data.X, data.y)
    with (
        distributed.Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None),
        joblib.parallel_config(backend="dask"),
    ):
        there = cross_validation(GaussianNB(), data.X, data.y)
        replicas = bootstrap(GaussianNB(), data.X, data.y, replicates=10)
    assert np.array_equal(here.predictions["predicted"], there.predictions["predicted"])
    assert replicas.error == bootstrap(GaussianNB(), data.X, data.y, replicates=10).error
