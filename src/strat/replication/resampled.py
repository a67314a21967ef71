"""The jackknife, the bootstrap and half-samples."""

from __future__ import annotations

import numpy as np

from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.designs import Design
from strat.replication import scales
from strat.replication.balanced import contrast_geometry, contrasts_over
from strat.replication.methods import Method, MethodKind
from strat.replication.operators import (
    Contrasts,
    LeaveOneOut,
    Resamples,
)
from strat.replication.replicates import Replicates, usable_sizes


@checked
def jackknife(design: Design) -> Replicates:
    """The jackknife: each replicate leaves one unit out (JK1 without strata, JKn with them).

    Examples
    --------
    >>> from strat.designs import Design
    >>> print(jackknife(Design.simple_random(n=5)))
    JK1: 5 replicates, 4 degrees of freedom
    """
    sizes = usable_sizes(design)
    left_out = np.flatnonzero(sizes[design.stratum] > 1)
    operator = LeaveOneOut(design.stratum, sizes, left_out)
    scale = scales.jackknife(sizes, design.fraction)[design.stratum[left_out]]
    method = Method(MethodKind.JACKKNIFE, "JK1" if design.n_strata == 1 else "JKn")
    return Replicates(design, method, operator, scale, design.df)


@checked
def bootstrap(
    design: Design, *, replicates: int = 1000, rng: int | np.random.Generator = 0, kind: str = "rao-wu"
) -> Replicates:
    """The bootstrap of units within strata: Rao and Wu's n_h - 1 draws, rescaled; or the plain n_h draws.

    The plain bootstrap is too narrow by the factor (n_h - 1) / n_h, which is a half with two units per stratum.
    Squares are taken about the full-sample value and divided by the number of replicates (R: by one less).
    An estimate by the bootstrap says how far its standard error may be off for the number of replicates
    (`monte_carlo_error`), and how many would do (`replicates_within`).

    Examples
    --------
    >>> from strat.designs import Design
    >>> print(bootstrap(Design.stratified(strata=[1, 1, 1, 2, 2, 2]), replicates=200))
    Rao-Wu bootstrap: 200 replicates, seed 0, 4 degrees of freedom
    """
    sizes = usable_sizes(design)
    one_of("kind", kind, ("rao-wu", "plain"))
    seed = validate.seed(rng)
    draws = sizes - 1 if kind == "rao-wu" else sizes.copy()
    operator = Resamples(
        sizes, draws, np.sqrt(1.0 - design.fraction), validate.count("replicates", replicates, least=2), seed
    )
    name = "Rao-Wu bootstrap" if kind == "rao-wu" else "plain bootstrap"
    method = Method(MethodKind.BOOTSTRAP, name, at_random=True)
    return Replicates(design, method, operator, scales.balanced(replicates), design.df, seed=seed)


@checked
def half_samples(design: Design, *, replicates: int, rng: int | np.random.Generator = 0) -> Replicates:
    """Half-samples drawn at random (STRAT (10)): their variance itself varies, which shows why balance matters."""
    _only_pairs(design)
    seed = validate.seed(rng)
    signs = (
        np.random.default_rng(seed).integers(
            0, 2, size=(validate.count("replicates", replicates, least=2), design.n_strata)
        )
        * 2
        - 1
    )
    operator = Contrasts(design.stratum, *contrast_geometry(design, 0.0), replicates, None, signs.astype(np.int8))
    scale = scales.balanced(replicates)
    method = Method(MethodKind.HALF_SAMPLES, "random half-samples", at_random=True)
    return Replicates(design, method, operator, scale, design.df, "random signs", seed)


@checked
def all_half_samples(design: Design) -> Replicates:
    """Every one of the 2^L half-samples (STRAT (5)), for up to 20 strata."""
    _only_pairs(design)
    strata = design.n_strata
    if strata > LIMITS.half_sampled_strata:
        raise StratError.about(
            "design",
            f"must have at most {LIMITS.half_sampled_strata} strata for all half-samples, got {strata} (2^{strata} of "
            "them); brr(design) gives the same variance of a linear statistic with a few.",
        )
    columns = np.left_shift(1, np.arange(strata)).astype(np.int64)  # the L single-bit columns of Sylvester's array
    return contrasts_over(design, 0.0, Method(MethodKind.HALF_SAMPLES, "all half-samples"), columns, 1 << strata)


def _only_pairs(design: Design) -> None:
    if (usable_sizes(design) != 2).any():
        raise StratError.about(
            "design", "must have two units in every stratum for half-samples; use generalized(design)."
        )
