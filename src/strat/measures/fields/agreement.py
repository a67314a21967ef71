"""Agreement of raters: Fleiss' κ, Krippendorff's α, Gwet's AC1 and AC2, intraclass correlations.

The unit is what was rated (the item, the patient); each adds its own counts of ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, distinct_rows, is_missing, numbers
from strat.measures.base import Rows, Statistic
from strat.measures.means import CURVED_BELOW
from strat.measures.register import measure

LEVELS = ("nominal", "ordinal", "interval", "ratio")
KINDS = ("ICC1", "ICC2", "ICC3")
WEIGHTS = ("identity", "linear", "quadratic")


def _ratings(ratings: ArrayLike) -> tuple[Codes, Array, NDArray[Any]]:
    """The kind of each item, kinds × values (how many raters gave each value), and the values; nan is no rating.

    Items whose values were given equally often are of one kind: there are far fewer kinds than items.
    """
    table = np.asarray(ratings)
    if table.ndim != 2 or not table.size:
        raise StratError.about("ratings", f"must be a table of items × raters, got shape {np.shape(table)}.")
    if table.dtype.kind in "biuf":
        given = ~np.isnan(table)
    else:
        table = np.asarray(ratings, object)
        given = ~np.array([[is_missing(value) for value in row] for row in table], bool)
    if not given.any():
        raise StratError.about("ratings", "must hold at least one rating, got none.")
    try:
        labels = table[given] if table.dtype.kind in "biuf" else np.array(table[given].tolist())
        values, codes = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError):
        raise StratError.about("ratings", f"must hold labels of one type, got {some(table[given], 3)}.") from None
    if values.dtype.kind not in "biufU" or len(values) > LIMITS.rating_values:
        raise StratError.about(
            "ratings",
            f"must hold labels or numbers, at most {LIMITS.rating_values} different ones, got {some(values, 3)}.",
        )
    if not (given.sum(axis=1) >= 2).any():
        raise StratError.about("ratings", "must have an item with two ratings or more, got none.")
    place = np.full(table.shape, len(values))
    place[given] = codes.reshape(-1)
    place.sort(axis=1)
    return *_kinds(place, len(values)), values


def _kinds(place: Codes, q: int) -> tuple[Codes, Array]:
    """The kind of each item, and how often each of q values was given to items of that kind; q itself is no value."""
    kinds, codes = distinct_rows(place)
    cell = kinds + np.arange(len(kinds))[:, None] * (q + 1)
    counts = np.bincount(cell.reshape(-1), minlength=len(kinds) * (q + 1)).reshape(-1, q + 1)[:, :q]
    return codes, counts.astype(float)


def _numeric(values: NDArray[Any], why: str) -> Array:
    if values.dtype.kind == "U":
        raise StratError.about("ratings", f"must be numbers for {why}, got {some(values, 3)}.")
    return numbers("ratings", values, most=LARGEST)


@measure("fleiss_kappa", "fleiss", reads="pairs", unit="score", bounds=(-np.inf, 1.0), reference="Fleiss 1971")
@checked
def fleiss_kappa(ratings: ArrayLike) -> Statistic:
    """Fleiss' κ: agreement beyond that of random ratings with the same shares; items must have equally many ratings.

    Each item adds (share of agreeing pairs of raters, share of each label, 1).
    The usual unit is what was rated: the item, the patient.

    Parameters
    ----------
    ratings
        Items × raters: labels.

    Examples
    --------
    >>> float(fleiss_kappa([["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]]).value().round(4))
    0.4667
    """
    kind, counts, values = _ratings(ratings)
    if len(set(counts.sum(axis=1))) > 1:
        raise StratError.about("ratings", "must have as many ratings for every item, got several numbers; use gwet_ac.")
    return _chance_corrected("Fleiss' κ", kind, counts, np.eye(len(values)), lambda share: (share**2).sum(axis=-1))


@measure(
    "gwet_ac1",
    "gwet_ac",
    reads="pairs",
    variants={"gwet_ac2_quadratic gwet_ac2": {"weights": "quadratic"}, "gwet_ac2_linear": {"weights": "linear"}},
    unit="score",
    bounds=(-np.inf, 1.0),
    reference="Gwet 2008",
)
@checked
def gwet_ac(ratings: ArrayLike, *, weights: str = "identity") -> Statistic:
    """Gwet's AC1 ("identity") or AC2 ("linear", "quadratic"): agreement beyond chance that common labels don't hide.

    Gwet (2008). Each item adds (share of agreeing pairs of raters, share of each label, 1, 1 if rated twice).
    The usual unit is what was rated: the item, the patient.

    Parameters
    ----------
    ratings
        Items × raters: labels (numbers for AC2); None or nan where a rater gave none.
    weights
        How near two labels are: "identity", "linear" or "quadratic".

    Examples
    --------
    >>> float(gwet_ac([["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]]).value().round(4))
    0.5294
    """
    one_of("weights", weights, WEIGHTS)
    kind, counts, values = _ratings(ratings)
    q = len(values)
    near = np.eye(q)
    if weights != "identity":
        x = _numeric(values, "AC2")
        off = np.abs(x[:, None] - x) / max(float(np.ptp(x)), np.finfo(float).tiny)
        near = 1.0 - (off if weights == "linear" else off**2)
    scale = float(near.sum()) / (q * (q - 1)) if q > 1 else 0.0

    def by_chance(share: Array) -> Array:
        return np.asarray(scale * (share * (1.0 - share)).sum(axis=-1))

    return _chance_corrected("Gwet's AC1" if weights == "identity" else "Gwet's AC2", kind, counts, near, by_chance)


def _chance_corrected(
    name: str, kind: Codes, counts: Array, near: Array, by_chance: Callable[[Array], Array]
) -> Statistic:
    """(observed − expected) / (1 − expected); totals: agreement and number of items rated twice, shares, items."""
    raters = counts.sum(axis=1)
    twice, some_rating = raters >= 2, raters >= 1
    pairs = np.maximum(raters * (raters - 1), 1.0)
    agreed = np.where(twice, (counts * (counts @ near - 1.0)).sum(axis=1) / pairs, 0.0)
    shares = counts / np.maximum(raters, 1.0)[:, None]

    def function(t: Array) -> Array:
        observed, expected = t[..., 0] / t[..., 1], by_chance(t[..., 3:] / t[..., 2:3])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((observed - expected) / (1.0 - expected))

    columns = np.column_stack([agreed, twice, some_rating, shares])
    rows = (Rows(kind, columns.astype(float), columns.shape[1]),)
    return Statistic(name, rows, function, bounds=(-np.inf, 1.0), higher_is_better=True, curved_below=CURVED_BELOW)


@measure(
    "krippendorff_alpha",
    "krippendorff",
    "alpha",
    reads="pairs",
    variants={f"krippendorff_alpha_{level}": {"level": level} for level in ("ordinal", "interval", "ratio")},
    unit="score",
    bounds=(-np.inf, 1.0),
    reference="Krippendorff 1970",
)
@checked
def krippendorff_alpha(ratings: ArrayLike, *, level: str = "nominal") -> Statistic:
    """Krippendorff's α: 1 − observed / expected disagreement of pairs of ratings, with gaps allowed.

    Krippendorff (2011). Each item that is rated twice or more adds its coincidences of values, which also make the
    values' own totals. The usual unit is what was rated: the item, the patient.

    Parameters
    ----------
    ratings
        Items × raters: labels or numbers; None or nan where a rater gave none.
    level
        "nominal", "ordinal" (labels in sorted order), "interval" or "ratio".

    Examples
    --------
    >>> float(krippendorff_alpha([[1, 1], [2, 2], [1, 2], [3, 3]], level="nominal").value().round(4))
    0.6667
    """
    one_of("level", level, LEVELS)
    kind, counts, values = _ratings(ratings)
    q = len(values)
    own = counts * (counts.sum(axis=1) >= 2)[:, None]
    n = float(own.sum(axis=1)[kind].sum())
    distance = None if level == "ordinal" else _distances(values, level)
    columns = np.column_stack([own, _coincidences(counts, distance)])

    def function(t: Array) -> Array:
        totals, rest = t[..., :q], t[..., q:]
        far = _ordinal(totals) if distance is None else distance
        observed = (far * rest.reshape(*t.shape[:-1], q, q)).sum(axis=(-1, -2)) if distance is None else rest[..., 0]
        expected = (totals[..., :, None] * far * totals[..., None, :]).sum(axis=(-1, -2))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1.0 - observed * totals.sum(axis=-1) / expected * (n - 1.0) / n)

    rows = (Rows(kind, columns, columns.shape[1]),)
    name = "Krippendorff's α"
    return Statistic(name, rows, function, bounds=(-np.inf, 1.0), higher_is_better=True, curved_below=CURVED_BELOW)


def _coincidences(counts: Array, distance: Array | None) -> Array:
    """What the pairs of ratings of each item add: its own disagreement, or all pairs where distances are not known yet.

    Ratings of an item count as 1 / (raters − 1) pairs each; an item with one rating has none.
    """
    raters = counts.sum(axis=1)
    kept = np.where(raters >= 2, 1.0 / np.maximum(raters - 1.0, 1.0), 0.0)
    if distance is not None:
        return np.asarray(kept * np.einsum("ic,cd,id->i", counts, distance, counts, optimize=True))
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    return np.asarray((pairs * kept[:, None, None]).reshape(len(counts), -1))


def _distances(values: NDArray[Any], level: str) -> Array:
    """Squared differences between values of a nominal, interval or ratio scale."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    x = _numeric(values, f"level {level!r}")
    off = x[:, None] - x
    if level == "interval":
        return np.asarray(off**2)
    both = x[:, None] + x
    return np.divide(off, both, out=np.zeros_like(off), where=both != 0) ** 2


def _ordinal(totals: Array) -> Array:
    """Squared differences of ordinal values: ratings between them and half of those at both ends."""
    middle = np.cumsum(totals, axis=-1) - totals / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


@measure(
    "icc2",
    "icc",
    reads="pairs",
    given={"kind": "ICC2"},
    variants={"icc1": {"kind": "ICC1"}, "icc3": {"kind": "ICC3"}},
    unit="score",
    bounds=(-np.inf, 1.0),
    reference="Shrout and Fleiss 1979",
)
@checked
def icc(ratings: ArrayLike, *, kind: str = "ICC2") -> Statistic:
    """The intraclass correlation of single ratings (Shrout and Fleiss 1979): ICC(1,1), ICC(2,1) or ICC(3,1).

    Each item adds (squared sum of its ratings, sum of squares, each rater's rating, 1).
    The usual unit is what was rated: the item, the patient.

    Parameters
    ----------
    ratings
        Items × raters: numbers, none missing.
    kind
        "ICC1" (raters differ by item), "ICC2" (raters drawn, absolute agreement) or "ICC3" (these raters, consistency).

    Examples
    --------
    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> [round(float(icc(table, kind=kind).value()), 2) for kind in ("ICC1", "ICC2", "ICC3")]
    [0.17, 0.29, 0.71]
    """
    one_of("kind", kind, KINDS)
    x = numbers("ratings", ratings, most=LARGEST, axes=2)
    n, k = x.shape
    if n < 2 or k < 2 or (x == x.flat[0]).all():
        raise StratError.about("ratings", f"must have two items, two raters and different values, got shape {x.shape}.")
    x = x - x.mean()  # the value does not change, and its sums lose no digits
    columns = np.column_stack([x.sum(axis=1) ** 2, (x**2).sum(axis=1), x, np.ones(n)])
    statistic = Statistic(kind, (Rows(None, columns, k + 3),), lambda t: _icc(t, kind, n, k), bounds=(-1.0, 1.0))
    return replace(statistic, higher_is_better=True, curved_below=CURVED_BELOW)


def _icc(t: Array, kind: str, n: int, k: int) -> Array:
    """Mean squares of rows, of columns and of the rest, with weights scaled to n items; Shrout and Fleiss (1979)."""
    items = t[..., -1]
    rows, squares = t[..., 0] / items * n, t[..., 1] / items * n
    raters = t[..., 2:-1] / items[..., None] * n
    centre = raters.sum(axis=-1) ** 2 / (n * k)
    between = rows / k - centre
    of_raters = (raters**2).sum(axis=-1) / n - centre
    rest = squares - centre - between
    msb, msw = between / (n - 1), rest / (n * (k - 1))
    mse, msj = (rest - of_raters) / ((n - 1) * (k - 1)), of_raters / (k - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "ICC1":
            return np.asarray((msb - msw) / (msb + (k - 1) * msw))
        if kind == "ICC3":
            return np.asarray((msb - mse) / (msb + (k - 1) * mse))
        return np.asarray((msb - mse) / (msb + (k - 1) * mse + k * (msj - mse) / n))
