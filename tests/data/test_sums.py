"""Sums in the engine are the exact sums, whatever the weights, their order and their number."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat import StratError
from strat.data import read, reduce
from strat.data.exact_sums import Grid

WEIGHTS = {
    "uniform": lambda r, n: r.random(n),
    "whole": lambda r, n: r.integers(1, 1000, n),
    "very large whole numbers": lambda r, n: r.integers(1, 2**60, n),
    "single floats": lambda r, n: r.random(n).astype(np.float32),
    "many of them zero": lambda r, n: r.random(n) * (r.random(n) < 0.5),
    "over twenty orders": lambda r, n: 10 ** r.uniform(-20, 0, n),
    "over three hundred orders": lambda r, n: 10 ** r.uniform(-300, 90, n),
    "with the least of floats": lambda r, n: np.where(np.arange(n) == 7, 5e-324, r.random(n)),
    "all large": lambda r, n: 1e99 * r.random(n),
    "all small": lambda r, n: 1e-90 * (1 + r.random(n)),
    "all equal": lambda r, n: np.full(n, 0.1),
}


def _written(columns: dict[str, Any], path: Path) -> Path:
    import polars as pl

    frame = pl.DataFrame(columns)
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path, row_group_size=500)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_sums_are_exact(name: str, suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    weight, unit = WEIGHTS[name](rng, 3000), rng.integers(0, 5, 3000)
    path = _written({"u": unit, "w": weight}, tmp_path / f"a{suffix}")
    cells = reduce(read(path), {"units": "u"}, weights="w")
    assert cells.columns["units"].tolist() == [0, 1, 2, 3, 4]
    read_as = np.array([float(str(w)) for w in weight]) if suffix == ".csv" else weight.astype(float)
    wanted = [math.fsum(read_as[unit == k]) for k in range(5)]
    np.testing.assert_allclose(cells.mass, wanted, rtol=4e-16, atol=0)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_weights_that_are_all_zero_add_up_to_zero(suffix: str, tmp_path: Path) -> None:
    path = _written({"u": [1, 1, 2], "w": [0.0, 0.0, 0.0]}, tmp_path / f"a{suffix}")
    assert reduce(read(path), {"units": "u"}, weights="w").mass.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("bad", [[-1.0, 2.0], [float("nan"), float("inf")], [None, -0.5], [float("inf"), -1e-300]])
@pytest.mark.parametrize("keys", [{"units": "u"}, {"truth": "u"}])
def test_bad_weights_are_counted(keys: dict[str, str], bad: list[Any], suffix: str, tmp_path: Path) -> None:
    path = _written({"u": [1, 2, 3, 4], "w": [0.5, 1.0, *bad]}, tmp_path / f"a{suffix}")
    number = sum(b is None or not 0 <= b < math.inf for b in bad)
    lost = sum(b is None or math.isnan(b) for b in bad)
    refused = rf"`weights` must be finite and not negative, but column 'w' has {number} "
    with pytest.raises(StratError, match=f"`w` has {lost} missing" if lost else refused):
        reduce(read(path), keys, weights="w")


def test_more_rows_than_wide_pieces_can_add_take_narrow_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    weight = rng.random(2000) + 0.1
    path = _written({"u": np.zeros(2000, int), "w": weight}, tmp_path / "a.parquet")
    monkeypatch.setattr(Grid, "room", lambda self, counts: self.bits < Grid.bits)
    cells = reduce(read(path), {"units": "u"}, weights="w")
    assert cells.grid is not None
    assert cells.grid.bits == 12
    assert cells.mass[0] == pytest.approx(math.fsum(weight), rel=4e-16)


def test_room_is_what_a_float_holds() -> None:
    assert Grid().room(np.array([2.0**29, 1.0]))
    assert not Grid().room(np.array([2.0**29 + 1]))
    assert Grid().room(np.zeros(0))


@given(st.lists(st.floats(1e-200, 1e90), max_size=5), st.floats(1e-100, 1e100))
def test_a_fitted_grid_writes_every_number_without_rounding(others: list[float], large: float) -> None:
    numbers = [large, *others]
    grid = Grid.of(min(numbers), max(numbers))
    for number in numbers:
        rest, made = number * 2.0**grid.exponent, Fraction(0)
        for i in range(grid.pieces):
            piece = math.floor(rest)
            assert 0 <= piece < 2**grid.bits
            made += piece * Fraction(2) ** -(grid.exponent + grid.bits * i)
            rest = (rest - piece) * 2.0**grid.bits
        assert made == Fraction(number)
        assert number < grid.top


def test_a_threshold_needs_a_score() -> None:
    with pytest.raises(StratError, match="`threshold` must come with a column in the role 'score', got only 'truth'"):
        reduce(read({"t": [0, 1]}), {"truth": "t"}, threshold=0.5)
