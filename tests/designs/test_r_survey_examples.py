"""The examples on the help pages of R's survey package (4.1-1), to every digit that R prints.

The api data are read from `build/survey`, where `make survey-data` puts them; tests on them are skipped without it.
The six rows of scd (Levy and Lemeshow's cardiac arrests) stand here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat import Design

pd = pytest.importorskip("pandas")

SCD = {
    "ESA": [1, 1, 2, 2, 3, 3],
    "ambulance": [1, 2, 1, 2, 1, 2],
    "arrests": [120.0, 78.0, 185.0, 228.0, 670.0, 530.0],
    "alive": [25.0, 24.0, 30.0, 49.0, 80.0, 70.0],
}


@pytest.mark.parametrize(
    ("rho", "mse", "se"),
    [(0.0, False, 0.009418401), (0.3, False, 0.009525187), (0.0, True, 0.009426636), (0.3, True, 0.009529189)],
)
def test_scd_half_samples(rho: float, mse: bool, se: float) -> None:
    """svrepdesign(type = "BRR" and "Fay"), svyratio(~alive, ~arrests)."""
    design = Design.from_columns(SCD, strata="ESA", units="ambulance", nested=True)
    replicates = strat.fay(design, rho=rho)
    one = strat.estimate(strat.ratio(SCD["alive"], SCD["arrests"]), on=replicates if mse else replicates.about_mean())
    assert float(one.point) == pytest.approx(278 / 1811, rel=1e-12)
    assert float(one.se) == pytest.approx(se, abs=5e-10)


FOLDER = Path(__file__).resolve().parents[2] / "build" / "survey"


def _path(name: str) -> Path:
    path = FOLDER / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} of R's survey package is not here; `make survey-data` fetches it on Debian")
    return path


@pytest.fixture(scope="module")
def api() -> Any:
    """The api data by name."""
    return lambda name: pd.read_csv(_path(name))


@pytest.fixture(scope="module")
def stratified(api: Any) -> tuple[Any, Design]:
    frame = api("apistrat")
    return frame, Design.from_columns(frame, strata="stype", weights="pw", population="fpc")


@pytest.fixture(scope="module")
def clusters(api: Any) -> tuple[Any, Design]:
    frame = api("apiclus1")
    return frame, Design.from_columns(frame, units="dnum", weights="pw", population="fpc")


STRATIFIED = {
    "mean": (lambda f: strat.mean(f.api00), 662.2873632, 9.408940803),
    "total": (lambda f: strat.total(f.enroll), 3687177.532, 114641.7161),
    "ratio": (lambda f: strat.ratio(f["api.stu"], f.enroll), 0.8369569, 0.007757103),
    "domain mean": (lambda f: strat.domain(strat.mean(f.api00), f.stype == "E"), 674.43, 12.38247979),
    "domain total": (lambda f: strat.domain(strat.total(f.enroll), f["sch.wide"] == "Yes"), 2674110, 128645.69),
    "change": (lambda f: strat.mean(f.api00 - f.api99), 32.893, 2.0511),
}


def _printed(value: float) -> dict[str, float]:
    """Half a unit of the last digit that R prints."""
    return {"abs": 0.51 * 10.0 ** -len(f"{value!r}".partition(".")[2] if isinstance(value, float) else ""), "rel": 0}


@pytest.mark.parametrize("name", STRATIFIED)
def test_a_stratified_sample(stratified: tuple[Any, Design], name: str) -> None:
    frame, design = stratified
    statistic, value, se = STRATIFIED[name]
    one = strat.estimate(statistic(frame), on=design)
    assert float(one.point) == pytest.approx(value, **_printed(value))
    assert float(one.se) == pytest.approx(se, **_printed(se))


@pytest.mark.parametrize(
    ("q", "value", "low", "high"), [(0.25, 565, 535, 597), (0.5, 668, 642, 694), (0.75, 756, 726, 778)]
)
def test_quantiles(stratified: tuple[Any, Design], q: float, value: float, low: float, high: float) -> None:
    frame, design = stratified
    one = strat.estimate(strat.quantile(frame.api00, q), on=design)
    assert (float(one.point), *map(float, one.interval())) == (value, low, high)


def test_a_contrast(stratified: tuple[Any, Design]) -> None:
    frame, design = stratified
    by_type = {k: strat.domain(strat.mean(frame.api00), frame.stype == k) for k in "EH"}
    one = strat.estimate(strat.stack("api00", **by_type), on=design).map(lambda means: means[..., 1] - means[..., 0])
    assert float(one.point) == pytest.approx(-48.61, abs=0.0051)
    assert float(one.se) == pytest.approx(19.402, abs=0.00051)


def test_linear_regression(stratified: tuple[Any, Design]) -> None:
    """svyglm(api00 ~ ell + meals)."""
    frame, design = stratified
    one = strat.estimate(strat.linear_regression(frame.api00, {"ell": frame.ell, "meals": frame.meals}), on=design)
    np.testing.assert_allclose(one.se, [8.7594949, 0.3879165, 0.2757655], rtol=0, atol=5.1e-8)


def test_a_sample_of_clusters(clusters: tuple[Any, Design]) -> None:
    frame, design = clusters
    one = strat.estimate(strat.mean(frame.api00), on=design, df="design")
    assert (float(one.point), float(one.se)) == pytest.approx((644.1694, 23.54224069), abs=5e-5)
    assert float(one.se) == pytest.approx(23.54224069, abs=5.1e-9)
    assert one.interval() == pytest.approx((593.68, 694.66), abs=0.0051)
    sizes = {"E": 4421, "H": 755, "M": 1018}
    for statistic, value, se in (
        (strat.mean(frame.api00), 642.3108, 23.92048645),
        (strat.total(frame.enroll), 3680893, 406292.64),
    ):
        adjusted = strat.estimate(strat.post_stratified(statistic, frame.stype, sizes), on=design)
        assert float(adjusted.point) == pytest.approx(value, **_printed(value))
        assert float(adjusted.se) == pytest.approx(se, **_printed(se))


def test_the_jackknife(clusters: tuple[Any, Design], stratified: tuple[Any, Design]) -> None:
    frame, design = clusters
    left_out = strat.jackknife(design)
    assert float(strat.estimate(strat.mean(frame.api00), on=left_out).se) == pytest.approx(26.33486, abs=5.1e-6)
    about = strat.estimate(strat.mean(frame.api00), on=left_out.about_mean())
    assert float(about.se) == pytest.approx(26.32936, abs=5.1e-6)
    frame, design = stratified
    left_out = strat.jackknife(design)
    assert float(strat.estimate(strat.mean(frame.api00), on=left_out).se) == pytest.approx(9.408940803, abs=5.1e-10)
    ratio = strat.estimate(strat.ratio(frame["api.stu"], frame.enroll), on=left_out)
    assert float(ratio.se) == pytest.approx(0.007772509, abs=5.1e-10)


def test_two_stages_with_finite_populations_at_both(api: Any) -> None:
    frame = api("apiclus2")
    design = Design.from_columns(frame, stages=["dnum", "snum"], population=["fpc1", "fpc2"])
    one = strat.estimate(strat.mean(frame.api00), on=design)
    assert float(one.point) == pytest.approx(670.8118, abs=5.1e-5)
    assert float(one.se) == pytest.approx(30.09902738, abs=5.1e-9)
    missing = strat.domain(strat.total(frame.enroll.fillna(0)), frame.enroll.notna())
    assert float(strat.estimate(missing, on=design).point) == pytest.approx(2639273, abs=0.51)  # na.rm = TRUE


def test_replicate_weights_of_a_file(clusters: tuple[Any, Design]) -> None:
    """svrepdesign(weights = ~pw, repweights = "rep_", scale = 14 / 15 * (1 - 15 / 757)): the total of enroll."""
    frame, _ = clusters
    left_out = strat.jackknife(Design.clustered(frame.dnum, weights=frame.pw))
    columns = {f"rep_{i}": row for i, row in enumerate(left_out.row_factors() * frame.pw.to_numpy())}
    plain = Design.simple_random(weights=frame.pw.to_numpy())
    public = strat.given(plain, weights=columns, prefix="rep_", scale=14 / 15 * (1 - 15 / 757))
    one = strat.estimate(strat.total(frame.enroll), on=public)
    assert float(one.point) == pytest.approx(3404940, abs=0.51)
    assert float(one.se) == pytest.approx(932235, abs=0.51)
    assert public.df == 14
