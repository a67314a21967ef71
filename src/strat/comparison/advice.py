"""Which test the data calls for, and every test of two columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, some
from strat.base.result import Result
from strat.base.validate.argument_kinds import Columns
from strat.base.validate.arguments import checked
from strat.base.validate.columns import encode, numbers, same_length
from strat.comparison.bayesian import bayesian_correlated_t, bayesian_sign, bayesian_signed_rank
from strat.comparison.data_sets import cochran_q, friedman, sign, signed_rank
from strat.comparison.mcnemar import mcnemar, mcnemar_clustered, mcnemar_exact, mcnemar_midp
from strat.comparison.splits import corrected_t, five_by_two_f, five_by_two_t, uncorrected_t

ITEMS, SPLITS, DATA_SETS = "items", "splits", "data sets"
OF_ITEMS = ("mcnemar", "mcnemar-exact", "mcnemar-midp", "mcnemar-clustered", "cochran")
FIVE_BY_TWO = ("5x2cv-t", "5x2cv-f")
OF_SPLITS = ("corrected-t", "uncorrected-t", *FIVE_BY_TWO, "bayes-t")
OF_DATA_SETS = ("wilcoxon", "sign", "friedman", "bayes-sign", "bayes-signed-rank")
TESTS = (*OF_ITEMS, *OF_SPLITS, *OF_DATA_SETS)
MANY = ("cochran", "friedman")  # of three systems or more, too
ONE_SIDED = ("corrected-t", "uncorrected-t", "5x2cv-t", "wilcoxon", "sign")
BAYESIAN = ("bayes-t", "bayes-sign", "bayes-signed-rank")
FEW_SIGNED = 6  # fewer data sets than this can't reach 5 % in a signed rank test


@dataclass(frozen=True, repr=False)
class Advice(Result):
    """The test that the data calls for, and why.

    Attributes
    ----------
    test
        Its name, one of `TESTS`; None where none of them fits.
    reason
        Why, or what to do instead.
    """

    test: str | None
    reason: str

    def __str__(self) -> str:
        """The advice as a sentence."""
        return f"{self.test}: {self.reason}" if self.test else self.reason


@checked
def advise(*, rows: str, systems: int = 2, units: bool = False, five_by_two: bool = False, n: int = 30) -> Advice:
    """Which test the data calls for.

    Parameters
    ----------
    rows
        What a row is: one of the "items" that all systems were tested on, one of the "splits" of one data set, or one
        of several "data sets".
    systems
        How many systems are compared.
    units
        Whether items come in clusters (rows of one patient, questions on one text).
    five_by_two
        Whether the splits are five repeats of two halves.
    n
        How many rows there are.

    Examples
    --------
    >>> print(advise(rows="splits"))
    corrected-t: the training sets of splits overlap, and it is the t-test that allows for it
    >>> advise(rows="items", units=True).test
    'mcnemar-clustered'
    """
    one_of("rows", rows, (ITEMS, SPLITS, DATA_SETS))
    if systems < 2:
        raise StratError.about("systems", f"must be two or more, got {systems}.")
    if rows == ITEMS:
        return _of_items(systems, units)
    if rows == SPLITS:
        return _of_splits(systems, five_by_two)
    if systems > 2:
        return Advice("friedman", "more than two systems on several data sets; `strat rank` has the pairs after it")
    if n < FEW_SIGNED:
        return Advice("wilcoxon", f"two systems on several data sets; with {n} of them it can't reach p < 0.05")
    return Advice("wilcoxon", "two systems on several data sets: it needs no common scale and no normal distribution")


def _of_items(systems: int, units: bool) -> Advice:
    if systems == 2 and units:
        return Advice(
            "mcnemar-clustered", "items of one cluster are not independent, as the other tests take them to be"
        )
    if systems == 2:
        return Advice(
            "mcnemar-midp", "two systems on the same independent items; it keeps its level without being conservative"
        )
    if units:
        return Advice(
            None, "no test here handles more than two systems on clustered items: use `strat compare --units`"
        )
    return Advice(
        "cochran", "more than two systems on the same independent items; `strat compare` has the pairs after it"
    )


def _of_splits(systems: int, five_by_two: bool) -> Advice:
    if systems > 2:
        return Advice(None, "splits are compared two systems at a time: name two columns, and adjust for their number")
    if five_by_two:
        return Advice("5x2cv-f", "the rows are five repeats of two halves, for which it was designed")
    return Advice("corrected-t", "the training sets of splits overlap, and it is the t-test that allows for it")


@checked
def run_test(
    test: str,
    columns: Columns,
    *,
    truth: ArrayLike | None = None,
    units: ArrayLike | None = None,
    ratio: float | None = None,
    higher_is_better: bool = True,
    alternative: str = "two-sided",
    rope: float = 0.0,
    rng: int = 0,
) -> Any:
    """A test by its name, on columns: what `strat test` runs.

    Parameters
    ----------
    test
        One of `strat.comparison.advice.TESTS`.
    columns
        From each system's name to its column (or a data frame): predicted labels of items, or numbers of splits or
        data sets.
    truth, units
        For tests of items: true labels, clusters.
    ratio
        For splits: testing size over training size.
    higher_is_better
        For Friedman's ranks.
    alternative, rope, rng
        Where the test knows them.

    Examples
    --------
    >>> run_test("sign", {"a": [2, 2, 2, 2, 2], "b": [1, 1, 1, 1, 1]}, alternative="greater").pvalue
    0.03125
    """
    one_of("test", test, TESTS)
    if test not in MANY and len(columns) != 2:
        raise StratError.about("columns", f"must be two for {test}, got {len(columns)}: {some(columns)}.")
    if alternative != "two-sided" and test not in ONE_SIDED:
        raise StratError.about("alternative", f"must be 'two-sided' for {test}, got {alternative!r}.")
    if test in OF_ITEMS:
        return _test_items(test, columns, truth, units)
    return _test_numbers(test, columns, ratio, higher_is_better, alternative, rope, rng)


def _test_items(test: str, columns: Mapping[str, ArrayLike], truth: ArrayLike | None, units: ArrayLike | None) -> Any:
    if truth is None:
        raise StratError.about("truth", f"must be given for {test}: it compares predictions of items.")
    if (units is None) == (test == "mcnemar-clustered"):
        way_out = "give it" if units is None else "leave it out, or use mcnemar-clustered"
        raise StratError.about("units", f"must {'be given' if units is None else 'be left out'} for {test}; {way_out}.")
    if test == "cochran":
        codes, labels = encode("truth", truth)
        right = {}
        for name, column in columns.items():
            own, names = encode("columns", column)
            same_length(truth=codes, columns=own)
            right[name] = (names[own].astype(str) == labels[codes].astype(str)).astype(float)
        return cochran_q(right)
    a, b = columns.values()
    if units is not None:
        return mcnemar_clustered(truth, a, b, units=units)
    run: Any = {"mcnemar": mcnemar, "mcnemar-exact": mcnemar_exact, "mcnemar-midp": mcnemar_midp}[test]
    return run(truth, a, b)


def _test_numbers(
    test: str,
    columns: Mapping[str, ArrayLike],
    ratio: float | None,
    higher_is_better: bool,
    alternative: str,
    rope: float,
    rng: int,
) -> Any:
    if test in ("corrected-t", "bayes-t") and ratio is None:
        raise StratError.about(
            "ratio", f"must be given for {test}: testing size over training size, 1/(K − 1) for K folds."
        )
    if test == "friedman":
        return friedman(columns, higher_is_better=higher_is_better)
    a, b = (numbers("columns", column) for column in columns.values())
    if test in FIVE_BY_TWO:
        if len(a) != 10:
            raise StratError.about("columns", f"must have 10 rows for {test}, repeat after repeat, got {len(a)}.")
        a, b = a.reshape(5, 2), b.reshape(5, 2)
    runs: dict[str, Any] = {
        "corrected-t": lambda: corrected_t(a, b, ratio=ratio, alternative=alternative),  # type: ignore[arg-type]
        "uncorrected-t": lambda: uncorrected_t(a, b, alternative=alternative),
        "5x2cv-t": lambda: five_by_two_t(a, b, alternative=alternative),
        "5x2cv-f": lambda: five_by_two_f(a, b),
        "bayes-t": lambda: bayesian_correlated_t(a, b, ratio=ratio, rope=rope),  # type: ignore[arg-type]
        "wilcoxon": lambda: signed_rank(a, b, alternative=alternative),
        "sign": lambda: sign(a, b, alternative=alternative),
        "bayes-sign": lambda: bayesian_sign(a, b, rope=rope, rng=rng),
        "bayes-signed-rank": lambda: bayesian_signed_rank(a, b, rope=rope, rng=rng),
    }
    return runs[test]()
