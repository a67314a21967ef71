"""Replicates that are balanced in part: fewer of them than full balance takes, at a stated loss."""

from __future__ import annotations

import numpy as np

from strat.algebra import hadamard_columns, hadamard_order
from strat.algebra.hadamard import is_reachable
from strat.base import validate
from strat.base.validate.arguments import checked
from strat.designs import Design
from strat.replication import scales
from strat.replication.balanced import contrast_geometry, generalized, safe_rho
from strat.replication.methods import Method, MethodKind
from strat.replication.operators import Contrasts
from strat.replication.replicates import Replicates, usable_sizes


@checked
def partially_balanced(design: Design, *, replicates: int, rng: int | np.random.Generator = 0) -> Replicates:
    """A limited number of replicates for any number of units, at a stated loss of degrees of freedom.

    Full balance takes a column of a two-level array for each of the units - strata contrasts. Here contrasts share
    columns, each with a random sign: the cross terms of those that share one do not cancel, but are zero on average
    over the signs, so that the variance of a linear statistic is unbiased and less certain. Contrasts of one column act
    as one, so that the degrees of freedom are at most the number of columns.

    Parameters
    ----------
    design
        Units in strata.
    replicates
        The most replicates to make; the largest order of a Hadamard matrix up to it is taken.
    rng
        Seed of the signs, and of which contrasts share a column.

    Notes
    -----
    Where the contrasts are alike, the variance estimate has the relative variance 2 / columns instead of 2 / contrasts.
    With replicates enough for all contrasts nothing is lost, and the result is :func:`generalized`'s.

    Examples
    --------
    >>> from strat.designs import Design
    >>> design = Design.stratified(strata=[h for h in range(300) for _ in range(2)])
    >>> replicates = partially_balanced(design, replicates=64)
    >>> replicates.number, replicates.df, design.df
    (64, 63.0, 300)
    """
    sizes = usable_sizes(design)
    most = validate.count("replicates", replicates, least=2)
    contrasts = int((sizes - 1).sum())
    if contrasts == 0 or hadamard_order(contrasts) <= most:
        return generalized(design)
    order = next(n for n in range(most, 1, -1) if is_reachable(n))
    columns = order - 1
    seed = validate.seed(rng)
    random = np.random.default_rng(seed)
    shared = random.permutation(np.arange(contrasts) % columns)
    array = hadamard_columns(columns)[:, shared] * random.choice(np.array([-1, 1], dtype=np.int8), size=contrasts)
    rho = safe_rho(sizes)
    df = min(float(columns), design.df)
    words = f"a Hadamard matrix of order {order:,} with {contrasts:,} contrasts in {columns:,} columns"
    words += f" ({df:g} degrees of freedom instead of {design.df:g})"
    method = Method(MethodKind.GENERALIZED, "partially balanced BRR")
    operator = Contrasts(design.stratum, *contrast_geometry(design, rho), order, None, array)
    return Replicates(design, method, operator, scales.balanced(order, rho=rho), df, words, seed)
