"""The standard error of errors that were measured on overlapping training sets."""

from __future__ import annotations

import numpy as np

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, numbers


@checked
def corrected_se(errors: Array, ratio: float) -> float:
    """Nadeau and Bengio's standard error of the mean of T dependent test errors, Kuncheva (1.12).

    `ratio` is the size of a testing set over that of its training set.

    Examples
    --------
    Ten folds with a standard deviation of 4.509 (Example 1.9): 4.509·sqrt(1/10 + 1/9).

    >>> a = [7.4, 18.1, 13.7, 17.5, 13.0, 12.5, 8.9, 12.1, 12.4, 7.4]
    >>> b = [9.9, 11.0, 5.7, 12.5, 2.7, 6.6, 10.6, 6.4, 12.5, 7.8]
    >>> print(round(corrected_se(np.subtract(a, b), 1 / 9), 4))
    2.0717
    """
    errors = numbers("errors", errors)
    if errors.ndim != 1 or len(errors) < 2:
        raise StratError.about("errors", f"must be at least two test errors, got {len(errors)}.")
    # the second term is what sharing of training data adds
    return float(np.std(errors, ddof=1) * np.sqrt(1 / len(errors) + ratio))
